"""`memserver session`: working memories, as their agents read them."""

from itertools import islice
from typing import Annotated

import typer

from memserver.cli.output import print_json, print_rows, remark, say
from memserver.cli.session import ApiKey, Json, Namespace, Url, session


def list_sessions(
    context: typer.Context,
    namespace: Namespace,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many at most.")] = 100,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """List the sessions of a namespace, oldest first."""
    with session(context).memory(url, api_key) as memory:
        found = memory.sessions(namespace=namespace)
        print_rows(
            islice(found, limit),
            {
                "id": lambda row: row.id,
                "agent": lambda row: row.agent,
                "events": lambda row: row.events,
                "begun": lambda row: f"{row.created_at:%Y-%m-%d %H:%M:%S}",
                "ended": lambda row: row.ended_at and f"{row.ended_at:%Y-%m-%d %H:%M:%S}",
                "summary": lambda row: row.summary,
            },
            as_json=json,
        )
        if next(found, None) is not None:
            remark("There are more: raise --limit.")


def state(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID")],
    budget_tokens: Annotated[
        int, typer.Option("--budget-tokens", min=1, help="How many tokens at most.")
    ] = 2_000,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Show a session's working memory as its agent reads it, within a budget."""
    with session(context).memory(url, api_key) as memory:
        found = memory.session_state(
            id, budget_tokens=budget_tokens, format="json" if json else "text"
        )
    if json:
        print_json(found)
        return
    say(found.text or "There is nothing in it.")
    missing = ", ".join(f"{part} {count}" for part, count in found.left_out.items())
    remark(
        f"{found.tokens} of {budget_tokens} tokens ({found.token_counter}); "
        f"left out: {missing or 'nothing'}"
    )
