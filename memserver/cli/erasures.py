"""`memserver erase`: a person out of everything, for good."""

from typing import Annotated

import typer

from memserver.cli.output import operation_bar
from memserver.cli.session import ApiKey, Json, Url, session
from memserver.cli.upkeep import WAIT_SECONDS, Timeout, Wait, show_operation


def erase(
    context: typer.Context,
    subject: Annotated[
        str, typer.Option("--subject", help="Whom: the subject that runs were stored with.")
    ],
    namespace: Annotated[
        str, typer.Option("--namespace", help="Only in this namespace or subtree.")
    ] = "**",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    wait: Wait = True,
    timeout: Timeout = WAIT_SECONDS,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Remove all that was said by or about a person. It cannot be undone."""
    if not yes:
        typer.confirm(f"Erase {subject!r} in {namespace}? This cannot be undone.", abort=True)
    with session(context).memory(url, api_key) as memory, operation_bar() as seen:
        operation = memory.erase(
            subject=subject, namespace=namespace, wait=wait, timeout=timeout, on_progress=seen
        )
    show_operation(operation, as_json=json)
