"""`memserver operations`: long work, and what to do about it."""

from enum import StrEnum
from itertools import islice
from typing import Annotated

import typer

from memserver.cli.output import print_rows, remark
from memserver.cli.session import ApiKey, Json, Url, session
from memserver.cli.upkeep import show_operation

OperationId = Annotated[str, typer.Argument(metavar="ID")]


class State(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


def list_operations(
    context: typer.Context,
    state: Annotated[State | None, typer.Option("--state", help="Only those in it.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many at most.")] = 100,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """List the operations that your key may see."""
    with session(context).memory(url, api_key) as memory:
        found = memory.operations(state=state)
        print_rows(
            islice(found, limit),
            {
                "id": lambda row: row.id,
                "verb": lambda row: row.verb,
                "namespace": lambda row: row.namespace,
                "state": lambda row: row.state,
                "done": lambda row: f"{row.progress.done}/{row.progress.total}",
                "updated": lambda row: f"{row.updated_at:%Y-%m-%d %H:%M:%S}",
                "error": lambda row: row.error,
            },
            as_json=json,
        )
        if next(found, None) is not None:
            remark("There are more: raise --limit.")


def show(
    context: typer.Context,
    id: OperationId,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Show one operation and its report."""
    with session(context).memory(url, api_key) as memory:
        operation = memory.operation(id)
    show_operation(operation, as_json=json)


def cancel(
    context: typer.Context,
    id: OperationId,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Ask an operation to stop before its next step."""
    with session(context).memory(url, api_key) as memory:
        operation = memory.cancel_operation(id)
    show_operation(operation, as_json=json)


def retry(
    context: typer.Context,
    id: OperationId,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Start a failed or cancelled operation again where it stopped."""
    with session(context).memory(url, api_key) as memory:
        operation = memory.retry_operation(id)
    show_operation(operation, as_json=json)
