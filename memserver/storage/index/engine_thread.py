"""The one thread that touches the embedded engine. Its calls hold Python's global lock, so more
threads add no throughput and starve one another; one with a queue is fair."""

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from memserver.domain.errors import Busy, Unavailable

T = TypeVar("T")
WHAT = "The vector index"


class EngineThread:
    """Runs tasks one after another, reads before writes; `Busy` where too many wait.

    After `patience` reads in a row a waiting write gets its turn, so that searches under load
    cannot keep the index from following what is written. What a task raises, its caller gets,
    also where it is no `Exception`: the engine's panics are not.
    """

    def __init__(self, *, reads: int = 256, writes: int = 64, patience: int = 32) -> None:
        self._limits = {"read": reads, "write": writes}
        self._queues: dict[str, deque[tuple[Callable[[], Any], Future[Any]]]] = {
            "read": deque(),
            "write": deque(),
        }
        self._patience = patience
        self._reads_in_a_row = 0
        self._changed = threading.Condition()
        self._closed = False
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._run, name="index-engine", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether tasks are run; readiness depends on it."""
        return self._thread.is_alive()

    def read(self, task: Callable[[], T]) -> T:
        """Runs `task` on the thread and returns what it does."""
        return self._submit("read", task)

    def write(self, task: Callable[[], T]) -> T:
        """As `read`, behind the reads."""
        return self._submit("write", task)

    def close(self, last: Callable[[], None]) -> None:
        """Runs what waits, then `last`, and ends the thread. Later tasks are refused; closing
        again does nothing."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            done: Future[Any] = Future()
            self._queues["write"].append((last, done))
            self._changed.notify()
        self._thread.join()
        done.result()

    def _submit(self, kind: str, task: Callable[[], T]) -> T:
        if os.getpid() != self._process:
            # The thread does not exist in a forked child; waiting for it would never end.
            raise Unavailable(f"{WHAT} was opened before this process was forked; spawn instead.")
        with self._changed:
            if self._closed:
                raise Unavailable(f"{WHAT} is closed.")
            queue = self._queues[kind]
            if len(queue) >= self._limits[kind]:
                raise Busy(WHAT)
            answer: Future[T] = Future()
            queue.append((task, answer))
            self._changed.notify()
        return answer.result()

    def _run(self) -> None:
        try:
            self._serve()
        finally:
            self._end()

    def _end(self) -> None:
        """Whoever waits must not wait for ever, should this thread die of something."""
        with self._changed:
            self._closed = True
            waiting = [answer for queue in self._queues.values() for _, answer in queue]
            for queue in self._queues.values():
                queue.clear()
        for answer in waiting:
            answer.set_exception(Unavailable(f"{WHAT} has stopped."))

    def _serve(self) -> None:
        while (taken := self._take()) is not None:
            task, answer = taken
            try:
                result = task()
            except BaseException as error:  # panics as well; the thread must live on
                answer.set_exception(error)
            else:
                answer.set_result(result)
            del taken, task, answer

    def _take(self) -> tuple[Callable[[], Any], Future[Any]] | None:
        reads, writes = self._queues["read"], self._queues["write"]
        with self._changed:
            while not reads and not writes:
                if self._closed:
                    return None
                self._changed.wait()
            if reads and not (writes and self._reads_in_a_row >= self._patience):
                self._reads_in_a_row += 1
                return reads.popleft()
            self._reads_in_a_row = 0
            return writes.popleft()
