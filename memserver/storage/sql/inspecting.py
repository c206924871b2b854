"""A database looked at without being touched: no table is made, no file appears beside it."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, func, make_url, select, text
from sqlalchemy.pool import NullPool

from memserver.domain.ports.store import Clock, Reader
from memserver.domain.scope import Role
from memserver.storage.sql.dump import schema
from memserver.storage.sql.engines import connect
from memserver.storage.sql.migrate import alembic_config
from memserver.storage.sql.namespaces import NamespaceCache
from memserver.storage.sql.reading import SqlReader
from memserver.storage.sql.tables import API_KEY
from memserver.storage.sql.types import from_json

FAULTS_AT_MOST = 10


class NotReadable(Exception):
    """The database cannot be read without changing something beside it, or is not there."""


class Inspection:
    """Reads what `open_store` would open. `in_use` says that a server may have it open; that no
    other process writes to it otherwise is for the caller to know. Raises `NotReadable`."""

    def __init__(self, url: str, *, clock: Clock, in_use: bool) -> None:
        self._clock = clock
        path = make_url(url).database
        self.is_sqlite = make_url(url).get_backend_name() == "sqlite"
        if self.is_sqlite:
            self._engine = _untouched(Path(path or ""), in_use=in_use)
        else:
            self._engine = connect(url).reading

    @property
    def newest_schema(self) -> str | None:
        """What this version of the server brings tables up to."""
        return ScriptDirectory.from_config(alembic_config()).get_current_head()

    def known_schemas(self) -> frozenset[str]:
        scripts = ScriptDirectory.from_config(alembic_config())
        return frozenset(script.revision for script in scripts.walk_revisions())

    def schema(self) -> str | None:
        with self._connection() as connection:
            return schema(connection)

    def faults(self) -> tuple[str, ...]:
        """What SQLite finds wrong with its file; PostgreSQL looks after itself."""
        if not self.is_sqlite:
            return ()
        with self._connection() as connection:
            found = connection.scalars(text(f"PRAGMA quick_check({FAULTS_AT_MOST})")).all()
        return tuple(str(fault) for fault in found if fault != "ok")

    def administrators(self) -> int:
        """Keys of all tenants that may administer, and are not revoked."""
        query = select(func.count()).where(
            API_KEY.c.role.in_([Role.SYSTEM.value, Role.ADMIN.value]),
            API_KEY.c.revoked_at.is_(None),
        )
        with self._connection() as connection:
            return connection.scalar(query) or 0

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        with self._connection() as connection:
            yield SqlReader(connection, namespaces=NamespaceCache(), clock=self._clock)

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        with self._engine.connect() as connection, connection.begin():
            yield connection


def _untouched(path: Path, *, in_use: bool) -> Engine:
    """SQLite in the mode that suits the files that are there. A reader of a file in WAL mode makes
    two more beside it, unless it is told that nobody writes, or may use those that are there."""
    if not path.is_file():
        raise NotReadable(f"there is no {path.name}")
    log, shared = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    waiting = log.is_file() and log.stat().st_size > 0
    if not in_use and not waiting:
        options = "mode=ro&immutable=1"
    elif shared.is_file():
        options = "mode=ro&readonly_shm=1"
    else:
        raise NotReadable(f"writes wait in {log.name}, which the next start takes in")
    engine = create_engine(
        "sqlite+pysqlite://",
        creator=_opener(f"file:{quote(str(path.absolute()))}?{options}"),
        poolclass=NullPool,
        json_deserializer=from_json,
    )
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def _opener(uri: str) -> Callable[[], sqlite3.Connection]:
    return lambda: sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, timeout=10
    )
