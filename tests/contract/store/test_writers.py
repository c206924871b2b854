"""Many threads write at once: their works share commits, and nothing else."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from uuid import uuid4

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError, OperationalError

from memserver.domain.changes import Change
from memserver.domain.errors import Busy, Unavailable
from memserver.domain.ports.store import Writer
from memserver.storage.sql import open_store
from memserver.storage.sql.engines import connect
from memserver.storage.sql.group_commit import GroupCommit
from memserver.storage.sql.namespaces import NamespaceCache
from memserver.storage.sql.reading import SqlReader
from memserver.storage.sql.store import SqlStore
from memserver.storage.sql.writing import SqlWriter
from tests.contract.store.world import Clock, World, rows_of


class Gate:
    """Holds the writer busy, so that what follows has to wait in its queue."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._reached = threading.Event()
        self._open = threading.Event()
        self._thread = threading.Thread(target=lambda: store.write(self._hold))

    def __enter__(self) -> "Gate":
        self._thread.start()
        assert self._reached.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.set()
        self._thread.join()

    def _hold(self, _: Writer) -> None:
        self._reached.set()
        assert self._open.wait(20)


def test_positions_rise_in_commit_order_under_eight_threads(world: World) -> None:
    here = world.namespace()
    seen: list[int] = []

    def write(_: int) -> Change:
        return world.apply(world.run(here))

    def watch(stop: threading.Event) -> None:
        """What is visible never has a gap that is filled later."""
        while not stop.is_set():
            with world.store.reading() as reader:
                positions = [entry.position for entry in reader.feed(0, 1000)]
            assert positions[: len(seen)] == seen
            seen[:] = positions

    stop = threading.Event()
    with ThreadPoolExecutor(9) as pool:
        watcher = pool.submit(watch, stop)
        changes = list(pool.map(write, range(80)))
        stop.set()
        watcher.result()
    positions = sorted(change.position for change in changes)
    assert positions == list(range(positions[0], positions[0] + 80))


def test_two_processes_take_turns_in_one_order(url: str, world: World, clock: Clock) -> None:
    here = world.namespace()
    with closing(open_store(url, clock=clock)) as second:

        def write(number: int) -> int:
            draft = world.draft(world.run(here))
            store = second if number % 2 else world.store
            return store.write(lambda tx: tx.apply(draft)).position

        with ThreadPoolExecutor(8) as pool:
            positions = list(pool.map(write, range(40)))
    assert sorted(positions) == list(range(min(positions), min(positions) + 40))


def test_works_that_wait_together_share_a_commit_but_not_a_failure(
    url: str, store: SqlStore, world: World
) -> None:
    here = world.namespace()
    commits: list[int] = []
    event.listen(store._engines.writing, "commit", lambda _: commits.append(1))

    def write(number: int) -> str:
        def work(tx: Writer) -> None:
            tx.apply(world.draft(world.run(here)))
            if number % 3 == 0:
                raise ZeroDivisionError(number)

        if number % 3 == 0:
            with pytest.raises(ZeroDivisionError, match=f"^{number}$"):
                world.store.write(work)
            return "failed"
        world.store.write(work)
        return "stored"

    with ThreadPoolExecutor(12) as pool:
        with Gate(store):
            outcomes = [pool.submit(write, number) for number in range(12)]
            _until(lambda: store._writes._queue.qsize() == 12)
        results = [outcome.result() for outcome in outcomes]
    assert results.count("failed") == 4
    assert len(commits) == 2, "one for the gate, one for all that waited behind it"
    with store.reading() as reader:
        assert len(reader.feed(0, 100)) == 8


def test_a_work_later_is_committed_before_what_is_asked_for_after_it(world: World) -> None:
    here = world.namespace()
    for _ in range(20):
        decision = world.decision(here)
        world.store.write_later(lambda tx, decision=decision: tx.add_decision(decision))
        assert world.store.write(lambda tx, d=decision: tx.decision(world.scope(), d.id))
    assert world.store.dropped == 0


