"""The change log as users see it: history, audit, undo."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.changes import Change, RowChange, Table
from memserver.domain.errors import ChangeNotFound, RoleForbidden
from memserver.domain.ports import Page, PageRequest, Store, Writer
from memserver.domain.scope import Namespace, Role, Scope
from memserver.services.access import Access

MOVED_BY_ADMINS = frozenset({Table.POLICY, Table.EXPLORATION})


@dataclass(frozen=True, slots=True)
class ChangeDetail:
    change: Change
    rows: Page[RowChange]


class Changing:
    def __init__(self, store: Store) -> None:
        self._store = store

    def list(
        self,
        scope: Scope,
        namespaces: Sequence[Namespace],
        page: PageRequest,
        *,
        row: UUID | None,
    ) -> Page[Change]:
        """Newest first; those that touched one row, where it is named."""
        with self._store.reading() as reader:
            return reader.changes(scope, [n.id for n in namespaces], page, row)

    def get(self, scope: Scope, change_id: UUID, page: PageRequest) -> ChangeDetail:
        with self._store.reading() as reader:
            change = reader.change(scope, change_id)
            if change is None:
                raise ChangeNotFound(change_id)
            return ChangeDetail(change, reader.row_changes(scope, change_id, page))

    def undo(self, tx: Writer, scope: Scope, change_id: UUID, *, reason: str) -> Change:
        """Puts back every row that the change touched, or raises and touches none."""
        if scope.role is Role.READER:
            raise RoleForbidden(scope.role, "undo changes")
        touched = tx.row_changes(scope, change_id, PageRequest(1)).rows
        if any(row.ref.table in MOVED_BY_ADMINS for row in touched):
            Access.require_admin(scope, "undo changes of policies")
        return tx.undo(scope, change_id, reason or f"undo of {change_id}")
