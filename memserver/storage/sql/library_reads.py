"""Reading what outcomes say of items with all that was merged into them, and in which changes the
items of a library came, were rewritten and went."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import and_, or_, select

from memserver.domain.changes import Action, Table
from memserver.domain.evidence import Evidence
from memserver.domain.items import Kind
from memserver.domain.ports.library import LibraryChange
from memserver.domain.scope import Namespace, Scope
from memserver.storage.sql.content import EVIDENCE_COLUMNS, to_evidence
from memserver.storage.sql.reach import visible
from memserver.storage.sql.tables import EVIDENCE, ITEM, ROW_CHANGE, VERSION
from memserver.storage.sql.view import View, chunks

_ITS_ITEM = and_(ITEM.c.id == VERSION.c.item_id, ITEM.c.tenant_id == VERSION.c.tenant_id)
_RUN_CAME = and_(
    ROW_CHANGE.c.table_name == Table.TRAJECTORY.value, ROW_CHANGE.c.action == Action.INSERT.value
)


class LibraryReads(View):
    def lineage_evidence(
        self, scope: Scope, versions: Sequence[UUID]
    ) -> dict[UUID, tuple[Evidence, ...]]:
        roots = self._visible_versions(scope, versions)
        heirs: dict[UUID, set[UUID]] = {root: {root} for root in roots}
        frontier = dict(heirs)
        while frontier:
            found: dict[UUID, set[UUID]] = defaultdict(set)
            for ids in chunks(frontier):
                query = (
                    select(ITEM.c.merged_into, VERSION.c.id)
                    .join_from(ITEM, VERSION, _ITS_ITEM)
                    .where(ITEM.c.tenant_id == scope.tenant, ITEM.c.merged_into.in_(ids))
                )
                for into, version in self._all(query):
                    fresh = frontier[into] - heirs.get(version, set())
                    if fresh:
                        found[version] |= fresh
            for version, its in found.items():
                heirs[version] = heirs.get(version, set()) | its
            frontier = found
        pieces: dict[UUID, list[Evidence]] = {}
        for ids in chunks(heirs):
            rows = self._all(
                select(*EVIDENCE_COLUMNS)
                .where(EVIDENCE.c.tenant_id == scope.tenant, EVIDENCE.c.subject.in_(ids))
                .order_by(EVIDENCE.c.position, EVIDENCE.c.seq, EVIDENCE.c.id)
            )
            names = self._names(row[1] for row in rows)
            for row in rows:
                piece = to_evidence(row, names)
                for root in heirs[piece.subject]:
                    pieces.setdefault(root, []).append(piece)
        return {root: tuple(found) for root, found in pieces.items()}

    def library_changes(
        self, namespace: Namespace, kinds: Sequence[Kind], limit: int
    ) -> tuple[LibraryChange, ...]:
        of_kinds = select(ITEM.c.id).where(
            ITEM.c.tenant_id == namespace.tenant,
            ITEM.c.namespace_id == namespace.id,
            ITEM.c.kind.in_([kind.value for kind in kinds]),
        )
        query = (
            select(ROW_CHANGE.c.position, ROW_CHANGE.c.table_name, ROW_CHANGE.c.row_id)
            .where(
                ROW_CHANGE.c.tenant_id == namespace.tenant,
                ROW_CHANGE.c.namespace_id == namespace.id,
                or_(
                    _RUN_CAME,
                    and_(
                        ROW_CHANGE.c.table_name == Table.ITEM.value,
                        ROW_CHANGE.c.row_id.in_(of_kinds),
                    ),
                ),
            )
            .order_by(ROW_CHANGE.c.position.desc(), ROW_CHANGE.c.ordinal.desc())
            .limit(limit)
        )
        runs: dict[int, int] = defaultdict(int)
        items: dict[int, set[UUID]] = defaultdict(set)
        for position, table, row in self._all(query):
            if table == Table.TRAJECTORY.value:
                runs[position] += 1
            else:
                items[position].add(row)
        return tuple(
            LibraryChange(position, runs.get(position, 0), frozenset(items.get(position, ())))
            for position in sorted({*runs, *items})
        )

    def _visible_versions(self, scope: Scope, versions: Sequence[UUID]) -> set[UUID]:
        found: set[UUID] = set()
        for ids in chunks(versions):
            query = select(VERSION.c.id).where(
                VERSION.c.id.in_(ids), visible(scope, VERSION.c.tenant_id, VERSION.c.namespace_id)
            )
            found.update(row[0] for row in self._all(query))
        return found
