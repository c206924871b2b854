"""`memserver doctor`: what is looked at, in which order, and in which of two ways: the server that
runs is asked, and what a stopped one left is read. Nothing is changed and nothing is made."""

import platform
import sqlite3
from collections.abc import Callable, Iterator, Sequence

import memserver
from memserver.app.doctor_database import examine_database
from memserver.app.doctor_folder import examine_folder
from memserver.app.doctor_index import examine_index
from memserver.app.doctor_model import examine_model
from memserver.app.doctor_server import Connect, connect, examine_server
from memserver.app.opening import open_encoder, utc_now
from memserver.app.settings import InvalidSetting, Settings, known_settings, unknown_settings
from memserver.cli import DoctorOptions, Finding, Health
from memserver.domain.ports import Clock, Encoder
from memserver.storage.index.folder_lock import is_held

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})


def examine(
    options: DoctorOptions,
    *,
    make_encoder: Callable[[Settings], Encoder] = open_encoder,
    reach: Connect = connect,
    clock: Clock = utc_now,
) -> Sequence[Finding]:
    """A server is asked where a URL is given, or where one holds the folder; its folder and
    database are read as well where they are on this machine."""
    return tuple(_findings(options, make_encoder, reach, clock))


def _findings(
    options: DoctorOptions,
    make_encoder: Callable[[Settings], Encoder],
    reach: Connect,
    clock: Clock,
) -> Iterator[Finding]:
    yield _versions()
    try:
        settings = known_settings(data=options.data, database_url=options.database_url)
    except InvalidSetting as error:
        yield Finding("settings", Health.PROBLEM, str(error), "Mend it and look again.")
        return
    yield from _settings(settings)
    if options.url and options.data is None:
        with reach(options.url, options.api_key) as http:
            yield from examine_server(http, clock=clock)
        return
    folder = list(examine_folder(settings))
    yield from folder
    if any(finding.state is Health.PROBLEM for finding in folder):
        return
    in_use = is_held(settings.data / "index")
    with examine_database(settings, in_use=in_use, clock=clock) as database:
        yield from database.findings
        if in_use:
            with reach(options.url or _address(settings), options.api_key) as http:
                seen = database.reads is not None
                yield from examine_server(http, clock=clock, operations_seen=seen)
            return
        model = examine_model(settings, database.mark, make_encoder)
        yield model.finding
        if database.reads is not None:
            yield examine_index(settings, database, model.dimension)


def _versions() -> Finding:
    return Finding(
        "versions",
        Health.OK,
        f"memserver {memserver.__version__}, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}.",
    )


def _settings(settings: Settings) -> Iterator[Finding]:
    unknown = list(unknown_settings())
    for error in unknown:
        yield Finding(
            "settings", Health.PROBLEM, str(error), "Mend the name: no server starts with it."
        )
    if not unknown:
        yield Finding("settings", Health.OK, "Every MEMSERVER_ variable is one, and fits.")
    where = f"{settings.host} port {settings.port}"
    if settings.host in LOCAL:
        yield Finding("address", Health.OK, f"{where}: only this machine can connect.")
    else:
        yield Finding(
            "address",
            Health.OK,
            f"{where}: other machines can connect. A server without keys does not exist: all "
            "but its health asks for one. Keys travel as they are, so put TLS in front.",
        )


def _address(settings: Settings) -> str:
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"
