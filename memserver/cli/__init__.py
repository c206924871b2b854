"""The command line: an HTTP client of a running server, except for what the server itself is."""

from memserver.cli.build import build
from memserver.cli.server_commands import (
    DemoOptions,
    DoctorOptions,
    Finding,
    Health,
    ReindexOptions,
    ServeOptions,
    ServerCommands,
)

__all__ = [
    "DemoOptions",
    "DoctorOptions",
    "Finding",
    "Health",
    "ReindexOptions",
    "ServeOptions",
    "ServerCommands",
    "build",
]
