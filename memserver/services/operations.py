"""Long work as users ask for it, watch it and stop it, and as a job engine drives it: the
operation's row is the truth, and a step's effect commits together with its marker."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from memserver.domain.errors import (
    NamespaceForbidden,
    NotFound,
    OperationCancelled,
    OperationNotFound,
    RoleForbidden,
    Unavailable,
    WrongState,
)
from memserver.domain.operations import TRANSITIONS, Operation, Progress, State
from memserver.domain.ports import Clock, Page, PageRequest, Reader, Store, Writer
from memserver.domain.scope import Namespace, Role, Scope
from memserver.ids import uuid7
from memserver.services.operation_failures import frames, reason
from memserver.services.operation_runner import Effect, Outcome, Runner

__all__ = ["BACKOFF", "Effect", "OperationService", "Outcome", "Runner"]

logger = logging.getLogger(__name__)

BACKOFF = (0.5, 2.0, 8.0)
"""Seconds between tries of a step that something `Unavailable` stopped."""


class OperationService:
    """The service behind `/operations`, and the `Work` that a job engine drives.

    `wake` hints to the dispatcher that there is something to start. It is called inside the
    transaction, so whoever is woken must also look again later. `settle` is called before an
    operation is said to have succeeded: it waits until what was written can be found.
    """

    def __init__(
        self,
        *,
        store: Store,
        runners: Iterable[Runner],
        clock: Clock,
        wake: Callable[[], None],
        settle: Callable[[], object] = lambda: None,
        mint: Callable[[], UUID] = uuid7,
        sleep: Callable[[float], None] = time.sleep,
        backoff: Sequence[float] = BACKOFF,
    ) -> None:
        self._store = store
        self._runners = {runner.verb: runner for runner in runners}
        self._clock = clock
        self._wake = wake
        self._settle = settle
        self._mint = mint
        self._sleep = sleep
        self._backoff = tuple(backoff)

    # --- what users ask -------------------------------------------------------------------

    def request(
        self, tx: Writer, scope: Scope, *, verb: str, namespace: Namespace, params: dict[str, Any]
    ) -> Operation:
        """Stores a pending operation in the request's own transaction, so that it is accepted
        if and only if the request is."""
        if namespace.tenant != scope.tenant or not scope.may_write(namespace.path):
            raise NamespaceForbidden(namespace.path, "write")
        self._runner(verb)
        now = self._clock()
        operation = Operation(
            id=self._mint(),
            tenant=scope.tenant,
            namespace=namespace,
            verb=verb,
            params=params,
            state=State.PENDING,
            requested_by=scope.key,
            created_at=now,
            updated_at=now,
        )
        tx.put_operation(operation)
        self._wake()
        return operation

    def get(self, scope: Scope, operation_id: UUID) -> Operation:
        with self._store.reading() as reader:
            operation = reader.operation(scope, operation_id)
        if operation is None:
            raise OperationNotFound(operation_id)
        return operation

    def list(self, scope: Scope, states: Sequence[State], page: PageRequest) -> Page[Operation]:
        """Operations within the scope's reach; empty `states` means any."""
        with self._store.reading() as reader:
            return reader.operations(scope, states, page)

    def cancel(self, tx: Writer, scope: Scope, operation_id: UUID) -> Operation:
        """Ends a pending operation at once, and a running one before its next step. Asking
        again while it is stopping changes nothing."""
        operation = self._lock(tx, scope, operation_id, wanted="cancel operations")
        if operation.state is State.CANCELLING:
            return operation
        pending = operation.state is State.PENDING
        return self._put(
            tx, operation, State.CANCELLED if pending else State.CANCELLING, wanted="cancelled"
        )

    def retry(self, tx: Writer, scope: Scope, operation_id: UUID) -> Operation:
        """Starts a failed or cancelled operation again; the steps it did stay done."""
        operation = self._lock(tx, scope, operation_id, wanted="retry operations")
        again = replace(operation, attempt=operation.attempt + 1, error=None)
        stored = self._put(tx, again, State.PENDING, wanted="retried")
        self._wake()
        return stored

    # --- what a job engine drives ---------------------------------------------------------

    def begin(self, operation_id: UUID, attempt: int) -> tuple[str, ...]:
        found = self._read(operation_id)
        if found is None or found.ended or found.attempt != attempt:
            return ()
        steps = self._runner(found.verb).steps(found)

        def mark_running(tx: Writer) -> tuple[str, ...]:
            operation = tx.lock_operation(operation_id)
            if operation is None or operation.ended or operation.attempt != attempt:
                return ()
            if operation.state is State.PENDING:
                done = sum(step in operation.steps_done for step in steps)
                begun = replace(operation, progress=Progress(done=done, total=len(steps)))
                operation = self._put(tx, begun, State.RUNNING, wanted="begun")
            if not steps:
                self._put(tx, operation, State.SUCCEEDED, wanted="finished")
            return steps

        return self._store.write(mark_running)

    def step(self, operation_id: UUID, name: str) -> None:
        for pause in (*self._backoff, None):
            try:
                self._try_step(operation_id, name)
                return
            except Unavailable as error:
                if pause is None:
                    raise
                logger.warning(
                    "Step %s of operation %s waits %.1f s: %s",
                    name,
                    operation_id,
                    pause,
                    error.code,
                )
                self._sleep(pause)

    def succeed(self, operation_id: UUID) -> None:
        def mark_succeeded(tx: Writer) -> None:
            operation = tx.lock_operation(operation_id)
            if operation is not None and not operation.ended:
                finished = replace(operation, progress=replace(operation.progress, doing=""))
                self._put(tx, finished, State.SUCCEEDED, wanted="finished")

        self._settle()
        self._store.write(mark_succeeded)

    def fail(self, operation_id: UUID, error: BaseException) -> None:
        cancelled = isinstance(error, OperationCancelled)

        def mark_failed(tx: Writer) -> None:
            operation = tx.lock_operation(operation_id)
            if operation is None or operation.ended:
                return
            if cancelled:
                self._put(tx, operation, State.CANCELLED, wanted="cancelled")
            else:
                failed = replace(operation, error=reason(error))
                self._put(tx, failed, State.FAILED, wanted="failed")

        if not cancelled:
            # Its reason stays in the row, which an erasure reaches: it may name what users named.
            logger.error("Operation %s failed.\n%s", operation_id, frames(error))
        self._store.write(mark_failed)

    # --- how ------------------------------------------------------------------------------

    def _try_step(self, operation_id: UUID, name: str) -> None:
        operation = _still_to_do(self._read(operation_id), operation_id, name)
        if operation is None:
            return
        with self._store.reading() as reader:
            erased = _last_erasure(reader, operation)
        effect = self._runner(operation.verb).prepare(operation, name)
        if not self._store.write(
            lambda tx: self._commit_step(tx, operation_id, name, effect, erased=erased)
        ):
            # What was read may be what has been erased since, and must not come back.
            self._try_step(operation_id, name)

    def _commit_step(
        self, tx: Writer, operation_id: UUID, name: str, effect: Effect, *, erased: UUID | None
    ) -> bool:
        """False where somebody was erased since the step was prepared."""
        # Looked at again under the lock: while the step was prepared, another worker may have
        # done it, or a user may have asked to stop.
        operation = _still_to_do(tx.lock_operation(operation_id), operation_id, name)
        if operation is None:
            return True
        if _last_erasure(tx, operation) != erased:
            return False
        tx.put_operation(replace(_with(operation, name, effect(tx)), updated_at=self._clock()))
        return True

    def _lock(self, tx: Writer, scope: Scope, operation_id: UUID, *, wanted: str) -> Operation:
        if scope.role is Role.READER:
            raise RoleForbidden(scope.role, wanted)
        if tx.operation(scope, operation_id) is None:
            raise OperationNotFound(operation_id)
        operation = tx.lock_operation(operation_id)
        if operation is None:
            raise OperationNotFound(operation_id)
        return operation

    def _put(self, tx: Writer, operation: Operation, state: State, *, wanted: str) -> Operation:
        if state not in TRANSITIONS[operation.state]:
            raise WrongState("operation", operation.id, operation.state, wanted)
        moved = replace(operation, state=state, updated_at=self._clock())
        tx.put_operation(moved)
        return moved

    def _read(self, operation_id: UUID) -> Operation | None:
        with self._store.reading() as reader:
            return reader.any_operation(operation_id)

    def _runner(self, verb: str) -> Runner:
        if verb not in self._runners:
            raise NotFound("runner for the verb", verb)
        return self._runners[verb]


def _last_erasure(reader: Reader, operation: Operation) -> UUID | None:
    """Of the operation's tenant."""
    newest = reader.erasures(operation.tenant, PageRequest(limit=1)).rows
    return newest[0].id if newest else None


def _still_to_do(operation: Operation | None, operation_id: UUID, name: str) -> Operation | None:
    """The operation if this step may be done now, None if it is done already."""
    if operation is None:
        raise OperationNotFound(operation_id)
    if name in operation.steps_done:
        return None
    if operation.state is State.CANCELLING:
        raise OperationCancelled(operation_id)
    if operation.state is not State.RUNNING:
        raise WrongState("operation", operation_id, operation.state, "continued")
    return operation


def _with(operation: Operation, name: str, outcome: Outcome) -> Operation:
    """The operation after a step: its marker, its progress and what it found, merged."""
    report = operation.report
    if outcome.report is not None:
        report = {**(report or {}), **outcome.report}
    return replace(
        operation,
        steps_done=(*operation.steps_done, name),
        progress=replace(
            operation.progress, done=operation.progress.done + 1, doing=outcome.note or name
        ),
        report=report,
        change_id=outcome.change_id or operation.change_id,
    )
