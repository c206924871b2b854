"""The indexer between the real store and the real embedded index: what SQL says is live is what
a search finds, after changes, restarts, losses and a change of tenant."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from memserver.domain.changes import RowRef, Table
from memserver.domain.items import Kind
from memserver.domain.ports import Filter, Leg
from memserver.services.indexing import Indexer, audit
from memserver.storage.encoders import Bm25Encoder
from memserver.storage.index import EdgeIndex
from memserver.storage.sql import open_store
from tests.contract.store.world import Clock, World
from tests.fakes.encoder import HashEncoder

SOON_S = 20.0
bm25 = Bm25Encoder()


class Live:
    """A store and an index in one folder, and what runs between them until `stop`."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.folder = folder
        self.start()

    def start(self) -> None:
        self.store = open_store(f"sqlite:///{self.folder / 'memserver.db'}", clock=self.clock)
        self.encoder = HashEncoder()
        self.index = EdgeIndex(self.folder / "index", dimension=self.encoder.dimension)
        self.indexer = Indexer(
            self.store, self.index, self.encoder, bm25, flush_every_s=0.2, poll_every_s=0.02
        )
        self.indexer.start()

    def stop(self) -> None:
        self.indexer.stop()
        self.index.close()
        self.store.close()

    def settle(self) -> None:
        with self.store.reading() as reader:
            head = reader.head_position()
        self.indexer.wake()
        self.indexer.reached(head).result(SOON_S)

    def found(self, text: str, namespace_id: int, **where: object) -> list[UUID]:
        self.settle()
        leg = Leg(Filter((namespace_id,), **where), 50, sparse=bm25.query(text))  # type: ignore[arg-type]
        return [hit.document for hit in self.index.search([leg])[0]]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    made = Live(tmp_path)
    yield made
    made.stop()


def test_runs_and_items_are_found_and_forgotten_ones_are_not(live: Live) -> None:
    world = World(live.store, live.clock)
    team = world.namespace()
    run, kept, forgotten = world.run(team), world.entry(team, "mug"), world.entry(team, "mug too")
    for entry in (kept, forgotten):
        world.apply(entry.item, entry.version)
    world.apply(run)
    assert set(live.found("mug", team.id)) == {run.id, kept.version.id, forgotten.version.id}
    assert live.found("mug", team.id, kinds=("trajectory",)) == [run.id]
    assert live.found("mug", team.id, kinds=(Kind.NOTE.value,), task_types=("other",)) == []

    change = world.apply(
        deletes=(
            RowRef(Table.VERSION, forgotten.version.id),
            RowRef(Table.ITEM, forgotten.item.id),
            RowRef(Table.TRAJECTORY, run.id),
        )
    )
    assert live.found("mug", team.id) == [kept.version.id]

    world.undo(change)
    assert set(live.found("mug", team.id)) == {run.id, kept.version.id, forgotten.version.id}
    assert not audit(live.store, live.index)


def test_an_undone_insert_leaves_nothing_behind(live: Live) -> None:
    world = World(live.store, live.clock)
    team = world.namespace()
    entry = world.entry(team, "mug")
    change = world.apply(entry.item, entry.version)
    assert live.found("mug", team.id) == [entry.version.id]

    world.undo(change)

    assert live.found("mug", team.id) == []
    assert live.index.count() == 0


def test_deleting_ones_own_run_leaves_another_tenants_run_with_the_same_id(live: Live) -> None:
    mine, theirs = World(live.store, live.clock), World(live.store, live.clock).another()
    here, there = mine.namespace(), theirs.namespace()
    run = mine.run(here)
    copied = theirs.run(there)
    copied = type(copied)(**{f: getattr(copied, f) for f in copied.__slots__} | {"id": run.id})
    mine.apply(run)
    theirs.apply(copied)
    assert live.found("mug", there.id) == [run.id]

    mine.apply(deletes=(RowRef(Table.TRAJECTORY, run.id),))

    assert live.found("mug", here.id) == []
    assert live.found("mug", there.id) == [run.id]


def test_a_restart_follows_what_was_written_meanwhile(live: Live) -> None:
    world = World(live.store, live.clock)
    team = world.namespace()
    world.apply(first := world.run(team))
    live.settle()
    live.indexer.stop()
    world.apply(second := world.run(team))
    live.stop()

    live.start()

    assert set(live.found("mug", team.id)) == {first.id, second.id}
    assert live.index.resets == ()


def test_a_lost_index_is_rebuilt_from_sql_without_embedding(live: Live, tmp_path: Path) -> None:
    world = World(live.store, live.clock)
    team = world.namespace()
    runs = [world.run(team, f"put mug number {number} away") for number in range(300)]
    world.apply(*runs)
    live.settle()
    live.stop()
    for file in (tmp_path / "index").rglob("*"):
        if file.is_file():
            file.write_bytes(b"\0" * 32)

    live.start()

    assert len(live.found("mug", team.id)) == 50
    assert live.index.count() == 300
    assert live.encoder.encoded == []
    assert not audit(live.store, live.index)


def test_a_rebuild_mends_an_index_that_has_drifted(live: Live) -> None:
    world = World(live.store, live.clock)
    team = world.namespace()
    runs = [world.run(team, f"mug {number}") for number in range(10)]
    world.apply(*runs)
    live.settle()
    stray = next(iter(live.index.documents()))
    live.index.delete_documents([stray])
    assert audit(live.store, live.index).missing == (stray,)

    assert live.indexer.rebuild().result(SOON_S) == 10

    assert not audit(live.store, live.index)
