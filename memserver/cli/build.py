"""Puts the commands together."""

from collections.abc import Callable
from typing import Annotated

import httpx
import typer

import memserver
from memserver.cli import (
    backup,
    doctor,
    erasures,
    exports,
    grep,
    keys,
    library,
    namespaces,
    operations,
    policies,
    practice,
    recall,
    server,
    sessions,
    skill_tests,
    skills,
    telling,
    transfer,
    upkeep,
)
from memserver.cli.server_commands import ServerCommands
from memserver.cli.session import Connect, Session
from memserver_client import Memory


def build(
    commands: ServerCommands,
    *,
    connect: Connect = Memory,
    transport: httpx.BaseTransport | None = None,
) -> typer.Typer:
    """The program `memserver`. `connect` makes a client of a URL and a key; `transport` replaces
    the network in tests of what needs more than a client."""
    # Tracebacks stay plain: rich ones print local variables, and keys are among them.
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

    @app.callback()
    def start(
        context: typer.Context,
        version: Annotated[
            bool, typer.Option("--version", help="Print the version.", callback=_print_version)
        ] = False,
    ) -> None:
        """One memory for a fleet of agents, which learns from whether their tasks succeeded."""
        context.obj = Session(connect, commands, transport)

    app.command()(server.serve)
    app.command("import")(transfer.import_runs)
    app.command()(exports.export)
    app.command()(telling.remember)
    app.command()(recall.retrieve)
    app.command()(grep.grep)
    app.command()(upkeep.distill)
    app.command()(upkeep.consolidate)
    app.command()(library.evolve)
    app.command()(library.route)
    app.command()(upkeep.undo)
    app.command()(erasures.erase)
    app.command()(backup.backup)
    app.command()(backup.restore)
    app.command()(server.reindex)
    app.command()(doctor.doctor)
    app.command()(server.demo)
    app.add_typer(
        _group(
            "Long work: how it goes, stopping it, starting it again.",
            {
                "list": operations.list_operations,
                "show": operations.show,
                "cancel": operations.cancel,
                "retry": operations.retry,
            },
        ),
        name="operations",
    )
    app.add_typer(
        _group(
            "Who may read and write what.",
            {"create": keys.create, "list": keys.list_keys, "revoke": keys.revoke},
        ),
        name="keys",
    )
    app.add_typer(
        _group(
            "Working memories, as their agents read them.",
            {"list": sessions.list_sessions, "state": sessions.state},
        ),
        name="session",
    )
    app.add_typer(
        _group(
            "Skills: from outside into quarantine, promoted, shown, and out.",
            {
                "import": skills.import_skills,
                "export": skills.export,
                "bank": skills.bank,
                "show": skills.show,
                "promote": skills.promote,
                "quarantine": skills.quarantine,
                "test": skill_tests.run_stored_tests,
            },
        ),
        name="skill",
    )
    app.add_typer(
        _group(
            "Practice before tasks: goals to try, and which runs of them enter memory.",
            {
                "propose": practice.propose,
                "validate": practice.validate,
                "list": practice.list_practice,
            },
        ),
        name="practice",
    )
    app.add_typer(
        _group("How a namespace keeps its memory.", {"settings": namespaces.settings}),
        name="namespace",
    )
    app.command("decision")(policies.decision)
    app.add_typer(
        _group(
            "Policies that learn: register one, try it, promote it, take it back.",
            {
                "register": policies.register,
                "list": policies.list_policies,
                "status": policies.status,
                "evaluate": policies.evaluate,
                "shadow": policies.shadow,
                "canary": policies.canary,
                "promote": policies.promote,
                "rollback": policies.rollback,
                "retire": policies.retire,
                "explore": policies.explore,
            },
        ),
        name="policy",
    )
    return app


def _group(purpose: str, named: dict[str, Callable[..., None]]) -> typer.Typer:
    group = typer.Typer(help=purpose, no_args_is_help=True)
    for name, command in named.items():
        group.command(name)(command)
    return group


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(memserver.__version__)
        raise typer.Exit
