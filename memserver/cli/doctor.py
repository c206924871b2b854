"""`memserver doctor`: whether a server, or a stopped server's folder, is as it should be."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from memserver.cli.output import print_json, table
from memserver.cli.server_commands import DoctorOptions, Health
from memserver.cli.session import REFUSED, ApiKey, Json, Url, session


def doctor(
    context: typer.Context,
    data: Annotated[
        Path | None, typer.Option("--data", file_okay=False, help="The folder to look at.")
    ] = None,
    database_url: Annotated[
        str | None, typer.Option("--database-url", help="Its PostgreSQL database, if it has one.")
    ] = None,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Check the settings, the folder, the database, the model, the index and more, and say what to
    do about what is wrong. It changes nothing."""
    options = DoctorOptions(data=data, database_url=database_url, url=url, api_key=api_key)
    with session(context).server() as server:
        findings = server.doctor(options)
    if json:
        for finding in findings:
            print_json(asdict(finding))
    else:
        table(
            ["check", "", "what was found"],
            (
                (found.check, found.state, " ".join(filter(None, (found.says, found.help))))
                for found in findings
            ),
        )
    if any(finding.state is Health.PROBLEM for finding in findings):
        raise typer.Exit(REFUSED)
