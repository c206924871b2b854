"""The dispatcher: every accepted operation is submitted, and what the engine lost is again."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from memserver.domain.operations import Operation, State
from memserver.domain.scope import Namespace
from memserver.jobs import Dispatcher
from tests.fakes.store import OperationStore

TENANT = uuid4()
T0 = datetime(2026, 1, 1, tzinfo=UTC)


class NotedJobs:
    """Notes what is submitted, and refuses for a while where told so."""

    def __init__(self) -> None:
        self.submitted: list[tuple[UUID, int]] = []
        self.refusals = 0
        self.notice = threading.Event()

    def submit(self, operation_id: UUID, attempt: int) -> None:
        if self.refusals:
            self.refusals -= 1
            raise ConnectionError("no database")
        self.submitted.append((operation_id, attempt))
        self.notice.set()

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Desk:
    def __init__(self, interval: float = 60.0) -> None:
        self.store = OperationStore()
        self.jobs = NotedJobs()
        self.bell = threading.Event()
        self.time = 0.0
        self.dispatcher = Dispatcher(
            store=self.store,
            jobs=self.jobs,
            bell=self.bell,
            interval=interval,
            reconcile_every=5.0,
            monotonic=lambda: self.time,
        )

    def put(self, state: State = State.PENDING) -> Operation:
        operation = Operation(
            id=uuid4(),
            tenant=TENANT,
            namespace=Namespace(id=1, tenant=TENANT, path="team"),
            verb="distill",
            params={},
            state=state,
            requested_by=uuid4(),
            created_at=T0,
            updated_at=T0,
        )
        return self.change(operation)

    def change(self, operation: Operation) -> Operation:
        self.store.write(lambda tx: tx.put_operation(operation))
        return operation

    def looked(self) -> list[tuple[UUID, int]]:
        """What one look submits."""
        self.jobs.submitted.clear()
        self.dispatcher.look()
        return list(self.jobs.submitted)


@pytest.fixture
def running() -> Iterator[Callable[[Desk], Desk]]:
    desks: list[Desk] = []

    def start(desk: Desk) -> Desk:
        desk.dispatcher.start()
        desks.append(desk)
        return desk

    yield start
    for desk in desks:
        desk.dispatcher.stop()


def test_a_pending_operation_is_submitted_once() -> None:
    desk = Desk()
    desk.looked()
    operation = desk.put()

    assert desk.looked() == [(operation.id, 1)]
    assert desk.looked() == []


def test_a_retry_is_submitted_as_another_attempt() -> None:
    desk = Desk()
    operation = desk.put()
    desk.looked()

    desk.change(replace(operation, attempt=2))

    assert desk.looked() == [(operation.id, 2)]


def test_the_first_look_submits_whatever_an_earlier_server_left() -> None:
    desk = Desk()
    left = [desk.put(state) for state in (State.PENDING, State.RUNNING, State.CANCELLING)]
    desk.put(State.SUCCEEDED)

    assert desk.looked() == [(operation.id, 1) for operation in left]


def test_running_work_is_seen_to_again_only_now_and_then() -> None:
    desk = Desk()
    operation = desk.put(State.RUNNING)
    desk.looked()

    desk.time = 4.9
    assert desk.looked() == []
    desk.time = 5.0
    assert desk.looked() == [(operation.id, 1)]
    assert desk.looked() == []


def test_what_the_engine_refused_is_submitted_at_the_next_look_and_holds_up_nothing() -> None:
    desk = Desk()
    desk.looked()
    first, second = desk.put(), desk.put()
    desk.jobs.refusals = 1

    with pytest.raises(ConnectionError):
        desk.dispatcher.look()

    assert desk.jobs.submitted == [(second.id, 1)]
    assert desk.looked() == [(first.id, 1)]


def test_the_bell_makes_it_look_at_once(running: Callable[[Desk], Desk]) -> None:
    desk = running(Desk(interval=60.0))
    desk.put()

    desk.bell.set()

    assert desk.jobs.notice.wait(5)


def test_it_looks_without_a_bell_too(running: Callable[[Desk], Desk]) -> None:
    desk = running(Desk(interval=0.02))
    desk.put()

    assert desk.jobs.notice.wait(5)


def test_it_survives_an_engine_that_refuses_for_a_while(running: Callable[[Desk], Desk]) -> None:
    desk = Desk(interval=0.02)
    desk.jobs.refusals = 3
    desk.put()

    running(desk)

    assert desk.jobs.notice.wait(5)
    assert desk.dispatcher.alive


def test_stopped_it_submits_nothing_more() -> None:
    desk = Desk(interval=0.01)
    desk.dispatcher.start()
    assert desk.dispatcher.alive

    desk.dispatcher.stop()
    desk.put()

    assert not desk.dispatcher.alive
    assert not desk.jobs.notice.wait(0.1)
