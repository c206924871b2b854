"""What the embedded engine does to whoever uses it, and what its adapter makes of it."""

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
import qdrant_edge as engine

from memserver.domain.errors import Busy, DataInUse, InvalidPoint, Unavailable
from memserver.storage.index import EdgeIndex
from memserver.storage.index.edge_shard import EngineFailed, EngineRefused
from tests.contract.index.points import DIMENSION, dense, key, point, sparse

MISMATCHED = engine.SparseVector([1, 2], [1.0])


def poison() -> engine.UpdateOperation:
    """A sparse vector whose terms and weights differ in number, past all checks."""
    bad = engine.Point(
        id=UUID(int=99),
        vector={"dense": [1.0] * DIMENSION, "bm25": MISMATCHED},
        payload={"ns": "1", "doc": str(UUID(int=99))},
    )
    return engine.UpdateOperation.upsert_points([bad])


def opened(path: Path, **settings: int) -> EdgeIndex:
    return EdgeIndex(path, dimension=settings.pop("dimension", DIMENSION), **settings)


def filled(path: Path, count: int = 20) -> EdgeIndex:
    index = opened(path)
    index.upsert([point(number, f"cup c{number}") for number in range(count)])
    return index


def asides(path: Path) -> list[str]:
    return sorted(one.name for one in path.parent.glob(f"{path.name}.aside-*"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "shard"


def test_what_was_stored_is_there_after_closing_and_opening(path: Path) -> None:
    filled(path).close()
    index = opened(path)

    assert index.resets == ()
    assert index.documents() == {key(number) for number in range(20)}
    assert [hit.document.int for hit in index.search([sparse("c7")])[0]] == [7]
    index.close()


def test_a_poisoned_log_is_set_aside_at_the_start_and_the_index_starts_empty(path: Path) -> None:
    filled(path).close()
    shard = engine.EdgeShard.load(str(path))
    with pytest.raises(BaseException, match="out of bounds") as panic:
        shard.update(poison())
    assert not isinstance(panic.value, Exception)
    shard.close()
    del shard

    index = opened(path)

    assert index.count() == 0
    assert len(index.resets) == 1
    assert "set aside" in index.resets[0]
    assert asides(path) == ["shard.aside-1"]
    index.upsert([point(1, "cup")])
    assert index.search([dense("cup")])[0][0].document == UUID(int=1)
    index.close()
    again = opened(path)
    assert (again.count(), again.resets) == (1, ())
    again.close()


def test_a_panic_while_serving_is_refused_and_the_index_goes_on(path: Path) -> None:
    index = filled(path)

    with pytest.raises(EngineRefused) as refused:
        index._thread.write(lambda: index._shard.write(poison()))

    assert isinstance(refused.value, InvalidPoint)
    # The poison is in the log by now, so what was there has to be built again.
    assert len(index.resets) == 2
    index.upsert([point(1, "cup")])
    assert index.count() == 1
    index.close()


def test_a_panic_of_a_read_loses_nothing(path: Path) -> None:
    index = filled(path)

    class Panic(BaseException):
        pass

    def panic(shard: engine.EdgeShard) -> None:
        raise Panic("the engine panicked")

    def fail(shard: engine.EdgeShard) -> None:
        raise RuntimeError("Service runtime error")

    for call in (fail, panic):
        with pytest.raises(EngineFailed) as failed:
            index._read(call)
        assert isinstance(failed.value, Unavailable)

    assert index.count() == 20
    assert len(index.resets) == 1
    index.close()


def test_a_batch_that_the_engine_stops_in_the_middle_of_leaves_nothing(path: Path) -> None:
    index = filled(path, count=1)
    good, bad = (
        engine.Point(id=UUID(int=n), vector={"dense": [1.0] * size}, payload={"ns": "1"})
        for n, size in ((50, DIMENSION), (51, DIMENSION + 1))
    )
    undo = engine.UpdateOperation.delete_points([UUID(int=50), UUID(int=51)])
    both = engine.UpdateOperation.upsert_points([good, bad])

    with pytest.raises(EngineRefused):
        index._thread.write(lambda: index._shard.write(both, undo=undo))

    assert index.count() == 1
    index.close()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: shutil.rmtree(path / "segments"),
        lambda path: shutil.rmtree(path / "wal"),
        lambda path: [shutil.rmtree(path / "wal"), (path / "wal").mkdir()],
        lambda path: (path / "edge_config.json").write_text("{"),
        lambda path: [one.write_bytes(b"\0" * 64) for one in path.rglob("*") if one.is_file()],
        lambda path: [shutil.rmtree(path), path.write_text("a file where a folder was")],
    ],
    ids=["no segments", "no log", "an empty log", "broken settings", "all zeros", "no folder"],
)
def test_a_damaged_folder_never_keeps_the_index_from_opening(
    path: Path, damage: Callable[[Path], object]
) -> None:
    index = filled(path)
    index.flush()
    index.close()
    damage(path)

    index = opened(path)

    # Either nothing was lost, or it is said that all was.
    assert index.count() == (0 if index.resets else 20)
    index.upsert([point(1, "cup")])
    assert index.search([dense("cup")])[0][0].document == UUID(int=1)
    index.close()


