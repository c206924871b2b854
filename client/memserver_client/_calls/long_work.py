"""Long work: begun, followed, cancelled, tried again."""

from collections.abc import Sequence
from typing import Literal

from memserver.wire.base import Page
from memserver.wire.operations import Consolidate, Distill, Operation
from memserver_client._call import Call, Listing, Steps, read, write
from memserver_client._operations import WAIT_SECONDS, OnProgress, started, succeeded
from memserver_client._requests import Id, checked, id_of


def distill(
    *,
    namespace: str,
    methods: Sequence[str] | None = None,
    words: Literal["rules", "model"] | None = None,
    wait: bool = False,
    timeout: float = WAIT_SECONDS,
    on_progress: OnProgress | None = None,
) -> Steps[Operation]:
    """Turns a namespace's runs into skills, hints and rules, in one change a method: the
    report's `changes` lists them, `change_id` is the last. With `words="model"` the server's chat
    model words what is new. With `wait` it returns when that is done, and raises OperationFailed
    or, after `timeout` seconds, OperationTimeout."""
    asked_for = checked(Distill, namespace=namespace, methods=methods, words=words)
    call = write("POST", "/v1/distill", Operation, asked_for)
    return started(call, wait=wait, timeout=timeout, on_progress=on_progress)


def consolidate(
    *,
    namespace: str,
    apply: bool = False,
    plan: Id | None = None,
    wait: bool = False,
    timeout: float = WAIT_SECONDS,
    on_progress: OnProgress | None = None,
) -> Steps[Operation]:
    """Shrinks a namespace's bank. Without `apply` the operation's `.report` is a plan to read;
    with it `.change_id` is what `undo` takes back. `plan` applies that operation's plan."""
    asked_for = checked(Consolidate, namespace=namespace, apply=apply, plan=plan)
    call = write("POST", "/v1/consolidate", Operation, asked_for)
    return started(call, wait=wait, timeout=timeout, on_progress=on_progress)


def reindex(
    *,
    wait: bool = False,
    timeout: float = WAIT_SECONDS,
    on_progress: OnProgress | None = None,
) -> Steps[Operation]:
    """Rebuilds the index from the database while the server serves; the system key's right."""
    call = write("POST", "/v1/reindex", Operation)
    return started(call, wait=wait, timeout=timeout, on_progress=on_progress)


def operation(id: Id) -> Call[Operation]:
    return read(f"/v1/operations/{id_of(id)}", Operation)


def operations(*, state: str | None = None) -> Listing[Operation]:
    return Listing(path="/v1/operations", page=Page[Operation], params={"state": state})


def wait(
    id: Id,
    *,
    timeout: float = WAIT_SECONDS,
    on_progress: OnProgress | None = None,
) -> Steps[Operation]:
    """The operation once it has succeeded; `on_progress` sees it each time it is asked for."""
    return succeeded(id, timeout=timeout, on_progress=on_progress)


def cancel_operation(id: Id) -> Call[Operation]:
    return write("POST", f"/v1/operations/{id_of(id)}/cancel", Operation)


def retry_operation(id: Id) -> Call[Operation]:
    return write("POST", f"/v1/operations/{id_of(id)}/retry", Operation)
