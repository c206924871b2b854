"""Reading the change log and the operations, within a caller's scope."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import and_, exists, or_, select

from memserver.domain.changes import Action, Change, RowChange, RowRef, Table, Verb
from memserver.domain.operations import TERMINAL, Operation, State
from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.scope import Scope
from memserver.storage.sql import cursors
from memserver.storage.sql.reach import Condition, visible
from memserver.storage.sql.records import OPERATION_COLUMNS, to_operation
from memserver.storage.sql.tables import CHANGE, OPERATION, ROW_CHANGE
from memserver.storage.sql.view import Cells, View

CHANGE_COLUMNS = (
    CHANGE.c.position,
    CHANGE.c.id,
    CHANGE.c.tenant_id,
    CHANGE.c.verb,
    CHANGE.c.actor,
    CHANGE.c.reason,
    CHANGE.c.created_at,
    CHANGE.c.before_hash,
    CHANGE.c.after_hash,
    CHANGE.c.rows,
    CHANGE.c.undoes,
    CHANGE.c.undone_by,
    CHANGE.c.operation,
)
ROW_CHANGE_COLUMNS = (
    ROW_CHANGE.c.table_name,
    ROW_CHANGE.c.row_id,
    ROW_CHANGE.c.action,
    ROW_CHANGE.c.namespace_id,
    ROW_CHANGE.c.before,
    ROW_CHANGE.c.after_hash,
)


class LogReads(View):
    # --- changes

    def change(self, scope: Scope, change_id: UUID) -> Change | None:
        row = self._first(
            select(*CHANGE_COLUMNS).where(
                CHANGE.c.tenant_id == scope.tenant,
                CHANGE.c.id == change_id,
                exists().where(_row_of_change(), _row_visible(scope)),
            )
        )
        return None if row is None else to_change(row)

    def changes(
        self, scope: Scope, namespaces: Sequence[int], page: PageRequest, row: UUID | None = None
    ) -> Page[Change]:
        touched = [_row_visible(scope), ROW_CHANGE.c.namespace_id.in_(namespaces)]
        query = select(*CHANGE_COLUMNS).where(CHANGE.c.tenant_id == scope.tenant)
        if row is None:
            query = query.where(exists().where(_row_of_change(), *touched))
        else:
            its = select(ROW_CHANGE.c.position).where(*touched)
            positions = its.where(ROW_CHANGE.c.row_id == row).union_all(
                its.where(ROW_CHANGE.c.owner_id == row)
            )
            query = query.where(CHANGE.c.position.in_(positions))
        if page.cursor is not None:
            (before,) = cursors.decode(page.cursor, "changes", int)
            query = query.where(CHANGE.c.position < before)
        query = query.order_by(CHANGE.c.position.desc()).limit(page.limit + 1)
        found = [to_change(found_row) for found_row in self._all(query)]
        return cursors.page(found, page, lambda last: cursors.encode("changes", last.position))

    def row_changes(self, scope: Scope, change_id: UUID, page: PageRequest) -> Page[RowChange]:
        query = (
            select(*ROW_CHANGE_COLUMNS, ROW_CHANGE.c.ordinal)
            .join_from(ROW_CHANGE, CHANGE, _row_of_change())
            .where(
                CHANGE.c.tenant_id == scope.tenant,
                CHANGE.c.id == change_id,
                _row_visible(scope),
            )
            .order_by(ROW_CHANGE.c.ordinal)
            .limit(page.limit + 1)
        )
        if page.cursor is not None:
            (after,) = cursors.decode(page.cursor, "row_changes", int)
            query = query.where(ROW_CHANGE.c.ordinal > after)
        found = cursors.page(
            list(self._all(query)), page, lambda row: cursors.encode("row_changes", row.ordinal)
        )
        return Page(tuple(to_row_change(row[:-1]) for row in found.rows), found.next_cursor)

    # --- operations

    def operation(self, scope: Scope, operation_id: UUID) -> Operation | None:
        query = select(*OPERATION_COLUMNS).where(
            OPERATION.c.id == operation_id, _operation_visible(scope)
        )
        return next(iter(self._operations(self._all(query))), None)

    def operations(
        self, scope: Scope, states: Sequence[State], page: PageRequest
    ) -> Page[Operation]:
        """Newest first; of any state where none is named."""
        created_at, row_id = OPERATION.c.created_at, OPERATION.c.id
        query = select(*OPERATION_COLUMNS).where(_operation_visible(scope))
        if states:
            query = query.where(OPERATION.c.state.in_([state.value for state in states]))
        if page.cursor is not None:
            before, before_id = cursors.decode(page.cursor, "operations", datetime, UUID)
            query = query.where(
                or_(created_at < before, and_(created_at == before, row_id < before_id))
            )
        query = query.order_by(created_at.desc(), row_id.desc()).limit(page.limit + 1)
        found = self._operations(self._all(query))
        return cursors.page(
            found, page, lambda last: cursors.encode("operations", last.created_at, last.id)
        )

    def any_operation(self, operation_id: UUID) -> Operation | None:
        query = select(*OPERATION_COLUMNS).where(OPERATION.c.id == operation_id)
        return next(iter(self._operations(self._all(query))), None)

    def unfinished_operations(self) -> tuple[Operation, ...]:
        running = [state.value for state in State if state not in TERMINAL]
        query = (
            select(*OPERATION_COLUMNS)
            .where(OPERATION.c.state.in_(running))
            .order_by(OPERATION.c.created_at, OPERATION.c.id)
        )
        return tuple(self._operations(self._all(query)))

    def _operations(self, rows: Sequence[Cells]) -> list[Operation]:
        names = self._names(row[2] for row in rows)
        return [to_operation(row, names) for row in rows]


def _row_of_change() -> Condition:
    return ROW_CHANGE.c.position == CHANGE.c.position


def _row_visible(scope: Scope) -> Condition:
    return visible(scope, ROW_CHANGE.c.tenant_id, ROW_CHANGE.c.namespace_id)


def _operation_visible(scope: Scope) -> Condition:
    return visible(scope, OPERATION.c.tenant_id, OPERATION.c.namespace_id)


def to_change(row: Cells) -> Change:
    """From a row of `CHANGE_COLUMNS`."""
    position, change_id, tenant, verb, *rest = row
    return Change(position, change_id, tenant, Verb(verb), *rest)


def to_row_change(row: Cells) -> RowChange:
    """From a row of `ROW_CHANGE_COLUMNS`."""
    table_name, row_id, action, namespace_id, before, after_hash = row
    ref = RowRef(Table(table_name), row_id)
    return RowChange(ref, Action(action), namespace_id, before, after_hash)