def test_a_later_work_that_fails_is_counted_and_logged_and_harms_nobody(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(tx: Writer) -> None:
        tx.set_mark("index", 1, "f")
        raise ZeroDivisionError

    with caplog.at_level(logging.ERROR):
        world.store.write_later(fail)
        assert world.store.write(lambda tx: tx.mark("index")) is None
    assert world.store.dropped == 1
    assert "nobody waits for" in caplog.text


def test_a_full_queue_is_busy_for_those_who_wait_and_drops_what_may_be_lost(
    url: str, clock: Clock
) -> None:
    with closing(open_store(url, clock=clock, queue_size=2)) as store:
        with ThreadPoolExecutor(2) as pool:
            with Gate(store):
                waiting = [pool.submit(store.write, lambda tx: 1) for _ in range(2)]
                _until(lambda: store._writes._queue.qsize() == 2)
                with pytest.raises(Busy):
                    store.write(lambda tx: 2)
                store.write_later(lambda tx: None)
            assert [one.result() for one in waiting] == [1, 1]
        assert store.dropped == 1


def test_a_commit_that_fails_fails_all_of_its_works_and_the_store_lives_on(
    store: SqlStore, world: World
) -> None:
    here = world.namespace()
    engine = store._engines.writing

    def full_disk(_: object) -> None:
        raise OperationalError("COMMIT", {}, Exception("disk is full"))

    run = world.run(here)
    with ThreadPoolExecutor(2) as pool:
        with Gate(store):
            waiting = [
                pool.submit(world.apply, run),
                pool.submit(store.write, lambda tx: tx.set_mark("index", 1, "f")),
            ]
            _until(lambda: store._writes._queue.qsize() == 2)
            # The gate's own commit is to succeed.
            event.listen(engine, "begin", lambda _: event.listen(engine, "commit", full_disk))
        for one in waiting:
            with pytest.raises(OperationalError):
                one.result()
    event.remove(engine, "commit", full_disk)
    with store.reading() as reader:
        assert reader.trajectory(world.scope(), run.id) is None
        assert reader.mark("index") is None


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_work_whose_connection_was_lost_runs_again_and_counts_once(world: World) -> None:
    here = world.namespace()
    attempts: list[int] = []

    def work(tx: Writer) -> int:
        attempts.append(1)
        position = tx.apply(world.draft(world.run(here))).position
        if len(attempts) == 1:
            assert isinstance(tx, SqlWriter)
            tx._connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return position

    position = world.store.write(work)
    assert len(attempts) == 2
    with world.store.reading() as reader:
        assert [entry.position for entry in reader.feed(0, 10)] == [position]


def test_a_work_must_not_write_to_the_store_from_within(world: World) -> None:
    with pytest.raises(RuntimeError, match="wait for itself"):
        world.store.write(lambda tx: world.store.write(lambda inner: None))


def test_closing_commits_what_is_queued_and_refuses_what_comes_after(
    url: str, world: World, clock: Clock
) -> None:
    closed = open_store(url, clock=clock)
    for number in range(50):
        closed.write_later(lambda tx, number=number: tx.set_mark(f"mark-{number}", number, "f"))
    closed.close()
    closed.close()
    with world.store.reading() as reader:
        assert [reader.mark(f"mark-{number}") for number in (0, 49)] == [(0, "f"), (49, "f")]
    with pytest.raises(Unavailable):
        closed.write(lambda tx: None)


def test_sixty_four_threads_write_and_read_without_a_locked_database(world: World) -> None:
    here = world.namespace()
    scope = world.scope()

    def visit(number: int) -> None:
        entry = world.entry(here, f"note {number}")
        world.apply(*rows_of(entry), world.evidence(entry))
        with world.store.reading() as reader:
            assert reader.item(scope, entry.item.id) == entry
            assert reader.beliefs(scope, [entry.version.id])
        world.store.write_later(lambda tx: tx.add_decision(world.decision(here)))

    with ThreadPoolExecutor(64) as pool:
        for done in [pool.submit(visit, number) for number in range(192)]:
            done.result()
    assert world.store.dropped == 0
    with world.store.reading() as reader:
        assert len(reader.feed(0, 1000)) == 192


def test_a_reader_keeps_its_view_while_others_write(world: World) -> None:
    here = world.namespace()
    with world.store.reading() as reader:
        before = reader.head_position()
        world.apply(world.run(here))
        assert reader.head_position() == before
        assert reader.feed(before, 10) == ()
    with world.store.reading() as reader:
        assert reader.head_position() == before + 1


def test_a_reader_cannot_write(world: World) -> None:
    with world.store.reading() as reader:
        assert isinstance(reader, SqlReader)
        writer = SqlWriter(reader._connection, namespaces=NamespaceCache(), clock=world.clock)
        with pytest.raises(DBAPIError, match=r"read-?only"):
            writer.set_mark("index", 1, "f")


def test_a_database_that_another_process_holds_is_busy(tmp_path: object, clock: Clock) -> None:
    engines = connect(f"sqlite:///{tmp_path}/held.db")
    with closing(open_store(f"sqlite:///{tmp_path}/held.db", clock=clock)):
        pass
    other = connect(f"sqlite:///{tmp_path}/held.db")
    event.listen(engines.writing, "connect", lambda raw, _: raw.execute("PRAGMA busy_timeout = 50"))
    writes = GroupCommit(engines, lambda connection: None, capacity=4)  # type: ignore[arg-type, return-value]
    with other.writing.connect() as connection, connection.begin(), pytest.raises(Busy):
        writes.run(lambda tx: None)
    assert writes.run(lambda tx: uuid4()) is not None
    writes.close()
    engines.dispose()
    other.dispose()


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)
