"""Database connections: what SQLite and PostgreSQL need to be told before their first query."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from memserver.storage.sql.types import from_json, to_json

_READERS = 16
_MORE_READERS = 48
_WAIT_S = 10
# One number of our own among the advisory locks of the database.
_WRITE_LOCK = 0x6D656D73


@dataclass(frozen=True, slots=True)
class Engines:
    """`reading` gives read-only connections whose transactions see one state; `writing` gives
    the one connection of the writer."""

    reading: Engine
    writing: Engine

    def lock(self, connection: Connection) -> None:
        """Waits until no other process writes; held until the transaction ends. SQLite's
        BEGIN IMMEDIATE has done so already."""
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_WRITE_LOCK})"))

    def dispose(self) -> None:
        self.reading.dispose()
        self.writing.dispose()


def connect(address: str) -> Engines:
    """Engines for `sqlite:///path` or `postgresql://…`. Nothing is opened yet. ValueError for
    any other database, and for SQLite in memory, which two connections cannot share."""
    url = make_url(address)
    match url.get_backend_name():
        case "sqlite":
            if url.database in (None, "", ":memory:"):
                raise ValueError("SQLite needs a file: sqlite:///path/to/memserver.db")
            return Engines(_sqlite(url, writing=False), _sqlite(url, writing=True))
        case "postgresql" | "postgres":
            url = url.set(drivername="postgresql+psycopg")
            return Engines(_postgres_reading(url), _postgres_writing(url))
        case other:
            raise ValueError(f"The store knows sqlite and postgresql, not {other!r}.")


def _sqlite(url: URL, *, writing: bool) -> Engine:
    engine = create_engine(
        url.set(drivername="sqlite+pysqlite"),
        poolclass=QueuePool,
        pool_size=1 if writing else _READERS,
        max_overflow=0 if writing else _MORE_READERS,
        pool_timeout=_WAIT_S,
        # The driver begins no transaction by itself: it would not before a SELECT or SAVEPOINT.
        connect_args={"check_same_thread": False, "isolation_level": None, "timeout": _WAIT_S},
        json_serializer=to_json,
        json_deserializer=from_json,
    )
    pragmas = [
        "PRAGMA foreign_keys = ON",
        f"PRAGMA busy_timeout = {_WAIT_S * 1000}",
        "PRAGMA temp_store = MEMORY",
        # FULL: what was acknowledged outlives a loss of power, not only a crash of the process.
        *(
            ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"]
            if writing
            else ["PRAGMA query_only = ON"]
        ),
    ]
    begin = "BEGIN IMMEDIATE" if writing else "BEGIN"

    def on_connect(connection: Any, _: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(pragma)
        cursor.close()

    def on_begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", on_connect)
    event.listen(engine, "begin", on_begin)
    return engine


def _postgres_reading(url: URL) -> Engine:
    engine = create_engine(
        url,
        pool_size=_READERS,
        max_overflow=_MORE_READERS,
        pool_timeout=_WAIT_S,
        pool_pre_ping=True,
        json_serializer=to_json,
    )
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def _postgres_writing(url: URL) -> Engine:
    """READ COMMITTED, so that what is read after the lock was waited for is what is there."""
    return create_engine(
        url,
        pool_size=1,
        max_overflow=0,
        pool_pre_ping=True,
        isolation_level="READ COMMITTED",
        # A process that hangs in the middle must not stop all others for ever.
        connect_args={"options": "-c lock_timeout=30s -c idle_in_transaction_session_timeout=60s"},
        json_serializer=to_json,
    )
