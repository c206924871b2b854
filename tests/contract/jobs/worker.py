"""A worker process for the tests that kill one: the real store, the real engine, and a runner
that counts in SQL how often each step took effect. Its one argument is its data folder."""

import sys
import threading
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid5

from memserver.domain.operations import Operation
from memserver.domain.ports import Store, Writer
from memserver.jobs import DbosJobs, Dispatcher, executor_identity
from memserver.services.operations import Effect, OperationService, Outcome, Runner
from memserver.storage.sql import open_store

STEPS = ("one", "two", "three")
STEP_TAKES = 0.15
JOBS = "jobs.sqlite"


def counter(operation_id: UUID, step: str) -> str:
    """The name of the mark that counts a step's effects."""
    return uuid5(operation_id, step).hex


def now() -> datetime:
    return datetime.now(UTC)


class CountingRunner:
    verb = "count"

    def steps(self, operation: Operation) -> tuple[str, ...]:
        return STEPS

    def prepare(self, operation: Operation, step: str) -> Effect:
        print(f"preparing {operation.id} {step}", flush=True)
        time.sleep(STEP_TAKES)
        name = counter(operation.id, step)

        def effect(tx: Writer) -> Outcome:
            mark = tx.mark(name)
            tx.set_mark(name, 1 if mark is None else mark[0] + 1, "")
            # Long enough that some kills hit the open transaction.
            time.sleep(STEP_TAKES / 3)
            return Outcome(report={step: "done"})

        return effect


def service(store: Store, bell: threading.Event, runners: Iterable[Runner]) -> OperationService:
    return OperationService(store=store, runners=runners, clock=now, wake=bell.set)


def main(data: Path) -> None:
    store = open_store(f"sqlite:///{data / 'memserver.sqlite'}", clock=now)
    bell = threading.Event()
    jobs = DbosJobs(
        service(store, bell, [CountingRunner()]),
        database_url=f"sqlite:///{data / JOBS}",
        executor_id=executor_identity(data / "executor"),
        polling_interval=0.05,
    )
    jobs.start()
    dispatcher = Dispatcher(store=store, jobs=jobs, bell=bell, interval=0.05)
    dispatcher.start()
    print("ready", flush=True)
    while True:
        with store.reading() as reader:
            if not reader.unfinished_operations():
                break
        time.sleep(0.05)
    dispatcher.stop()
    jobs.stop()
    store.close()
    print("all ended", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
