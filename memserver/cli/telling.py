"""`memserver remember`: tells a text, and shows what became of each thing in it."""

from datetime import datetime
from typing import Annotated

import typer

from memserver.cli.output import print_json, remark, table
from memserver.cli.session import ApiKey, Json, Url, session


def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What was said; - reads it from the input.")],
    namespace: Annotated[str, typer.Option("--namespace", "-n")],
    subject: Annotated[
        str | None, typer.Option("--subject", help="The person whom it is about.")
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", help="When it was said, with its offset; by default now.")
    ] = None,
    time_zone: Annotated[
        str | None, typer.Option("--time-zone", help="Where; by default the namespace's.")
    ] = None,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Remember what a text says: facts are added, updated or ended, the rest is kept as a note."""
    told = typer.get_text_stream("stdin").read() if text == "-" else text
    with session(context).memory(url, api_key) as memory:
        report = memory.remember(
            told, namespace=namespace, subject=subject, at=_moment(at), time_zone=time_zone
        )
    if json:
        print_json(report)
        return
    table(
        ["operation", "kind", "why", "by", "item"],
        (
            (one.operation, one.kind, one.reason, one.by, str(one.item or ""))
            for one in report.written
        ),
    )
    remark(
        f"{report.added} added, {report.updated} updated, {report.deleted} ended, "
        f"{report.unchanged} unchanged; change {report.change_id or 'none'}"
    )


def _moment(said: str | None) -> datetime | None:
    if said is None:
        return None
    try:
        return datetime.fromisoformat(said)
    except ValueError:
        raise typer.BadParameter(f"{said!r} is no ISO time.", param_hint="--at") from None
