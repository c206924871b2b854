"""The DBOS engine on SQLite: the contract, and what only a durable engine must get right."""

import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memserver.domain.operations import Operation, State
from memserver.jobs import DbosJobs, Dispatcher
from tests.contract.jobs.contract import (
    JobsContract,
    Workshop,
    WorkThatCannotRecord,
    until,
)

SECRET = "Ada's secret plan"


def engine(workshop: Workshop, path: Path, **settings: Any) -> DbosJobs:
    return DbosJobs(
        settings.pop("work", workshop.service),
        database_url=f"sqlite:///{path}",
        polling_interval=0.05,
        **{"executor_id": "the-worker", **settings},
    )


class TestDbosJobs(JobsContract):
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "dbos.sqlite"

    @pytest.fixture
    def jobs(self, workshop: Workshop, path: Path) -> Iterator[DbosJobs]:
        jobs = engine(workshop, path)
        jobs.start()
        yield jobs
        jobs.stop()

    def test_at_most_so_many_run_at_once(self, workshop: Workshop, jobs: DbosJobs) -> None:
        running, most = 0, 0
        lock = threading.Lock()

        def count(_: Operation, __: str) -> None:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.1)
            with lock:
                running -= 1

        workshop.runner.before = count
        operations = [workshop.request("one") for _ in range(8)]

        for operation in operations:
            jobs.submit(operation.id, 1)

        for operation in operations:
            workshop.ended(operation.id)
        assert most == 2

    def test_a_second_engine_in_the_process_is_refused(
        self, workshop: Workshop, jobs: DbosJobs, tmp_path: Path
    ) -> None:
        with pytest.raises(RuntimeError, match="another"):
            engine(workshop, tmp_path / "second.sqlite").start()

        operation = workshop.request("one")
        jobs.submit(operation.id, 1)
        assert workshop.ended(operation.id).state is State.SUCCEEDED

    def test_stopping_waits_for_a_running_step_and_starts_no_other(
        self, workshop: Workshop, path: Path
    ) -> None:
        begun = threading.Event()

        def slow(_: Operation, __: str) -> None:
            begun.set()
            time.sleep(0.3)

        workshop.runner.before = slow
        jobs = engine(workshop, path)
        jobs.start()
        operation = workshop.request("one", "two")
        jobs.submit(operation.id, 1)
        assert begun.wait(10)

        jobs.stop()

        left = workshop.store.read(operation.id)
        assert left.state is State.RUNNING
        assert left.steps_done == ("one",)

        again = engine(workshop, path)
        again.start()
        try:
            assert workshop.ended(operation.id).state is State.SUCCEEDED
        finally:
            again.stop()
        assert workshop.store.effects == ["one", "two"]

    def test_stopping_does_not_wait_long_for_a_step_that_hangs(
        self, workshop: Workshop, path: Path
    ) -> None:
        begun, release = threading.Event(), threading.Event()

        def hang(_: Operation, __: str) -> None:
            begun.set()
            release.wait(60)

        workshop.runner.before = hang
        jobs = engine(workshop, path, stop_timeout=0.2)
        jobs.start()
        operation = workshop.request("one")
        jobs.submit(operation.id, 1)
        assert begun.wait(10)

        started = time.monotonic()
        jobs.stop()
        took = time.monotonic() - started
        release.set()

        assert took < 5
        assert workshop.store.read(operation.id).state is State.RUNNING

    def test_neither_dbos_nor_the_log_sees_what_a_failure_quotes(
        self,
        workshop: Workshop,
        path: Path,
        caplog: pytest.LogCaptureFixture,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        def quote(_: Operation, __: str) -> None:
            raise ValueError(SECRET)

        workshop.runner.before = quote
        work = WorkThatCannotRecord(workshop.service)
        jobs = engine(workshop, path, work=work)
        with caplog.at_level(logging.DEBUG):
            jobs.start()
            operation = workshop.request("one")
            jobs.submit(operation.id, 1)
            assert work.asked.wait(10)
            work.broken = False
            other = workshop.request("two")
            jobs.submit(other.id, 1)
            assert workshop.ended(other.id).state is State.FAILED
            jobs.stop()

        assert SECRET not in caplog.text
        assert SECRET not in "".join(capfd.readouterr())
        with closing(sqlite3.connect(path)) as database:
            assert SECRET not in "\n".join(database.iterdump())

    def test_work_that_ended_in_dbos_alone_goes_on(self, workshop: Workshop, path: Path) -> None:
        def fail(_: Operation, __: str) -> None:
            raise ValueError

        workshop.runner.before = fail
        work = WorkThatCannotRecord(workshop.service)
        jobs = engine(workshop, path, work=work)
        jobs.start()
        try:
            operation = workshop.request("one")
            jobs.submit(operation.id, 1)
            assert work.asked.wait(10)
            workshop.runner.before = None
            work.broken = False

            def submitted_again() -> bool:
                jobs.submit(operation.id, 1)
                return workshop.store.read(operation.id).ended

            until(submitted_again)
            assert workshop.store.read(operation.id).state is State.SUCCEEDED
        finally:
            jobs.stop()

    @pytest.mark.parametrize(
        "changed", [{"executor_id": "another"}, {"application_version": "2"}], ids=str
    )
    def test_work_left_by_a_worker_that_is_no_more_is_taken_over(
        self, workshop: Workshop, path: Path, changed: dict[str, str]
    ) -> None:
        operation = self._left_running(workshop, path)
        jobs = engine(workshop, path, **changed)
        jobs.start()
        try:
            jobs.submit(operation.id, 1)
            assert workshop.ended(operation.id).state is State.SUCCEEDED
        finally:
            jobs.stop()
        assert workshop.store.effects == ["one", "two"]

    def test_work_of_another_worker_that_may_live_is_left_to_it(
        self, workshop: Workshop, path: Path
    ) -> None:
        operation = self._left_running(workshop, path)
        later = 0.0
        jobs = engine(
            workshop,
            path,
            executor_id="another",
            abandoned_after=timedelta(minutes=15),
            now=lambda: time.time() + later,
        )
        jobs.start()
        try:
            jobs.submit(operation.id, 1)
            marker = workshop.request("marker")
            jobs.submit(marker.id, 1)
            workshop.ended(marker.id)
            assert workshop.store.read(operation.id).state is State.RUNNING

            later = 16 * 60.0
            jobs.submit(operation.id, 1)
            assert workshop.ended(operation.id).state is State.SUCCEEDED
        finally:
            jobs.stop()

    def test_work_that_was_started_too_often_fails(self, workshop: Workshop, path: Path) -> None:
        operation = self._left_running(workshop, path)
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE workflow_status SET recovery_attempts = 1000")
        jobs = engine(workshop, path)
        jobs.start()
        try:

            def given_up() -> bool:
                jobs.submit(operation.id, 1)
                return workshop.store.read(operation.id).ended

            until(given_up)
        finally:
            jobs.stop()

        failed = workshop.store.read(operation.id)
        assert failed.state is State.FAILED
        assert (failed.error or "").startswith("operation_abandoned: ")

    def test_what_ended_long_ago_is_forgotten_by_dbos_at_a_start(
        self, workshop: Workshop, path: Path
    ) -> None:
        jobs = engine(workshop, path)
        jobs.start()
        operation = workshop.request("one")
        jobs.submit(operation.id, 1)
        workshop.ended(operation.id)
        until(lambda: self._workflows(path) == [("SUCCESS",)])
        jobs.stop()

        in_a_while = engine(workshop, path, now=lambda: time.time() + 8 * 86400)
        in_a_while.start()
        in_a_while.stop()

        assert self._workflows(path) == []

    def test_the_dispatcher_finds_what_was_requested_and_sees_it_through(
        self, workshop: Workshop, jobs: DbosJobs
    ) -> None:
        dispatcher = Dispatcher(store=workshop.store, jobs=jobs, bell=threading.Event())
        dispatcher.start()
        try:
            operation = workshop.request("one", "two")
            assert workshop.ended(operation.id).state is State.SUCCEEDED
        finally:
            dispatcher.stop()

    def _left_running(self, workshop: Workshop, path: Path) -> Operation:
        """An operation whose worker stopped after the first of two steps."""
        done = threading.Event()

        def stop_at_two(_: Operation, step: str) -> None:
            if step == "two":
                done.set()
                time.sleep(0.5)
                raise ConnectionError

        workshop.runner.before = stop_at_two
        jobs = engine(workshop, path)
        jobs.start()
        operation = workshop.request("one", "two")
        jobs.submit(operation.id, 1)
        assert done.wait(10)
        jobs.stop()
        workshop.runner.before = None
        assert workshop.store.read(operation.id).state is State.RUNNING
        return operation

    def _workflows(self, path: Path) -> list[tuple[str]]:
        with closing(sqlite3.connect(path)) as database:
            return database.execute("SELECT status FROM workflow_status").fetchall()


def test_an_engine_that_was_not_started_takes_no_work_and_stops_quietly(tmp_path: Path) -> None:
    jobs = engine(Workshop(), tmp_path / "dbos.sqlite")

    with pytest.raises(RuntimeError, match="not started"):
        jobs.submit(uuid4(), 1)
    jobs.stop()
