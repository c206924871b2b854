"""What the command line needs of the server, handed in by the composition root, so that nothing
here imports it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """None leaves a choice to the settings (`MEMSERVER_*`) and their defaults. With `json` the
    server prints one line `{"url", "admin_key"}` when it is ready."""

    data: Path | None
    host: str | None
    port: int | None
    json: bool
    database_url: str | None


@dataclass(frozen=True, slots=True)
class ReindexOptions:
    """Which stopped server's index is rebuilt; None as in `ServeOptions`."""

    data: Path | None
    json: bool
    database_url: str | None


@dataclass(frozen=True, slots=True)
class DemoOptions:
    json: bool


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """Which server is looked at: the one at `url`, or else the folder; None as in
    `ServeOptions`."""

    data: Path | None
    database_url: str | None
    url: str | None
    api_key: str | None


class Health(StrEnum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, in a sentence, and what to do about it where that is not nothing."""

    check: str
    state: Health
    says: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class ServerCommands:
    """`refusals` are the exceptions by which these say no: their `code` and message are shown as
    one line. Any other exception is a fault, and shown with its traceback."""

    serve: Callable[[ServeOptions], None]
    demo: Callable[[DemoOptions], None]
    reindex_offline: Callable[[ReindexOptions], None]
    doctor: Callable[[DoctorOptions], Sequence[Finding]]
    refusals: tuple[type[Exception], ...] = ()
