"""`memserver namespace`: how a namespace keeps its memory."""

from typing import Annotated

import typer

from memserver.cli.output import print_json, remark, say
from memserver.cli.session import ApiKey, Json, Url, session

NONE = "none"
"""What takes a bound or an occasion away."""


def settings(
    context: typer.Context,
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="Of which namespace.")],
    half_life_days: Annotated[
        str | None, typer.Option("--half-life-days", help="Or none: what is not used never fades.")
    ] = None,
    most_items: Annotated[
        str | None, typer.Option("--most-items", help="Active items at most, or none.")
    ] = None,
    every_writes: Annotated[
        str | None, typer.Option("--consolidate-every-writes", help="Or none.")
    ] = None,
    every_hours: Annotated[
        str | None, typer.Option("--consolidate-every-hours", help="Or none.")
    ] = None,
    when_idle_minutes: Annotated[
        str | None,
        typer.Option("--consolidate-when-idle-minutes", help="Without a write; or none."),
    ] = None,
    secrets: Annotated[
        bool | None, typer.Option("--secrets/--no-secrets", help="Take secrets out of texts.")
    ] = None,
    personal_data: Annotated[
        bool | None,
        typer.Option("--personal-data/--no-personal-data", help="And personal data."),
    ] = None,
    time_zone: Annotated[
        str | None, typer.Option("--time-zone", help="Of messages that name none, such as UTC.")
    ] = None,
    admission: Annotated[
        str | None,
        typer.Option("--admission", help="Of what is distilled: none, first_uses or held_out."),
    ] = None,
    allowed_tools: Annotated[
        str | None,
        typer.Option(
            "--allowed-tools",
            help="What skills may declare, with commas between ('' for nothing at all); or none "
            "for no list.",
        ),
    ] = None,
    frozen: Annotated[
        bool | None,
        typer.Option("--frozen/--no-frozen", help="Let the library of skills stay as it is."),
    ] = None,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Show how a namespace keeps its memory, or set it. What is not named stays as it is."""
    named = {
        "half_life_days": _cleared(half_life_days),
        "most_items": _cleared(most_items),
        "consolidate_every_writes": _cleared(every_writes),
        "consolidate_every_hours": _cleared(every_hours),
        "consolidate_when_idle_minutes": _cleared(when_idle_minutes),
        "secrets": secrets,
        "personal_data": personal_data,
        "time_zone": time_zone,
        "frozen": frozen,
        "allowed_tools": _listed(allowed_tools),
    }
    wanted = {
        name: None if value == NONE else value for name, value in named.items() if value is not None
    }
    if admission is not None:
        # Here none is a way of admitting, not the absence of one.
        wanted["admission"] = admission
    with session(context).memory(url, api_key) as memory:
        if wanted:
            stored = memory.set_namespace_settings(namespace=namespace, **wanted)
            found = stored.settings
            if stored.change_id is not None:
                remark(f"Set; to take it back: memserver undo {stored.change_id}")
        else:
            found = memory.namespace_settings(namespace=namespace)
    if json:
        print_json(found)
        return
    for name, value in found.model_dump(exclude={"namespace"}).items():
        shown = (", ".join(value) or "''") if isinstance(value, list) else value
        say(f"{name.replace('_', ' ')}: {NONE if value is None else shown}")


def _listed(value: str | None) -> str | list[str] | None:
    if value is None or value.strip().lower() == NONE:
        return _cleared(value)
    return [tool for tool in map(str.strip, value.split(",")) if tool]


def _cleared(value: str | None) -> str | None:
    return None if value is None else value.strip().lower()
