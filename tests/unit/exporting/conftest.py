"""A store in a file, and a world in it."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memserver.storage.sql import open_store
from memserver.storage.sql.store import SqlStore
from tests.contract.store.world import Clock, World


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[SqlStore]:
    with closing(open_store(f"sqlite:///{tmp_path / 'memserver.db'}", clock=clock)) as opened:
        yield opened


@pytest.fixture
def world(store: SqlStore, clock: Clock) -> World:
    return World(store, clock)
