"""What held at other times, and what was known of it then."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import and_, exists, or_, select

from memserver.domain.changes import Table
from memserver.domain.items import Entry, Version
from memserver.domain.ports import ItemFilter, Page, PageRequest
from memserver.domain.scope import Scope
from memserver.domain.times import Ending, TimeFrame, known_end
from memserver.storage.sql.content import ITEM_COLUMNS, VERSION_COLUMNS
from memserver.storage.sql.content_reads import ContentReads
from memserver.storage.sql.reach import Condition, visible
from memserver.storage.sql.tables import CHANGE, ITEM, ROW_CHANGE, TRAJECTORY, VERSION
from memserver.storage.sql.view import chunks

_OF_ITEM = and_(VERSION.c.item_id == ITEM.c.id, VERSION.c.tenant_id == ITEM.c.tenant_id)


class HistoryReads(ContentReads):
    def as_known(
        self, scope: Scope, versions: Sequence[Version], known_at: datetime
    ) -> tuple[Version, ...]:
        recorded = [version for version in versions if version.recorded_at <= known_at]
        endings = self._endings(scope, [v for v in recorded if _ended_later(v, known_at)])
        return tuple(
            replace(version, valid_to=known_end(endings[version.id], known_at), closed_at=None)
            if version.id in endings
            else version
            for version in recorded
        )

    def items_held(
        self, scope: Scope, where: ItemFilter, frame: TimeFrame, page: PageRequest
    ) -> Page[Entry]:
        may_hold = _may_hold(frame)
        query = select(ITEM.c.id, ITEM.c.position).where(
            visible(scope, ITEM.c.tenant_id, ITEM.c.namespace_id),
            ITEM.c.namespace_id.in_(where.namespaces),
            exists().where(_OF_ITEM, *may_hold),
        )
        if where.kinds:
            query = query.where(ITEM.c.kind.in_([kind.value for kind in where.kinds]))
        if where.statuses:
            query = query.where(ITEM.c.status.in_([status.value for status in where.statuses]))
        if where.live_at is not None:
            query = query.where(or_(ITEM.c.expires_at.is_(None), ITEM.c.expires_at > where.live_at))
        places = self._places(query, ITEM, "items held", page)
        entries: list[Entry] = []
        for some in chunks(places.rows):
            rows = select(*ITEM_COLUMNS, *VERSION_COLUMNS).join_from(ITEM, VERSION, _OF_ITEM)
            entries += self._entries(
                self._all(
                    rows.where(
                        ITEM.c.id.in_(some),
                        visible(scope, ITEM.c.tenant_id, ITEM.c.namespace_id),
                        *may_hold,
                    ).order_by(VERSION.c.number)
                )
            )
        held = {entry.item.id: entry for entry in self._held(scope, entries, frame)}
        return Page(
            tuple(held[item_id] for item_id in places.rows if item_id in held), places.next_cursor
        )

    def first_recorded(self, scope: Scope, runs: Sequence[UUID]) -> dict[UUID, datetime]:
        found: dict[UUID, datetime] = {}
        for some in chunks(runs):
            query = (
                select(TRAJECTORY.c.id, CHANGE.c.created_at)
                .join_from(TRAJECTORY, CHANGE, CHANGE.c.position == TRAJECTORY.c.position)
                .where(
                    TRAJECTORY.c.id.in_(some),
                    visible(scope, TRAJECTORY.c.tenant_id, TRAJECTORY.c.namespace_id),
                )
            )
            found |= {row.id: row.created_at for row in self._all(query)}
        return found

    def _held(self, scope: Scope, entries: Sequence[Entry], frame: TimeFrame) -> Iterable[Entry]:
        if frame.known_at is not None:
            known = self.as_known(scope, [entry.version for entry in entries], frame.known_at)
            by_id = {version.id: version for version in known}
            entries = [
                replace(entry, version=by_id[entry.version.id])
                for entry in entries
                if entry.version.id in by_id
            ]
        return (entry for entry in entries if frame.admits(entry.version))

    def _endings(self, scope: Scope, versions: Sequence[Version]) -> dict[UUID, tuple[Ending, ...]]:
        """All ends that each version ever had, in the order of the records."""
        found: dict[UUID, list[Ending]] = {version.id: [] for version in versions}
        written: dict[UUID, datetime] = {}
        for some in chunks(found):
            query = (
                select(ROW_CHANGE.c.row_id, ROW_CHANGE.c.before, CHANGE.c.created_at)
                .join_from(ROW_CHANGE, CHANGE, CHANGE.c.position == ROW_CHANGE.c.position)
                .where(
                    ROW_CHANGE.c.row_id.in_(some),
                    ROW_CHANGE.c.tenant_id == scope.tenant,
                    ROW_CHANGE.c.table_name == Table.VERSION.value,
                )
                .order_by(ROW_CHANGE.c.position)
            )
            for row_id, before, at in self._all(query):
                if before is not None:
                    found[row_id].append(
                        _ending(
                            _time(before.get("valid_to")),
                            _time(before.get("closed_at")),
                            written=written.get(row_id) if found[row_id] else None,
                        )
                    )
                written[row_id] = at
        for version in versions:
            of = found[version.id]
            last = written.get(version.id) if of else None
            of.append(_ending(version.valid_to, version.closed_at, written=last))
        return {version_id: tuple(of) for version_id, of in found.items()}


def _may_hold(frame: TimeFrame) -> list[Condition]:
    """Holds for every version that the frame admits. Where an end was written later than the frame
    knows, or nobody knows when, the log has to say which end stood there."""
    begins = VERSION.c.valid_from
    lasts = [VERSION.c.valid_to.is_(None), VERSION.c.valid_to > frame.since]
    conditions = [begins <= frame.since if frame.until is None else begins < frame.until]
    if frame.known_at is not None:
        conditions.append(VERSION.c.recorded_at <= frame.known_at)
        lasts += [VERSION.c.closed_at.is_(None), VERSION.c.closed_at > frame.known_at]
    return [*conditions, or_(*lasts)]


def _ended_later(version: Version, known_at: datetime) -> bool:
    ended = version.valid_to is not None
    return ended and (version.closed_at is None or version.closed_at > known_at)


def _ending(
    valid_to: datetime | None, closed_at: datetime | None, *, written: datetime | None
) -> Ending:
    """`written` is when the row came to say so, None for its first state. It stands in for a time
    that rows did not hold from the beginning."""
    if valid_to is None:
        return Ending(None)
    return Ending(valid_to, closed_at or written)


def _time(text: Any) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
