"""What all commands share: how they reach the server, and how a refusal ends them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import httpx
import typer

from memserver.cli.output import complain
from memserver.cli.server_commands import ServerCommands
from memserver_client import Memory, MemserverError, NotConfigured

REFUSED = 1
MISUSED = 2

Url = Annotated[
    str | None, typer.Option("--url", envvar="MEMSERVER_URL", help="The server's address.")
]
ApiKey = Annotated[
    str | None,
    typer.Option("--api-key", envvar="MEMSERVER_API_KEY", help="Your key.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Namespace = Annotated[str, typer.Option("--namespace", "-n", help="Such as team/web-agent.")]

Connect = Callable[[str | None, str | None], Memory]


@dataclass(frozen=True, slots=True)
class Session:
    """Kept in the context of every command."""

    connect: Connect
    commands: ServerCommands
    transport: httpx.BaseTransport | None = None

    @contextmanager
    def memory(self, url: str | None, api_key: str | None) -> Iterator[Memory]:
        """The server, for the length of a command. A refusal becomes one line on stderr."""
        try:
            with self.connect(url, api_key) as memory:
                yield memory
        except NotConfigured as error:
            complain(error.code, str(error))
            raise typer.Exit(MISUSED) from error
        except MemserverError as error:
            complain(error.code, str(error))
            raise typer.Exit(REFUSED) from error

    @contextmanager
    def http(self, url: str | None, api_key: str | None) -> Iterator[httpx.Client]:
        """The same for what is too large to be a value: the bare connection."""
        for value, missing in ((url, "MEMSERVER_URL"), (api_key, "MEMSERVER_API_KEY")):
            if not (value or "").strip():
                complain(NotConfigured.code, f"Set {missing}, or give it as an option.")
                raise typer.Exit(MISUSED)
        headers = {"Authorization": f"Bearer {(api_key or '').strip()}"}
        with httpx.Client(
            base_url=(url or "").strip(), headers=headers, transport=self.transport
        ) as http:
            yield http

    @contextmanager
    def server(self) -> Iterator[ServerCommands]:
        """The server's own commands, refusing in the same way."""
        try:
            yield self.commands
        except self.commands.refusals as error:
            complain(getattr(error, "code", type(error).__name__), str(error))
            raise typer.Exit(REFUSED) from error


def session(context: typer.Context) -> Session:
    found = context.obj
    assert isinstance(found, Session)
    return found
