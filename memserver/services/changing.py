"""The change log as users see it: history, audit, undo."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.changes import Change, RowChange, Table
from memserver.domain.errors import ChangeNotFound, RoleForbidden
from memserver.domain.ports import Page, PageRequest, Store, Writer
from memserver.domain.scope import Namespace, Role, Scope
from memserver.services.access import Access
from memserver.services.policies.lifecycle import require_one_each

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
        """Puts back every row that the change touched, or raises and touches none. A policy does
        not come back to a place that another one has taken since (`WrongState`)."""
        if scope.role is Role.READER:
            raise RoleForbidden(scope.role, "undo changes")
        # What a change of policies touches is few rows and nothing else.
        touched = [row.ref for row in tx.row_changes(scope, change_id, PageRequest(10)).rows]
        if any(ref.table in MOVED_BY_ADMINS for ref in touched):
            Access.require_admin(scope, "undo changes of policies")
        undone = tx.undo(scope, change_id, reason or f"undo of {change_id}")
        require_one_each(tx, scope, [ref.id for ref in touched if ref.table is Table.POLICY])
        return undone
