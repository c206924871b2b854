"""Waiting for long work: the server runs it, the client asks how it goes."""

from collections.abc import Callable

from memserver.wire.operations import Operation
from memserver_client._call import Call, Now, Pause, Steps, asked, read
from memserver_client._errors import OperationCancelled, OperationFailed, OperationTimeout
from memserver_client._requests import Id, id_of

WAIT_SECONDS = 600.0
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0
FINAL = frozenset({"succeeded", "failed", "cancelled"})

OnProgress = Callable[[Operation], None]


def started(
    call: Call[Operation], *, wait: bool, timeout: float, on_progress: OnProgress | None
) -> Steps[Operation]:
    """The operation that a call starts: as it started or, with `wait`, once it has succeeded."""
    begun = yield from asked(call)
    if not wait:
        return begun
    return (yield from succeeded(begun.id, timeout=timeout, on_progress=on_progress))


def succeeded(
    operation_id: Id, *, timeout: float, on_progress: OnProgress | None
) -> Steps[Operation]:
    """The operation once it has succeeded; asks ever less often, at least every second."""
    call = read(f"/v1/operations/{id_of(operation_id)}", Operation)
    deadline = (yield Now()) + timeout
    pause = FIRST_PAUSE
    while True:
        operation = yield from asked(call)
        if on_progress is not None:
            on_progress(operation)
        if operation.state in FINAL:
            return _successful(operation)
        left = deadline - (yield Now())
        if left <= 0:
            raise OperationTimeout(operation, timeout)
        yield Pause(min(pause, left))
        pause = min(LONGEST_PAUSE, pause * 1.5)


def _successful(operation: Operation) -> Operation:
    if operation.state == "cancelled":
        raise OperationCancelled(operation)
    if operation.state == "failed":
        raise OperationFailed(operation)
    return operation
