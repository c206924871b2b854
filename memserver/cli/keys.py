"""`memserver keys`: who may read and write what."""

from enum import StrEnum
from typing import Annotated

import typer

from memserver.cli.output import print_json, print_rows, remark, say
from memserver.cli.session import ApiKey, Json, Url, session


class Role(StrEnum):
    ADMIN = "admin"
    WRITER = "writer"
    READER = "reader"


def create(
    context: typer.Context,
    grant: Annotated[
        list[str],
        typer.Option("--grant", help="A namespace, team/** or **; may be repeated."),
    ],
    role: Annotated[Role, typer.Option("--role")] = Role.WRITER,
    tenant: Annotated[
        str | None, typer.Option("--tenant", help="Only the system key may name another.")
    ] = None,
    label: Annotated[str, typer.Option("--label", help="What it is for.")] = "",
    unseals: Annotated[
        bool, typer.Option("--unseals", help="It may see what privacy took out of texts.")
    ] = False,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Make a key. Its secret is shown this once."""
    with session(context).memory(url, api_key) as memory:
        made = memory.create_key(
            role=role, grants=grant, tenant=tenant, label=label, unseals=unseals
        )
    if json:
        print_json(made)
        return
    say(made.key or "")
    remark(f"A {made.role} for {', '.join(made.grants)} in {made.tenant}; its id is {made.id}.")


def list_keys(
    context: typer.Context, url: Url = None, api_key: ApiKey = None, json: Json = False
) -> None:
    """List the tenant's keys, without their secrets."""
    with session(context).memory(url, api_key) as memory:
        print_rows(
            memory.keys(),
            {
                "id": lambda row: row.id,
                "role": lambda row: row.role,
                "grants": lambda row: ", ".join(row.grants),
                "label": lambda row: row.label,
                "created": lambda row: f"{row.created_at:%Y-%m-%d %H:%M:%S}",
                "revoked": lambda row: (
                    f"{row.revoked_at:%Y-%m-%d %H:%M:%S}" if row.revoked_at else None
                ),
            },
            as_json=json,
        )


def revoke(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID")],
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Revoke a key at once."""
    with session(context).memory(url, api_key) as memory:
        key = memory.revoke_key(id)
    if json:
        print_json(key)
    else:
        say(f"Revoked {key.id}.")
