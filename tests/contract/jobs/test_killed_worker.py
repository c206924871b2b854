"""A worker that dies by SIGKILL: every operation still ends, every step took effect once."""

import queue
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from memserver.domain.operations import Operation, State
from memserver.domain.ports import Store
from memserver.domain.scope import Role, Scope, Tenant
from memserver.storage.sql import open_store
from tests.contract.jobs.worker import JOBS, STEPS, CountingRunner, counter, now, service

WITHIN = 60.0


class Worker:
    def __init__(self, data: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.contract.jobs.worker", str(data)],
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def says(self, word: str) -> None:
        """Returns when the worker has printed a line with `word` in it."""
        while word not in (line := self._lines.get(timeout=WITHIN)):
            assert line, f"the worker ended before it said {word!r}"

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self._lines.put(line)
        self._lines.put("")


class Data:
    """The folder, as an earlier server left it: operations that were requested, none begun."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._scope = Scope(tenant=uuid4(), key=uuid4(), role=Role.WRITER, grants=("**",))
        store = self._open()
        store.write(lambda tx: tx.add_tenant(Tenant(id=self._scope.tenant, name="tests")))
        store.close()

    def request(self, count: int) -> list[UUID]:
        store = self._open()
        requests = service(store, threading.Event(), [CountingRunner()])
        namespace = store.write(lambda tx: tx.ensure_namespace(self._scope.tenant, "team"))
        try:
            return [
                store.write(
                    lambda tx: requests.request(
                        tx, self._scope, verb="count", namespace=namespace, params={}
                    )
                ).id
                for _ in range(count)
            ]
        finally:
            store.close()

    def read(self, operation_id: UUID) -> tuple[Operation | None, list[int]]:
        """The operation, and how often each of its steps took effect."""
        store = self._open()
        try:
            with store.reading() as reader:
                marks = [reader.mark(counter(operation_id, step)) for step in STEPS]
                operation = reader.any_operation(operation_id)
            return operation, [0 if mark is None else mark[0] for mark in marks]
        finally:
            store.close()

    def _open(self) -> Store:
        return open_store(f"sqlite:///{self.folder / 'memserver.sqlite'}", clock=now)


@pytest.fixture
def data(tmp_path: Path) -> Data:
    return Data(tmp_path)


@pytest.fixture
def start(data: Data) -> Iterator[Callable[[], Worker]]:
    workers: list[Worker] = []

    def start() -> Worker:
        workers.append(Worker(data.folder))
        return workers[-1]

    yield start
    for worker in workers:
        worker.kill()


def assert_all_ended_once(data: Data, operations: list[UUID]) -> None:
    for operation_id in operations:
        operation, effects = data.read(operation_id)
        assert operation is not None
        assert operation.state is State.SUCCEEDED
        assert operation.steps_done == STEPS
        assert effects == [1, 1, 1]


def test_killed_in_the_middle_of_a_step_the_next_worker_goes_on(
    data: Data, start: Callable[[], Worker]
) -> None:
    operations = data.request(1)
    first = start()
    first.says("two")
    first.kill()
    left, effects = data.read(operations[0])
    assert left is not None
    assert left.state is State.RUNNING
    assert effects == [1, 0, 0]

    start().says("all ended")

    assert_all_ended_once(data, operations)


@pytest.mark.parametrize("lost", ["the engine's database", "the worker's identity"])
def test_work_ends_though_the_engine_forgot_it(
    data: Data, start: Callable[[], Worker], lost: str
) -> None:
    operations = data.request(3)
    first = start()
    first.says("two")
    first.kill()
    pattern = f"{JOBS}*" if lost == "the engine's database" else "executor"
    found = list(data.folder.glob(pattern))
    assert found
    for path in found:
        path.unlink()

    start().says("all ended")

    assert_all_ended_once(data, operations)


@pytest.mark.slow
def test_killed_at_random_moments_again_and_again_every_step_counts_once(
    data: Data, start: Callable[[], Worker]
) -> None:
    rng = random.Random(11)
    operations = data.request(6)
    for _ in range(4):
        worker = start()
        worker.says("ready")
        threading.Event().wait(rng.uniform(0.0, 0.6))
        worker.kill()

    start().says("all ended")

    assert_all_ended_once(data, operations)