def test_another_dimension_is_set_aside(path: Path) -> None:
    filled(path).close()

    index = opened(path, dimension=DIMENSION * 2)

    assert index.count() == 0
    assert asides(path) == ["shard.aside-1"]
    index.close()


def test_only_the_newest_three_are_kept_aside(path: Path) -> None:
    for dimension in (8, 16, 24, 32, 40):
        opened(path, dimension=dimension).close()

    assert asides(path) == ["shard.aside-2", "shard.aside-3", "shard.aside-4"]


def test_opening_it_empty_throws_away_what_is_there(path: Path) -> None:
    filled(path).close()

    index = EdgeIndex(path, dimension=8, empty=True)

    assert (index.count(), asides(path)) == (0, [])
    index.close()


def test_a_second_index_in_the_same_folder_is_refused(path: Path) -> None:
    first = filled(path)

    with pytest.raises(DataInUse, match="shard"):
        opened(path)

    assert first.count() == 20
    first.close()
    opened(path).close()


def test_a_second_process_is_refused(path: Path) -> None:
    index = filled(path)
    script = (
        "import sys; from pathlib import Path; from memserver.storage.index import EdgeIndex; "
        f"EdgeIndex(Path(sys.argv[1]), dimension={DIMENSION})"
    )
    command = [sys.executable, "-c", script, str(path)]

    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    index.close()
    accepted = subprocess.run(command, capture_output=True, text=True, check=False)

    assert "DataInUse" in refused.stderr
    assert accepted.returncode == 0, accepted.stderr


def test_a_full_queue_is_busy(path: Path) -> None:
    index = opened(path, reads=1)
    entered, gate = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        gate.wait(10)

    holder = threading.Thread(target=index._thread.write, args=(hold,))
    holder.start()
    assert entered.wait(10)
    waiting = threading.Thread(target=index.count)
    waiting.start()
    while not index._thread._queues["read"]:
        waiting.join(0.001)

    with pytest.raises(Busy):
        index.search([dense("cup")])

    gate.set()
    holder.join()
    waiting.join()
    index.close()


def test_many_threads_search_while_another_writes(path: Path) -> None:
    index = filled(path)
    stop = threading.Event()
    failures: list[BaseException] = []

    def search() -> None:
        try:
            while not stop.is_set():
                hits = index.search([dense("cup c3", limit=5), sparse("c3", limit=5)])
                assert [hit.document.int for hit in hits[1]] == [3]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(6)]
    for thread in threads:
        thread.start()
    for number in range(100, 130):
        index.upsert([point(number * 10 + n, "plate") for n in range(10)])
    stop.set()
    for thread in threads:
        thread.join()

    assert failures == []
    assert index.count() == 320
    index.close()


def test_a_closed_index_is_unavailable_and_may_be_closed_again(path: Path) -> None:
    index = filled(path)
    index.close()
    index.close()

    with pytest.raises(Unavailable):
        index.count()
