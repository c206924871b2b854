"""What was drawn from runs that are to be erased: which versions go with them, and how the rows
that stay are left.

A version that was drawn from such runs alone goes. One that other runs bear out as well stays
without them as sources, but only if those others say all of its words: a word that only the erased
runs said came from them. What was written over a version that goes, and names no source of its own,
goes with it. An item stays as long as one of its versions does.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Text, and_, cast, select

from memserver.domain.items import Status
from memserver.storage.sql.tables import ITEM, TRAJECTORY, VERSION
from memserver.storage.sql.types import to_json
from memserver.storage.sql.view import chunks

_WORD = re.compile(r"\w+")
_ROWS_TOGETHER = 500
_SAID = (
    TRAJECTORY.c.goal,
    TRAJECTORY.c.task_type,
    TRAJECTORY.c.environment,
    TRAJECTORY.c.template_id,
    TRAJECTORY.c.agent,
    TRAJECTORY.c.steps,
    TRAJECTORY.c.mistakes,
    TRAJECTORY.c.metadata,
)
_OURS = re.compile(r'"(?:observation|action|reward|metadata)":')
"""Names of fields that every run has."""


@dataclass(slots=True)
class Reworked:
    """`items` and `versions` go; `touched` are the items that anything happens to, `rewritten` the
    versions that stay otherwise than they were. The cells are what rows that stay get. `unsettled`
    are versions whose lineage is another now; `out_of_reach` counts versions elsewhere that were
    drawn from the same runs."""

    items: set[UUID] = field(default_factory=set)
    versions: set[UUID] = field(default_factory=set)
    touched: set[UUID] = field(default_factory=set)
    rewritten: set[UUID] = field(default_factory=set)
    item_of: dict[UUID, UUID] = field(default_factory=dict)
    version_cells: dict[UUID, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    item_cells: dict[UUID, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    unsettled: set[UUID] = field(default_factory=set)
    out_of_reach: int = 0


class Descent:
    """Within one transaction, of one tenant; `namespaces` are those that the erasure reaches."""

    def __init__(
        self,
        connection: Connection,
        tenant: UUID,
        namespaces: Iterable[int],
        *,
        runs: set[UUID],
    ) -> None:
        self._connection = connection
        self._tenant = tenant
        self._namespaces = frozenset(namespaces)
        self._runs = runs
        self._done = Reworked()

    def of(self, items: Iterable[UUID]) -> Reworked:
        """What happens to these items, all of which go, and to what descends from the runs."""
        whole = set(items)
        versions = self._versions_of({*whole, *self._drawn()})
        for item, own in versions.items():
            gone = {row.id for row in own} if item in whole else self._gone(own)
            self._done.item_of |= {row.id: item for row in own}
            self._settle(item, own, gone)
        self._done.items |= whole
        self._done.touched |= whole
        self._unmerge()
        self._silence(versions)
        return self._done

    # --- finding

    def _drawn(self) -> set[UUID]:
        """The items of versions that name one of the runs as a source. Sources have no index:
        whoever erases reads all of them."""
        if not self._runs:
            return set()
        items: set[UUID] = set()
        query = (
            select(VERSION.c.item_id, VERSION.c.namespace_id, VERSION.c.sources)
            .where(VERSION.c.tenant_id == self._tenant, cast(VERSION.c.sources, Text) != "[]")
            .execution_options(yield_per=_ROWS_TOGETHER)
        )
        for item, namespace_id, sources in self._connection.execute(query):
            if self._runs.isdisjoint(_named(sources)):
                continue
            if namespace_id in self._namespaces:
                items.add(item)
            else:
                self._done.out_of_reach += 1
        return items

    def _versions_of(self, items: set[UUID]) -> dict[UUID, list[Any]]:
        """Each item's versions, oldest first."""
        found: dict[UUID, list[Any]] = {item: [] for item in items}
        for ids in chunks(items):
            query = (
                select(VERSION)
                .where(VERSION.c.item_id.in_(ids), VERSION.c.tenant_id == self._tenant)
                .order_by(VERSION.c.number)
            )
            for row in self._connection.execute(query):
                found[row.item_id].append(row)
        return found

    def _gone(self, own: list[Any]) -> set[UUID]:
        gone: set[UUID] = set()
        for row in own:
            sources = _named(row.sources)
            theirs = sources & self._runs
            rewrote = row.parent in gone and not sources
            if rewrote or (theirs and (theirs == sources or self._tells(row, sources - theirs))):
                gone.add(row.id)
            elif theirs:
                kept = [one for one in row.sources if UUID(one["trajectory"]) not in self._runs]
                self._done.version_cells[row.id]["sources"] = kept
        return gone

    def _tells(self, row: Any, others: set[UUID]) -> bool:
        """Whether the version says a word that only the erased runs said."""
        said = _words(row.title, row.body, row._mapping[VERSION.c.metadata], row.task_type)
        return not (said & self._words_of(self._runs)).issubset(self._words_of(others))

    def _words_of(self, runs: set[UUID]) -> set[str]:
        words: set[str] = set()
        for ids in chunks(runs):
            query = select(*_SAID).where(
                TRAJECTORY.c.id.in_(ids), TRAJECTORY.c.tenant_id == self._tenant
            )
            for row in self._connection.execute(query):
                words |= _words(*row)
        return words

    # --- what stays

    def _settle(self, item: UUID, own: list[Any], gone: set[UUID]) -> None:
        done = self._done
        left = [row for row in own if row.id not in gone]
        edited = {row.id for row in left if row.id in done.version_cells}
        done.versions |= gone
        if gone or edited:
            done.touched.add(item)
        if not left:
            done.items.add(item)
            return
        ends = {row.valid_from for row in own if row.id in gone}
        head = left[-1]
        if gone:
            # What held before the version that went holds again.
            if head.valid_to in ends:
                done.version_cells[head.id] |= {"valid_to": None, "closed_at": None}
            done.item_cells[item] |= {"head": head.id, "title": head.title}
        done.rewritten |= {row.id for row in left if row.id in done.version_cells}

    def _unmerge(self) -> None:
        """Items that were merged into a version that goes: into what its item says now, or back
        into what they were."""
        for ids in chunks(self._done.versions):
            query = select(ITEM.c.id, ITEM.c.merged_into).where(
                ITEM.c.merged_into.in_(ids), ITEM.c.tenant_id == self._tenant
            )
            for item, version in self._connection.execute(query):
                if item in self._done.items:
                    continue
                owner = self._done.item_of.get(version)
                heir = self._done.item_cells.get(owner, {}).get("head") if owner else None
                cells: dict[str, Any] = {"merged_into": heir}
                if heir is None:
                    cells["status"] = Status.ACTIVE.value
                else:
                    self._done.unsettled.add(heir)
                self._done.item_cells[item] |= cells
                self._done.touched.add(item)
        # What was merged into another item goes, and with it what it brought there.
        for ids in chunks(self._done.items):
            query = select(ITEM.c.merged_into).where(
                ITEM.c.id.in_(ids),
                ITEM.c.tenant_id == self._tenant,
                ITEM.c.merged_into.is_not(None),
            )
            self._done.unsettled.update(
                version
                for version in self._connection.scalars(query)
                if version not in self._done.versions
            )

    def _silence(self, versions: Mapping[UUID, list[Any]]) -> None:
        """What was said around a turn quotes its neighbours: no turn keeps it where one of the
        session goes."""
        sessions = {
            row.session
            for own in versions.values()
            for row in own
            if row.id in self._done.versions and row.session is not None
        }
        for ids in chunks(sessions):
            query = select(VERSION.c.id, VERSION.c.item_id).where(
                and_(VERSION.c.session.in_(ids), VERSION.c.tenant_id == self._tenant),
                VERSION.c.context.is_not(None),
            )
            for version, item in self._connection.execute(query):
                if version not in self._done.versions:
                    self._done.version_cells[version]["context"] = None
                    self._done.rewritten.add(version)
                    self._done.item_of[version] = item
                    self._done.touched.add(item)


def _named(sources: Iterable[Mapping[str, Any]]) -> set[UUID]:
    return {UUID(source["trajectory"]) for source in sources}


def _words(*parts: Any) -> set[str]:
    """In lower case, of whatever JSON holds."""
    words: set[str] = set()
    for part in parts:
        if part is not None:
            text = part if isinstance(part, str) else _OURS.sub(" ", to_json(part))
            words.update(_WORD.findall(text.lower().replace("\\n", " ").replace('\\"', " ")))
    return words
