"""A store in memory with only what operations need: enough to test long work without SQL."""

import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

from memserver.domain.operations import Operation, State
from memserver.domain.ports import Page, PageRequest
from memserver.domain.scope import Scope

T = TypeVar("T")


class OperationRows:
    """One transaction's view of the operations, and of `effects`, which stand for content."""

    def __init__(self, rows: dict[UUID, Operation], effects: list[str]) -> None:
        self.rows = rows
        self.effects = effects

    def any_operation(self, operation_id: UUID) -> Operation | None:
        return self.rows.get(operation_id)

    lock_operation = any_operation

    def operation(self, scope: Scope, operation_id: UUID) -> Operation | None:
        found = self.rows.get(operation_id)
        return found if found is not None and _reaches(scope, found) else None

    def operations(
        self, scope: Scope, states: Sequence[State], page: PageRequest
    ) -> Page[Operation]:
        found = [
            row
            for row in self.rows.values()
            if _reaches(scope, row) and (not states or row.state in states)
        ]
        return Page(rows=tuple(found[: page.limit]))

    def unfinished_operations(self) -> tuple[Operation, ...]:
        return tuple(row for row in self.rows.values() if not row.ended)

    def erasures(self, tenant: UUID, page: PageRequest) -> Page[Any]:
        return Page(rows=())

    def put_operation(self, operation: Operation) -> None:
        self.rows[operation.id] = operation


class OperationStore:
    """Transactions one after another: all of one or, where it raises, none of it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._rows: dict[UUID, Operation] = {}
        self.effects: list[str] = []

    @contextmanager
    def reading(self) -> Iterator[Any]:
        with self._lock:
            view = OperationRows(dict(self._rows), list(self.effects))
        yield view

    def write(self, work: Callable[[Any], T]) -> T:
        with self._lock:
            tx = OperationRows(copy.copy(self._rows), list(self.effects))
            result = work(tx)
            self._rows, self.effects = tx.rows, tx.effects
            return result

    def read(self, operation_id: UUID) -> Operation:
        """The row as it is now, for assertions."""
        with self._lock:
            return self._rows[operation_id]


def _reaches(scope: Scope, operation: Operation) -> bool:
    return scope.tenant == operation.tenant and scope.may_read(operation.namespace.path)
