"""What every job engine promises, whatever it runs on."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from memserver.domain.errors import PlanOutdated
from memserver.domain.operations import Operation, State
from memserver.domain.ports import Jobs, Work
from memserver.domain.scope import Namespace, Role, Scope
from memserver.services.operations import OperationService
from tests.fakes.jobs import ScriptedRunner
from tests.fakes.store import OperationStore

TENANT = uuid4()
NAMESPACE = Namespace(id=1, tenant=TENANT, path="team")
SCOPE = Scope(tenant=TENANT, key=uuid4(), role=Role.WRITER, grants=("**",))
PATIENCE = 20.0


def until(true: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Returns once `true()` holds; fails the test if that takes too long."""
    deadline = time.monotonic() + patience
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


class Workshop:
    """A service over a store in memory, and what tests do with it."""

    def __init__(self) -> None:
        self.store = OperationStore()
        self.runner = ScriptedRunner()
        self.service = OperationService(
            store=self.store,
            runners=[self.runner],
            clock=lambda: datetime.now(UTC),
            wake=lambda: None,
            backoff=(0.0, 0.0),
        )

    def request(self, *steps: str) -> Operation:
        return self.store.write(
            lambda tx: self.service.request(
                tx, SCOPE, verb="scripted", namespace=NAMESPACE, params={"steps": list(steps)}
            )
        )

    def cancel(self, operation_id: UUID) -> Operation:
        return self.store.write(lambda tx: self.service.cancel(tx, SCOPE, operation_id))

    def retry(self, operation_id: UUID) -> Operation:
        return self.store.write(lambda tx: self.service.retry(tx, SCOPE, operation_id))

    def ended(self, operation_id: UUID) -> Operation:
        until(lambda: self.store.read(operation_id).ended)
        return self.store.read(operation_id)


class WorkThatCannotRecord:
    """Passes everything on, except that it cannot record failures for a while."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.broken = True
        self.asked = threading.Event()
        self.begin, self.step, self.succeed = work.begin, work.step, work.succeed

    def fail(self, operation_id: UUID, error: BaseException) -> None:
        self.asked.set()
        if self.broken:
            raise OSError(f"the database is gone; what it could not store was: {error}")
        self._work.fail(operation_id, error)


class JobsContract:
    """Subclasses give `jobs`, an engine that was started on `workshop.service`."""

    @pytest.fixture
    def workshop(self) -> Workshop:
        return Workshop()

    def test_submitted_work_runs_to_its_end(self, workshop: Workshop, jobs: Jobs) -> None:
        operation = workshop.request("one", "two", "three")

        jobs.submit(operation.id, 1)

        assert workshop.ended(operation.id).state is State.SUCCEEDED
        assert workshop.store.effects == ["one", "two", "three"]

    def test_a_failing_step_ends_the_work_and_says_why(
        self, workshop: Workshop, jobs: Jobs
    ) -> None:
        operation = workshop.request("one", "two")

        def break_at_two(operation: Operation, step: str) -> None:
            if step == "two":
                raise PlanOutdated(operation.id)

        workshop.runner.before = break_at_two

        jobs.submit(operation.id, 1)

        failed = workshop.ended(operation.id)
        assert failed.state is State.FAILED
        assert failed.error == f"plan_outdated: {PlanOutdated(operation.id)}"
        assert workshop.store.effects == ["one"]

    def test_work_whose_steps_cannot_be_named_fails(self, workshop: Workshop, jobs: Jobs) -> None:
        operation = workshop.request("one")
        workshop.store.write(lambda tx: tx.put_operation(replace(operation, verb="unheard-of")))

        jobs.submit(operation.id, 1)

        failed = workshop.ended(operation.id)
        assert failed.state is State.FAILED
        assert "unheard-of" in (failed.error or "")

    def test_cancelled_before_its_start_it_never_runs(self, workshop: Workshop, jobs: Jobs) -> None:
        cancelled, other = workshop.request("one"), workshop.request("two")
        workshop.cancel(cancelled.id)

        jobs.submit(cancelled.id, 1)
        jobs.submit(other.id, 1)

        workshop.ended(other.id)
        assert workshop.store.read(cancelled.id).state is State.CANCELLED
        assert workshop.store.effects == ["two"]

    def test_cancelled_while_it_runs_it_stops_before_the_next_effect(
        self, workshop: Workshop, jobs: Jobs
    ) -> None:
        operation = workshop.request("one", "two", "three")

        def cancel_at_two(operation: Operation, step: str) -> None:
            if step == "two":
                workshop.cancel(operation.id)

        workshop.runner.before = cancel_at_two

        jobs.submit(operation.id, 1)

        assert workshop.ended(operation.id).state is State.CANCELLED
        assert workshop.store.effects == ["one"]

    def test_a_retry_goes_on_where_the_work_failed(self, workshop: Workshop, jobs: Jobs) -> None:
        operation = workshop.request("one", "two")

        def break_at_two(_: Operation, step: str) -> None:
            if step == "two":
                raise ValueError

        workshop.runner.before = break_at_two
        jobs.submit(operation.id, 1)
        assert workshop.ended(operation.id).state is State.FAILED
        workshop.runner.before = None

        jobs.submit(operation.id, workshop.retry(operation.id).attempt)

        assert workshop.ended(operation.id).state is State.SUCCEEDED
        assert workshop.store.effects == ["one", "two"]

    def test_an_attempt_submitted_twice_runs_once(self, workshop: Workshop, jobs: Jobs) -> None:
        operation = workshop.request("one", "two")

        jobs.submit(operation.id, 1)
        jobs.submit(operation.id, 1)
        workshop.ended(operation.id)
        jobs.submit(operation.id, 1)
        following = workshop.request("after")
        jobs.submit(following.id, 1)
        workshop.ended(following.id)

        assert workshop.runner.prepared == ["one", "two", "after"]
        assert workshop.store.effects == ["one", "two", "after"]

    def test_much_work_at_once_all_ends(self, workshop: Workshop, jobs: Jobs) -> None:
        operations = [workshop.request("one", "two") for _ in range(12)]

        for operation in operations:
            jobs.submit(operation.id, 1)

        for operation in operations:
            assert workshop.ended(operation.id).state is State.SUCCEEDED
        assert len(workshop.store.effects) == 24
