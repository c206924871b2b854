"""`memserver distill`, `consolidate` and `undo`: what changes the bank as a whole."""

from typing import Annotated

import typer

from memserver.cli.output import operation_bar, print_json, remark, report, say
from memserver.cli.session import ApiKey, Json, Namespace, Url, session
from memserver_client import Operation

Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Return when it is done.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0, help="Seconds to wait at most.")]
WAIT_SECONDS = 3600.0


def distill(
    context: typer.Context,
    namespace: Namespace,
    method: Annotated[
        list[str] | None, typer.Option("--method", help="Only this one; may be repeated.")
    ] = None,
    by_model: Annotated[
        bool, typer.Option("--by-model", help="The chat model words what is new.")
    ] = False,
    wait: Wait = True,
    timeout: Timeout = WAIT_SECONDS,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Turn the runs of a namespace into skills, hints and rules."""
    with session(context).memory(url, api_key) as memory, operation_bar() as seen:
        operation = memory.distill(
            namespace=namespace,
            methods=method or None,
            words="model" if by_model else None,
            wait=wait,
            timeout=timeout,
            on_progress=seen,
        )
    show_operation(operation, as_json=json)


def consolidate(
    context: typer.Context,
    namespace: Namespace,
    apply: Annotated[bool, typer.Option("--apply", help="Do it, rather than plan it.")] = False,
    plan: Annotated[
        str | None, typer.Option("--plan", help="Apply this operation's plan, or nothing.")
    ] = None,
    wait: Wait = True,
    timeout: Timeout = WAIT_SECONDS,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Shrink the bank of a namespace: duplicates, what is superseded, what never helped."""
    if plan is not None and not apply:
        raise typer.BadParameter("A plan is applied with --apply.", param_hint="--plan")
    with session(context).memory(url, api_key) as memory, operation_bar() as seen:
        operation = memory.consolidate(
            namespace=namespace,
            apply=apply,
            plan=plan,
            wait=wait,
            timeout=timeout,
            on_progress=seen,
        )
    show_operation(operation, as_json=json)
    if not json and not apply and operation.state == "succeeded":
        remark(
            f"To do it: memserver consolidate --namespace {namespace} --apply --plan {operation.id}"
        )


def undo(
    context: typer.Context,
    change_id: Annotated[str, typer.Argument(help="The change to take back.")],
    reason: Annotated[str, typer.Option("--reason", help="Kept in the change log.")] = "",
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Put back every row that a change touched."""
    with session(context).memory(url, api_key) as memory:
        undone = memory.undo(change_id, reason=reason)
    if json:
        print_json(undone)
    else:
        say(f"Took back {undone.undoes}: {undone.rows} rows, by the change {undone.change_id}.")


def show_operation(operation: Operation, *, as_json: bool) -> None:
    if as_json:
        print_json(operation)
        return
    progress = operation.progress
    far = f", {progress.done} of {progress.total}" if progress.total else ""
    say(f"{operation.verb} {operation.id} in {operation.namespace}: {operation.state}{far}")
    if operation.error:
        say(operation.error)
    if operation.report:
        report(operation.report)
    for change in _changes(operation):
        remark(f"To take it back: memserver undo {change}")


def _changes(operation: Operation) -> list[str]:
    """Newest first, which is the order to take them back in."""
    changes = (operation.report or {}).get("changes")
    if isinstance(changes, list):
        return [str(change) for change in reversed(changes)]
    return [] if operation.change_id is None else [str(operation.change_id)]
