"""One thread for the engine: reads first, nobody starved, full means busy, panics survive."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from memserver.domain.errors import Busy, Unavailable
from memserver.storage.index.engine_thread import EngineThread

SOON_S = 10.0


class Panic(BaseException):
    """What the engine raises when it panics is no Exception."""


class Line:
    """An engine thread that is held by a first task, and callers who queue behind it."""

    def __init__(self, *, reads: int = 8, writes: int = 8, patience: int = 100) -> None:
        self.engine = EngineThread(reads=reads, writes=writes, patience=patience)
        self.order: list[str] = []
        self.threads: list[threading.Thread] = []
        self.gate = threading.Event()
        entered = threading.Event()

        def hold() -> None:
            entered.set()
            self.gate.wait(SOON_S)

        self._start(lambda: self.engine.write(hold))
        assert entered.wait(SOON_S)

    def queue(self, kind: str, name: str) -> None:
        submit = self.engine.read if kind == "read" else self.engine.write
        waiting = len(self.engine._queues[kind])
        self._start(lambda: submit(lambda: self.order.append(name)))
        deadline = time.monotonic() + SOON_S
        while len(self.engine._queues[kind]) == waiting:
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def finish(self) -> list[str]:
        self.gate.set()
        for thread in self.threads:
            thread.join(SOON_S)
        self.engine.close(lambda: None)
        return self.order

    def _start(self, work: Callable[[], object]) -> None:
        thread = threading.Thread(target=work)
        thread.start()
        self.threads.append(thread)


@pytest.fixture
def engine() -> Iterator[EngineThread]:
    made = EngineThread()
    yield made
    made.close(lambda: None)


def test_a_task_runs_on_the_one_thread_and_its_result_comes_back(engine: EngineThread) -> None:
    names = {engine.read(lambda: threading.current_thread().name) for _ in range(3)}
    names.add(engine.write(lambda: threading.current_thread().name))

    assert names == {"index-engine"}


def test_reads_go_before_writes_that_came_earlier() -> None:
    line = Line()
    for kind, name in [("write", "w1"), ("read", "r1"), ("write", "w2"), ("read", "r2")]:
        line.queue(kind, name)

    assert line.finish() == ["r1", "r2", "w1", "w2"]


def test_a_write_gets_its_turn_after_enough_reads() -> None:
    line = Line(patience=2)
    line.queue("write", "w1")
    line.queue("write", "w2")
    for number in range(5):
        line.queue("read", f"r{number}")

    assert line.finish() == ["r0", "r1", "w1", "r2", "r3", "w2", "r4"]


@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_full_queue_is_busy_and_keeps_what_it_has(kind: str) -> None:
    line = Line(reads=2, writes=2)
    line.queue(kind, "first")
    line.queue(kind, "second")
    submit = line.engine.read if kind == "read" else line.engine.write

    with pytest.raises(Busy):
        submit(lambda: line.order.append("third"))

    assert line.finish() == ["first", "second"]


@pytest.mark.parametrize("raised", [ValueError("no"), Panic("panicked")])
def test_what_a_task_raises_its_caller_gets_and_the_thread_lives_on(
    engine: EngineThread, raised: BaseException
) -> None:
    def fail() -> None:
        raise raised

    with pytest.raises(type(raised)):
        engine.read(fail)

    assert engine.read(lambda: 7) == 7


def test_closing_runs_what_waits_then_the_last_task_and_refuses_more() -> None:
    line = Line()
    line.queue("write", "w1")
    line.queue("read", "r1")
    closing = threading.Thread(target=line.engine.close, args=(lambda: line.order.append("last"),))
    closing.start()
    time.sleep(0.05)

    assert line.finish() == ["r1", "w1", "last"]
    closing.join(SOON_S)
    with pytest.raises(Unavailable):
        line.engine.read(lambda: None)


def test_a_forked_child_is_refused_instead_of_hanging() -> None:
    script = """
import os
from memserver.domain.errors import Unavailable
from memserver.storage.index.engine_thread import EngineThread

engine = EngineThread()
assert engine.read(lambda: 1) == 1
child = os.fork()
if child == 0:
    try:
        engine.read(lambda: 1)
    except Unavailable:
        os._exit(0)
    os._exit(1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", script], timeout=60, check=False)

    assert ran.returncode == 0
