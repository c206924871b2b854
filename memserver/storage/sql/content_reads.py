"""Reading trajectories, items and their versions, within a caller's scope."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Table, and_, func, or_, select

from memserver.domain.items import Entry, FactBody, Kind, Status, Version, normal_name
from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.ports.store import ItemFilter, TrajectoryFilter
from memserver.domain.scope import Namespace, Scope
from memserver.domain.trajectories import Trajectory, normal_goal
from memserver.storage.sql import cursors
from memserver.storage.sql.content import (
    ITEM_COLUMNS,
    TRAJECTORY_COLUMNS,
    VERSION_COLUMNS,
    text_hash,
    to_item,
    to_trajectory,
    to_version,
)
from memserver.storage.sql.reach import Condition, visible
from memserver.storage.sql.tables import ITEM, TRAJECTORY, VERSION
from memserver.storage.sql.view import Cells, View, chunks

_ITEM_WIDTH = len(ITEM_COLUMNS)
_ENTRY = (*ITEM_COLUMNS, *VERSION_COLUMNS)
_IS_HEAD = and_(VERSION.c.id == ITEM.c.head, VERSION.c.tenant_id == ITEM.c.tenant_id)
_IS_ITS_ITEM = and_(ITEM.c.id == VERSION.c.item_id, ITEM.c.tenant_id == VERSION.c.tenant_id)


class ContentReads(View):
    # --- trajectories

    def trajectory(self, scope: Scope, trajectory_id: UUID) -> Trajectory | None:
        return self.trajectories_by_id(scope, [trajectory_id]).get(trajectory_id)

    def trajectories_by_id(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Trajectory]:
        found: dict[UUID, Trajectory] = {}
        for some in chunks(ids):
            query = select(*TRAJECTORY_COLUMNS).where(
                TRAJECTORY.c.id.in_(some), _visible(scope, TRAJECTORY)
            )
            found |= {run.id: run for run in self._trajectories(self._all(query))}
        return found

    def trajectories(
        self, scope: Scope, where: TrajectoryFilter, page: PageRequest
    ) -> Page[Trajectory]:
        """In the order in which they were stored."""
        query = _places(TRAJECTORY).where(
            _visible(scope, TRAJECTORY), TRAJECTORY.c.namespace_id.in_(where.namespaces)
        )
        if where.task_type is not None:
            query = query.where(TRAJECTORY.c.task_type == where.task_type)
        if where.environment is not None:
            query = query.where(TRAJECTORY.c.environment == where.environment)
        if where.agent is not None:
            query = query.where(TRAJECTORY.c.agent == where.agent)
        if where.success is not None:
            query = query.where(TRAJECTORY.c.success == where.success)
        places = self._places(query, TRAJECTORY, "trajectories", page)
        found = self.trajectories_by_id(scope, places.rows)
        return Page(
            tuple(found[row_id] for row_id in places.rows if row_id in found), places.next_cursor
        )

    def trajectories_of_task(self, scope: Scope, goal_or_template: str) -> frozenset[UUID]:
        here = _visible(scope, TRAJECTORY)
        goal = text_hash(normal_goal(goal_or_template))
        of_goal = self._all(
            select(TRAJECTORY.c.id, TRAJECTORY.c.template_hash).where(
                TRAJECTORY.c.goal_hash == goal, here
            )
        )
        templates = {text_hash(goal_or_template)}
        templates |= {row.template_hash for row in of_goal if row.template_hash is not None}
        found = {row.id for row in of_goal}
        for some in chunks(templates):
            query = select(TRAJECTORY.c.id).where(TRAJECTORY.c.template_hash.in_(some), here)
            found |= {row.id for row in self._all(query)}
        return frozenset(found)

    def _trajectories(self, rows: Iterable[Cells]) -> list[Trajectory]:
        found = list(rows)
        names = self._names(row[1] for row in found)
        width = len(TRAJECTORY_COLUMNS)
        return [to_trajectory(row[:width], names) for row in found]

    # --- items

    def item(self, scope: Scope, item_id: UUID) -> Entry | None:
        return self.items_by_id(scope, [item_id]).get(item_id)

    def items_by_id(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Entry]:
        found: dict[UUID, Entry] = {}
        for some in chunks(ids):
            query = _heads().where(ITEM.c.id.in_(some), _visible(scope, ITEM))
            found |= {entry.item.id: entry for entry in self._entries(self._all(query))}
        return found

    def items(self, scope: Scope, where: ItemFilter, page: PageRequest) -> Page[Entry]:
        """In the order in which they were stored."""
        query = _places(ITEM).where(
            _visible(scope, ITEM), ITEM.c.namespace_id.in_(where.namespaces)
        )
        if where.kinds:
            query = query.where(ITEM.c.kind.in_([kind.value for kind in where.kinds]))
        if where.statuses:
            query = query.where(ITEM.c.status.in_([status.value for status in where.statuses]))
        if where.live_at is not None:
            query = query.where(or_(ITEM.c.expires_at.is_(None), ITEM.c.expires_at > where.live_at))
        places = self._places(query, ITEM, "items", page)
        found = self.items_by_id(scope, places.rows)
        return Page(
            tuple(found[row_id] for row_id in places.rows if row_id in found), places.next_cursor
        )

    def items_by_content(
        self, scope: Scope, namespace: Namespace, kind: Kind, content_hash: str
    ) -> tuple[Entry, ...]:
        its_versions = select(VERSION.c.item_id).where(
            VERSION.c.content_hash == content_hash, _visible(scope, VERSION)
        )
        found: list[tuple[int, Entry]] = []
        for some in chunks(row.item_id for row in self._all(its_versions)):
            rows = self._all(
                _heads()
                .add_columns(ITEM.c.position)
                .where(ITEM.c.id.in_(some), _visible(scope, ITEM))
            )
            positions = (row.position for row in rows)
            found += zip(positions, self._entries(rows), strict=True)
        found.sort(key=lambda place: (place[0], place[1].item.id))
        return tuple(
            entry
            for _, entry in found
            if entry.version.content_hash == content_hash
            and entry.item.namespace == namespace
            and entry.item.kind is kind
            and entry.item.status is Status.ACTIVE
        )

    def facts_about(
        self, scope: Scope, namespace: Namespace, entities: Sequence[str]
    ) -> tuple[Entry, ...]:
        wanted = {normal_name(entity) for entity in entities}
        items: set[UUID] = set()
        for some in chunks(wanted):
            query = select(VERSION.c.item_id).where(
                VERSION.c.namespace_id == namespace.id, VERSION.c.entity.in_(some)
            )
            items.update(row.item_id for row in self._all(query))
        # In two steps: joined at once, SQLite would begin with all items there are.
        found = [
            entry
            for entry in self.items_by_id(scope, list(items)).values()
            if entry.item.status is Status.ACTIVE
            and isinstance(entry.version.body, FactBody)
            and normal_name(entry.version.body.entity) in wanted
        ]
        return tuple(sorted(found, key=lambda entry: (entry.item.created_at, entry.item.id)))

    def turns(
        self, scope: Scope, namespace: Namespace, session: UUID, *, first: int, last: int
    ) -> tuple[Entry, ...]:
        query = select(VERSION.c.id).where(
            VERSION.c.session == session,
            VERSION.c.namespace_id == namespace.id,
            VERSION.c.ordinal.between(first, last),
        )
        found = self.entries_by_version(scope, [row.id for row in self._all(query)])
        heads = [
            (entry.version.turn.ordinal, entry)
            for entry in found.values()
            if entry.version.turn is not None
            and entry.item.head == entry.version.id
            and entry.item.status is Status.ACTIVE
            and entry.item.kind is Kind.NOTE
        ]
        return tuple(e for _, e in sorted(heads, key=lambda one: (one[0], one[1].item.id)))

    def merged_into(self, scope: Scope, versions: Sequence[UUID]) -> tuple[Entry, ...]:
        items: list[UUID] = []
        for some in chunks(versions):
            query = select(ITEM.c.id).where(
                ITEM.c.merged_into.in_(some), ITEM.c.tenant_id == scope.tenant
            )
            items += [row.id for row in self._all(query)]
        found = self.items_by_id(scope, items).values()
        return tuple(sorted(found, key=lambda entry: (entry.item.created_at, entry.item.id)))

    def last_turn(self, scope: Scope, namespace: Namespace, session: UUID) -> int | None:
        rows = self._all(
            select(func.max(VERSION.c.ordinal)).where(
                VERSION.c.session == session,
                VERSION.c.namespace_id == namespace.id,
                _visible(scope, VERSION),
            )
        )
        last: int | None = rows[0][0]
        return last

    # --- versions

    def entries_by_version(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Entry]:
        found: dict[UUID, Entry] = {}
        for some in chunks(ids):
            query = (
                select(*_ENTRY)
                .join_from(VERSION, ITEM, _IS_ITS_ITEM)
                .where(VERSION.c.id.in_(some), _visible(scope, VERSION))
            )
            found |= {entry.version.id: entry for entry in self._entries(self._all(query))}
        return found

    def versions(self, scope: Scope, item_id: UUID) -> tuple[Version, ...]:
        query = (
            select(*VERSION_COLUMNS)
            .where(VERSION.c.item_id == item_id, _visible(scope, VERSION))
            .order_by(VERSION.c.number.desc(), VERSION.c.id.desc())
        )
        rows = self._all(query)
        names = self._names(row[2] for row in rows)
        return tuple(to_version(row, names) for row in rows)

    def versions_of(self, scope: Scope, items: Sequence[UUID]) -> dict[UUID, tuple[Version, ...]]:
        found: dict[UUID, list[Version]] = {}
        for some in chunks(items):
            query = (
                select(*VERSION_COLUMNS)
                .where(VERSION.c.item_id.in_(some), _visible(scope, VERSION))
                .order_by(VERSION.c.number.desc(), VERSION.c.id.desc())
            )
            rows = self._all(query)
            names = self._names(row[2] for row in rows)
            for row in rows:
                version = to_version(row, names)
                found.setdefault(version.item_id, []).append(version)
        return {item_id: tuple(versions) for item_id, versions in found.items()}

    def _places(self, query: Select[Any], table: Table, name: str, page: PageRequest) -> Page[UUID]:
        """The ids of one page of a list in the order of writing. Whole rows are read by id
        afterwards: a sort would otherwise drag all of them along."""
        position, row_id = table.c.position, table.c.id
        if page.cursor is not None:
            after, after_id = cursors.decode(page.cursor, name, int, UUID)
            query = query.where(or_(position > after, and_(position == after, row_id > after_id)))
        rows = self._all(query.order_by(position, row_id).limit(page.limit + 1))
        found = cursors.page(
            list(rows), page, lambda row: cursors.encode(name, row.position, row.id)
        )
        return Page(tuple(row.id for row in found.rows), found.next_cursor)

    def _entries(self, rows: Sequence[Cells]) -> list[Entry]:
        names = self._names(row[1] for row in rows)
        end = len(_ENTRY)
        return [
            Entry(to_item(row[:_ITEM_WIDTH], names), to_version(row[_ITEM_WIDTH:end], names))
            for row in rows
        ]


def _visible(scope: Scope, table: Table) -> Condition:
    return visible(scope, table.c.tenant_id, table.c.namespace_id)


def _heads() -> Select[Any]:
    return select(*_ENTRY).join_from(ITEM, VERSION, _IS_HEAD)


def _places(table: Table) -> Select[Any]:
    return select(table.c.id, table.c.position)
