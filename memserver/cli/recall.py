"""`memserver retrieve`: what the server would give an agent, and why."""

from typing import Annotated

import typer

from memserver.cli.moments import moment
from memserver.cli.output import print_json, remark, say, table
from memserver.cli.session import ApiKey, Json, Url, session


def retrieve(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="A task, in words.")],
    namespace: Annotated[
        list[str], typer.Option("--namespace", "-n", help="May be repeated; team/** is a subtree.")
    ],
    k: Annotated[int, typer.Option("--k", min=1, max=100, help="How many at most.")] = 10,
    budget_tokens: Annotated[
        int | None, typer.Option("--budget-tokens", min=1, help="How many tokens at most.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="Only this kind; may be repeated.")
    ] = None,
    task_type: Annotated[str | None, typer.Option("--task-type")] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="What held then, such as 2026-01-31T00:00:00Z.")
    ] = None,
    known_at: Annotated[
        str | None, typer.Option("--known-at", help="What was in the records then.")
    ] = None,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Show what helps with a task, best first, and why each is there."""
    with session(context).memory(url, api_key) as memory:
        found = memory.retrieve(
            query,
            namespace=namespace[0] if len(namespace) == 1 else namespace,
            k=k,
            budget_tokens=budget_tokens,
            kinds=kind or None,
            task_type=task_type,
            as_of=moment(as_of),
            known_at=moment(known_at),
        )
    if json:
        print_json(found)
        return
    if not found.items:
        say("Nothing was found.")
    else:
        table(
            ["kind", "title", "score", "belief", "tokens", "why"],
            (
                (
                    hit.kind,
                    hit.title,
                    f"{hit.score:.3f}",
                    f"{hit.belief.mean:.2f} of {hit.belief.outcomes}",
                    hit.tokens,
                    hit.why,
                )
                for hit in found.items
            ),
        )
    remark(f"{found.tokens} tokens ({found.token_counter}); retrieval {found.retrieval_id}")
