"""`memserver serve`, `reindex` and `demo`, which run the server itself."""

from pathlib import Path
from typing import Annotated

import typer

from memserver.cli.output import operation_bar
from memserver.cli.server_commands import DemoOptions, ReindexOptions, ServeOptions
from memserver.cli.session import ApiKey, Json, Url, session
from memserver.cli.upkeep import WAIT_SECONDS, Timeout, Wait, show_operation

Data = Annotated[
    Path | None,
    typer.Option("--data", file_okay=False, help="The folder that holds everything."),
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option("--database-url", help="PostgreSQL instead of SQLite: postgresql://...."),
]


def serve(
    context: typer.Context,
    data: Data = None,
    host: Annotated[str | None, typer.Option("--host", help="Default: this machine only.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65_535, help="0 takes a free one.")
    ] = None,
    database_url: DatabaseUrl = None,
    json: Annotated[
        bool, typer.Option("--json", help='Print one line {"url", "admin_key"} when ready.')
    ] = False,
) -> None:
    """Run the server until it is stopped. What is not given here comes from MEMSERVER_*."""
    options = ServeOptions(data=data, host=host, port=port, json=json, database_url=database_url)
    with session(context).server() as server:
        server.serve(options)


def reindex(
    context: typer.Context,
    offline: Annotated[
        bool, typer.Option("--offline", help="The server is stopped; also for another encoder.")
    ] = False,
    data: Data = None,
    database_url: DatabaseUrl = None,
    wait: Wait = True,
    timeout: Timeout = WAIT_SECONDS,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Rebuild the vector index from the database, of a serving or of a stopped server."""
    if offline:
        with session(context).server() as server:
            server.reindex_offline(ReindexOptions(data=data, json=json, database_url=database_url))
        return
    if data is not None or database_url is not None:
        raise typer.BadParameter(
            "A running server knows its own; these belong to --offline.",
            param_hint="--data, --database-url",
        )
    with session(context).memory(url, api_key) as memory, operation_bar() as seen:
        operation = memory.reindex(wait=wait, timeout=timeout, on_progress=seen)
    show_operation(operation, as_json=json)


def demo(context: typer.Context, json: Json = False) -> None:
    """See the whole loop work on recorded agent runs, in a temporary folder."""
    with session(context).server() as server:
        server.demo(DemoOptions(json=json))
