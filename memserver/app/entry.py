"""The console script. Light, so that a client-only install can say what it lacks."""

import sys
from importlib.util import find_spec

NEEDED = ("typer", "fastapi", "sqlmodel")


def main() -> None:
    """Runs the command line."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        print(
            "memserver: this install has the client only; "
            "for the server and the command line: pip install 'memserver[server]'",
            file=sys.stderr,
        )
        raise SystemExit(2)
    from memserver.app.commands import SERVER_COMMANDS
    from memserver.cli import build

    build(SERVER_COMMANDS)()
