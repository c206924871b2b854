"""Opening a database: its tables are made, what it holds survives, what is wrong is refused."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import event, text

from memserver.domain.errors import MemserverError
from memserver.storage.sql import open_store
from memserver.storage.sql.engines import connect
from memserver.storage.sql.migrate import migrate
from memserver.storage.sql.store import SqlStore
from memserver.storage.sql.tables import metadata
from tests.contract.store.conftest import fresh_database
from tests.contract.store.world import Clock, World, rows_of


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'new.db'}"
    return fresh_database(request.getfixturevalue("postgres"))


def test_the_migrations_make_exactly_the_tables_of_the_models(empty_url: str, clock: Clock) -> None:
    open_store(empty_url, clock=clock).close()
    engines = connect(empty_url)
    with engines.reading.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engines.dispose()


def test_opening_again_migrates_nothing(url: str, store: SqlStore, clock: Clock) -> None:
    statements: list[str] = []
    engines = connect(url)
    event.listen(engines.writing, "before_cursor_execute", lambda *args: statements.append(args[2]))
    migrate(engines)
    engines.dispose()
    assert statements
    assert not [one for one in statements if "CREATE" in one or "INSERT" in one]


def test_what_was_acknowledged_survives_closing_and_opening(url: str, clock: Clock) -> None:
    with closing(open_store(url, clock=clock)) as store:
        world = World(store, clock)
        entry = world.entry(world.namespace())
        world.apply(*rows_of(entry), world.evidence(entry))
        beliefs = world.beliefs(entry.version.id)
    with closing(open_store(url, clock=clock)) as store:
        again = replace(world, store=store)
        assert again.item(entry.item.id) == entry
        assert again.beliefs(entry.version.id) == beliefs
        position = again.apply(again.run(again.namespace())).position
    assert position == 2


def test_what_was_acknowledged_survives_the_death_of_the_process(
    tmp_path: Path, clock: Clock, empty_sqlite: Path, root: Path
) -> None:
    path = tmp_path / "killed.db"
    shutil.copy(empty_sqlite, path)
    script = f"""
import os, sys
sys.path.insert(0, {str(root)!r})
from memserver.storage.sql import open_store
from tests.contract.store.world import Clock, World, rows_of
world = World(open_store({f"sqlite:///{path}"!r}, clock=Clock()), Clock())
entry = world.entry(world.namespace())
world.apply(*rows_of(entry))
print(world.tenant.id, entry.item.id, flush=True)
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    with closing(open_store(f"sqlite:///{path}", clock=clock)) as store, store.reading() as reader:
        (document,) = reader.live_documents(None, 10)
    assert [str(document.tenant), str(document.item)] == done.stdout.split()


def test_sqlite_is_in_wal_mode_and_flushes_each_commit(tmp_path: Path, clock: Clock) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'new.db'}", clock=clock)
    with closing(store), store._engines.writing.connect() as connection:
        settings = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert settings == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 10_000,
    }


def test_another_process_may_read_a_database_in_use(url: str, world: World, clock: Clock) -> None:
    entry = world.entry(world.namespace())
    with closing(open_store(url, clock=clock)) as second:
        world.apply(*rows_of(entry))
        with second.reading() as reader:
            assert reader.item(world.scope(), entry.item.id) == entry


def test_the_data_folder_may_have_any_name(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "100% käse & more"
    folder.mkdir()
    open_store(f"sqlite:///{folder / 'a b.db'}", clock=clock).close()
    assert (folder / "a b.db").exists()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://localhost/x"])
def test_a_database_that_cannot_hold_the_truth_is_refused(url: str, clock: Clock) -> None:
    with pytest.raises((ValueError, MemserverError)):
        open_store(url, clock=clock)


def test_a_database_of_a_later_version_is_refused_and_left_alone(
    tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "later.db"
    open_store(f"sqlite:///{path}", clock=clock).close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
        raw.commit()
    with pytest.raises(Exception, match="9999"):
        open_store(f"sqlite:///{path}", clock=clock)
