"""`memserver grep`: lines of stored texts that match a pattern."""

from typing import Annotated

import typer

from memserver.cli.moments import moment
from memserver.cli.output import print_json, remark, say
from memserver.cli.session import ApiKey, Json, Url, session
from memserver_client import GrepHit


def grep(
    context: typer.Context,
    pattern: Annotated[str, typer.Argument(help="A regular expression, in RE2's syntax.")],
    namespace: Annotated[
        list[str], typer.Option("--namespace", "-n", help="May be repeated; team/** is a subtree.")
    ],
    literal: Annotated[
        bool, typer.Option("--literal", "-F", help="Take the pattern as plain characters.")
    ] = False,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", "-i")] = False,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="Only this kind; may be repeated.")
    ] = None,
    before: Annotated[int, typer.Option("--before", "-B", min=0, max=50)] = 0,
    after: Annotated[int, typer.Option("--after", "-A", min=0, max=50)] = 0,
    since: Annotated[
        str | None, typer.Option("--since", help="Said then or later, 2026-01-31T00:00:00Z.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", help="Said before then.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Lines at most.")] = 100,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Show lines of items, runs and sessions that match, and where they stand."""
    found: list[GrepHit] = []
    cursor: str | None = None
    with session(context).memory(url, api_key) as memory:
        while True:
            page = memory.grep(
                pattern,
                namespace=namespace[0] if len(namespace) == 1 else namespace,
                literal=literal,
                ignore_case=ignore_case,
                kinds=kind or None,
                before=before,
                after=after,
                since=moment(since),
                until=moment(until),
                limit=min(limit - len(found), PAGE),
                cursor=cursor,
            )
            found += page.rows
            cursor = page.next_cursor
            if cursor is None or len(found) >= limit:
                break
    if json:
        rows = [hit.model_dump(mode="json") for hit in found]
        print_json({"rows": rows, "next_cursor": cursor})
        return
    for hit in found:
        say("\n".join([_where(hit), *_shown(hit)]))
    remark(f"{len(found)} lines{', and there are more' if cursor else ''}")


PAGE = 500


def _where(hit: GrepHit) -> str:
    step = "" if hit.step is None else f" {hit.step}"
    return f"{hit.namespace} {hit.kind} {hit.id} {hit.part}{step}, line {hit.line_number}:"


def _shown(hit: GrepHit) -> list[str]:
    return [
        *(f"    {line}" for line in hit.before),
        f"  > {hit.line}",
        *(f"    {line}" for line in hit.after),
    ]
