"""Long work by its row: who may ask, what may follow what, and that a step counts once."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from memserver.domain.errors import (
    Busy,
    NamespaceForbidden,
    NotFound,
    OperationCancelled,
    OperationNotFound,
    PlanOutdated,
    RoleForbidden,
    WrongState,
)
from memserver.domain.operations import Operation, State
from memserver.domain.ports import PageRequest, Writer
from memserver.domain.scope import Namespace, Role, Scope
from memserver.services.operations import OperationService, Outcome
from tests.fakes.jobs import InlineJobs, ScriptedRunner
from tests.fakes.store import OperationStore

TENANT = uuid4()
NAMESPACE = Namespace(id=1, tenant=TENANT, path="team/web")
WRITER = Scope(tenant=TENANT, key=uuid4(), role=Role.WRITER, grants=("team/**",))
READER = Scope(tenant=TENANT, key=uuid4(), role=Role.READER, grants=("team/**",))
NEIGHBOUR = Scope(tenant=TENANT, key=uuid4(), role=Role.WRITER, grants=("other",))
STRANGER = Scope(tenant=uuid4(), key=uuid4(), role=Role.ADMIN, grants=("**",))


class Bench:
    """A service over a fake store, with a clock that ticks and sleeps that are only noted."""

    def __init__(self, before: Callable[[Operation, str], None] | None = None) -> None:
        self.store = OperationStore()
        self.runner = ScriptedRunner(before)
        self.woken = 0
        self.slept: list[float] = []
        self._now = datetime(2026, 1, 1, tzinfo=UTC)
        self.service = OperationService(
            store=self.store,
            runners=[self.runner],
            clock=self.tick,
            wake=self.wake,
            sleep=self.slept.append,
        )
        self.jobs = InlineJobs(self.service)

    def tick(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now

    def wake(self) -> None:
        self.woken += 1

    def request(self, *steps: str, scope: Scope = WRITER) -> Operation:
        return self.store.write(
            lambda tx: self.service.request(
                tx,
                scope,
                verb="scripted",
                namespace=NAMESPACE,
                params={"steps": list(steps)},
            )
        )

    def cancel(self, operation_id: UUID, scope: Scope = WRITER) -> Operation:
        return self.store.write(lambda tx: self.service.cancel(tx, scope, operation_id))

    def retry(self, operation_id: UUID, scope: Scope = WRITER) -> Operation:
        return self.store.write(lambda tx: self.service.retry(tx, scope, operation_id))


def raising(error: Exception, *, times: int = 1) -> Callable[[Operation, str], None]:
    left = [error] * times

    def before(_: Operation, __: str) -> None:
        if left:
            raise left.pop()

    return before


def test_a_request_is_pending_and_wakes_the_dispatcher() -> None:
    bench = Bench()

    operation = bench.request("one")

    assert operation.state is State.PENDING
    assert operation.requested_by == WRITER.key
    assert bench.store.read(operation.id) == operation
    assert bench.woken == 1


def test_a_request_that_fails_later_in_its_transaction_leaves_no_operation() -> None:
    bench = Bench()

    def work(tx: Writer) -> None:
        bench.service.request(
            tx, WRITER, verb="scripted", namespace=NAMESPACE, params={"steps": []}
        )
        raise PlanOutdated(uuid4())

    with pytest.raises(PlanOutdated):
        bench.store.write(work)

    with bench.store.reading() as reader:
        assert reader.unfinished_operations() == ()


@pytest.mark.parametrize("scope", [READER, NEIGHBOUR, STRANGER])
def test_a_key_without_the_grant_cannot_request_work(scope: Scope) -> None:
    with pytest.raises(NamespaceForbidden):
        Bench().request("one", scope=scope)


def test_a_verb_that_no_runner_knows_is_refused_when_it_is_asked_for() -> None:
    bench = Bench()

    with pytest.raises(NotFound, match="dream"):
        bench.store.write(
            lambda tx: bench.service.request(
                tx, WRITER, verb="dream", namespace=NAMESPACE, params={}
            )
        )


def test_work_runs_every_step_in_order_and_ends() -> None:
    bench = Bench()
    operation = bench.request("one", "two")

    bench.jobs.submit(operation.id, 1)

    done = bench.store.read(operation.id)
    assert done.state is State.SUCCEEDED
    assert bench.store.effects == ["one", "two"]
    assert done.steps_done == ("one", "two")
    assert (done.progress.done, done.progress.total) == (2, 2)
    assert done.report == {"one": "done", "two": "done"}
    assert done.updated_at > operation.updated_at


def test_work_without_steps_ends_as_it_begins() -> None:
    bench = Bench()
    operation = bench.request()

    assert bench.service.begin(operation.id, 1) == ()

    assert bench.store.read(operation.id).state is State.SUCCEEDED


def test_progress_tells_the_note_of_the_last_step() -> None:
    bench = Bench()
    operation = bench.request("one", "two")

    for name in bench.service.begin(operation.id, 1)[:1]:
        bench.service.step(operation.id, name)

    progress = bench.service.get(READER, operation.id).progress
    assert (progress.done, progress.total, progress.doing) == (1, 2, "one was done")


def test_a_step_that_is_done_is_not_prepared_again() -> None:
    bench = Bench()
    operation = bench.request("one")
    bench.service.begin(operation.id, 1)

    bench.service.step(operation.id, "one")
    bench.service.step(operation.id, "one")

    assert bench.runner.prepared == ["one"]
    assert bench.store.effects == ["one"]


def test_a_step_that_two_workers_prepare_takes_effect_once() -> None:
    bench = Bench()
    operation = bench.request("one")
    bench.service.begin(operation.id, 1)
    others_turn = [True]

    def the_other_worker_is_faster(_: Operation, name: str) -> None:
        if others_turn:
            others_turn.pop()
            bench.service.step(operation.id, name)

    bench.runner.before = the_other_worker_is_faster

    bench.service.step(operation.id, "one")

    assert bench.runner.prepared == ["one", "one"]
    assert bench.store.effects == ["one"]
    assert bench.store.read(operation.id).steps_done == ("one",)


def test_a_failing_effect_leaves_neither_content_nor_marker() -> None:
    bench = Bench()
    operation = bench.request("one")

    class Breaking(ScriptedRunner):
        def prepare(self, operation: Operation, step: str) -> Callable[[Writer], Outcome]:
            effect = super().prepare(operation, step)

            def breaking(tx: Writer) -> Outcome:
                effect(tx)
                raise PlanOutdated(operation.id)

            return breaking

    service = OperationService(
        store=bench.store, runners=[Breaking()], clock=bench.tick, wake=bench.wake
    )

    InlineJobs(service).submit(operation.id, 1)

    failed = bench.store.read(operation.id)
    assert failed.state is State.FAILED
    assert failed.error == f"plan_outdated: {PlanOutdated(operation.id)}"
    assert failed.steps_done == ()
    assert bench.store.effects == []


def test_the_reason_and_the_log_of_an_unexpected_failure_quote_nothing_that_users_stored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = Bench(before=raising(ValueError("Ada's secret plan")))
    operation = bench.request("one")

    with caplog.at_level(logging.DEBUG):
        bench.jobs.submit(operation.id, 1)

    error = bench.store.read(operation.id).error
    assert error is not None
    assert error.startswith("ValueError: ")
    assert "secret" not in error
    assert "secret" not in caplog.text
    assert str(operation.id) in caplog.text
    assert "in before" in caplog.text, "the log says where it was raised"


def test_what_is_unavailable_for_a_moment_is_tried_again() -> None:
    bench = Bench(before=raising(Busy("The encoder"), times=2))
    operation = bench.request("one")

    bench.jobs.submit(operation.id, 1)

    assert bench.store.read(operation.id).state is State.SUCCEEDED
    assert bench.slept == [0.5, 2.0]
    assert bench.store.effects == ["one"]


def test_what_stays_unavailable_fails_the_operation() -> None:
    bench = Bench(before=raising(Busy("The encoder"), times=99))
    operation = bench.request("one")

    bench.jobs.submit(operation.id, 1)

    failed = bench.store.read(operation.id)
    assert failed.state is State.FAILED
    assert failed.error is not None
    assert failed.error.startswith("busy: ")
    assert len(bench.slept) == 3


def test_cancelling_pending_work_ends_it_at_once_and_it_never_runs() -> None:
    bench = Bench()
    operation = bench.request("one")

    assert bench.cancel(operation.id).state is State.CANCELLED
    bench.jobs.submit(operation.id, 1)

    assert bench.store.read(operation.id).state is State.CANCELLED
    assert bench.store.effects == []


def test_cancelling_running_work_ends_it_before_the_next_effect() -> None:
    bench = Bench()
    operation = bench.request("one", "two", "three")

    def cancel_at_two(_: Operation, name: str) -> None:
        if name == "two":
            assert bench.cancel(operation.id).state is State.CANCELLING
            assert bench.cancel(operation.id).state is State.CANCELLING

    bench.runner.before = cancel_at_two

    bench.jobs.submit(operation.id, 1)

    ended = bench.store.read(operation.id)
    assert ended.state is State.CANCELLED
    assert ended.error is None
    assert bench.store.effects == ["one"]


def test_retrying_goes_on_after_the_steps_that_are_done() -> None:
    bench = Bench()
    operation = bench.request("one", "two")

    def break_at_two(_: Operation, name: str) -> None:
        if name == "two":
            raise ValueError

    bench.runner.before = break_at_two
    bench.jobs.submit(operation.id, 1)
    assert bench.store.read(operation.id).state is State.FAILED
    bench.runner.before = None

    again = bench.retry(operation.id)
    bench.jobs.submit(operation.id, again.attempt)

    assert (again.state, again.attempt, again.error) == (State.PENDING, 2, None)
    ended = bench.store.read(operation.id)
    assert ended.state is State.SUCCEEDED
    assert (ended.progress.done, ended.progress.total) == (2, 2)
    assert bench.store.effects == ["one", "two"]
    assert bench.runner.prepared == ["one", "two", "two"]


def test_an_earlier_attempt_that_comes_late_does_nothing() -> None:
    bench = Bench()
    operation = bench.request("one")
    bench.cancel(operation.id)
    bench.retry(operation.id)

    assert bench.service.begin(operation.id, 1) == ()

    assert bench.store.read(operation.id).state is State.PENDING


@pytest.mark.parametrize("ask", ["cancel", "retry"])
def test_work_that_succeeded_can_be_neither_cancelled_nor_retried(ask: str) -> None:
    bench = Bench()
    operation = bench.request("one")
    bench.jobs.submit(operation.id, 1)

    with pytest.raises(WrongState, match="succeeded"):
        getattr(bench, ask)(operation.id)


def test_work_that_has_not_ended_cannot_be_retried() -> None:
    bench = Bench()
    operation = bench.request("one")

    with pytest.raises(WrongState, match="pending"):
        bench.retry(operation.id)


@pytest.mark.parametrize("ask", ["cancel", "retry"])
def test_readers_may_watch_work_and_not_steer_it(ask: str) -> None:
    bench = Bench()
    operation = bench.request("one")

    assert bench.service.get(READER, operation.id) == operation
    with pytest.raises(RoleForbidden):
        getattr(bench, ask)(operation.id, READER)


@pytest.mark.parametrize("scope", [NEIGHBOUR, STRANGER])
def test_work_outside_a_keys_reach_is_not_there(scope: Scope) -> None:
    bench = Bench()
    operation = bench.request("one")

    with pytest.raises(OperationNotFound):
        bench.service.get(scope, operation.id)
    with pytest.raises(OperationNotFound):
        bench.cancel(operation.id, scope)
    assert bench.service.list(scope, (), PageRequest()).rows == ()
    assert bench.service.list(READER, (State.PENDING,), PageRequest()).rows == (operation,)


def test_recording_an_end_twice_keeps_the_first() -> None:
    bench = Bench()
    operation = bench.request("one")
    bench.jobs.submit(operation.id, 1)
    ended = bench.store.read(operation.id)

    bench.service.fail(operation.id, OperationCancelled(operation.id))
    bench.service.fail(operation.id, ValueError())
    bench.service.succeed(operation.id)

    assert bench.store.read(operation.id) == ended


def test_a_step_of_work_that_has_ended_is_refused() -> None:
    bench = Bench()
    operation = bench.request("one")
    bench.cancel(operation.id)

    with pytest.raises(WrongState, match="cancelled"):
        bench.service.step(operation.id, "one")


def test_work_that_is_gone_has_no_steps_and_its_end_changes_nothing() -> None:
    bench = Bench()
    gone = uuid4()

    assert bench.service.begin(gone, 1) == ()
    bench.service.succeed(gone)
    bench.service.fail(gone, ValueError())
    with pytest.raises(OperationNotFound):
        bench.service.step(gone, "one")
