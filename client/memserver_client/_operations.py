"""Waiting for long work: the server runs it, the client asks how it goes."""

from collections.abc import Callable

from memserver.wire.operations import Operation
from memserver_client._errors import OperationCancelled, OperationFailed, OperationTimeout
from memserver_client._requests import Id, id_of
from memserver_client._transport import Clock, Connection

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0
FINAL = frozenset({"succeeded", "failed", "cancelled"})

OnProgress = Callable[[Operation], None]


def await_operation(
    connection: Connection,
    operation_id: Id,
    *,
    clock: Clock,
    timeout: float,
    on_progress: OnProgress | None,
) -> Operation:
    """The operation once it has succeeded; asks ever less often, at least every second."""
    path = f"/v1/operations/{id_of(operation_id)}"
    deadline = clock.now() + timeout
    pause = FIRST_PAUSE
    while True:
        operation = connection.get(path, Operation)
        if on_progress is not None:
            on_progress(operation)
        if operation.state in FINAL:
            return _succeeded(operation)
        left = deadline - clock.now()
        if left <= 0:
            raise OperationTimeout(operation, timeout)
        clock.sleep(min(pause, left))
        pause = min(LONGEST_PAUSE, pause * 1.5)


def _succeeded(operation: Operation) -> Operation:
    if operation.state == "cancelled":
        raise OperationCancelled(operation)
    if operation.state == "failed":
        raise OperationFailed(operation)
    return operation
