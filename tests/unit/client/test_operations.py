"""Waiting for long work, which ends, fails, is cancelled, or outlasts one's patience."""

import json

import httpx
import pytest

from memserver_client import OperationCancelled, OperationFailed, OperationTimeout

CHANGE = "01890000-0000-7000-8000-0000000000cc"


@pytest.fixture
def states(server, operation):
    def answer(*told):
        server.answers = [httpx.Response(200, json=each) for each in told]

    return answer


def test_without_wait_the_operation_is_given_as_it_started(server, memory, operation):
    server.answers = [httpx.Response(202, json=operation("pending"))]

    assert memory.distill(namespace="demo", methods=["workflows"]).state == "pending"
    assert server.bodies() == [{"namespace": "demo", "methods": ["workflows"]}]


def test_wait_returns_the_report_and_the_change(server, memory, operation, states):
    states(
        operation("pending"),
        operation("running", progress={"done": 1, "total": 3, "doing": "reading"}),
        operation("running"),
        operation("succeeded", change_id=CHANGE, report={"merged": 4}),
    )
    seen = []

    done = memory.consolidate(
        namespace="demo", apply=True, wait=True, on_progress=lambda now: seen.append(now.state)
    )

    assert (str(done.change_id), done.report) == (CHANGE, {"merged": 4})
    assert seen == ["running", "running", "succeeded"]
    assert [request.method for request in server.requests] == ["POST", "GET", "GET", "GET"]


def test_a_plan_is_applied_by_its_operations_id(server, memory, operation, states):
    states(operation("pending"))
    memory.consolidate(namespace="demo", apply=True, plan=CHANGE)
    assert server.bodies() == [{"namespace": "demo", "apply": True, "plan": CHANGE}]


def test_a_failed_operation_says_why(memory, operation, states):
    states(operation("failed", error="the disk is full"))

    with pytest.raises(OperationFailed, match="the disk is full") as caught:
        memory.distill(namespace="demo", wait=True)
    assert caught.value.operation.state == "failed"


def test_a_cancelled_operation_is_told_apart(memory, operation, states):
    states(operation("cancelling"), operation("cancelling"), operation("cancelled"))

    with pytest.raises(OperationCancelled):
        memory.distill(namespace="demo", wait=True)


def test_patience_ends_and_the_operation_goes_on(memory, operation, states, time_passed):
    states(operation("running"))

    with pytest.raises(OperationTimeout, match="still running after 20 s") as caught:
        memory.distill(namespace="demo", wait=True, timeout=20)

    assert caught.value.operation.state == "running"
    assert time_passed.passed == pytest.approx(20)
    assert max(time_passed.slept) <= 1


def test_it_is_asked_once_even_with_no_patience(memory, operation, states, time_passed):
    states(operation("pending"), operation("succeeded"))

    assert memory.distill(namespace="demo", wait=True, timeout=0).state == "succeeded"
    assert time_passed.slept == []


@pytest.mark.parametrize("verb", ["cancel", "retry"])
def test_cancel_and_retry_may_be_repeated_under_one_key(server, memory, operation, verb):
    server.answers = [httpx.ReadTimeout("late"), httpx.Response(200, json=operation("running"))]

    getattr(memory, f"{verb}_operation")(CHANGE)

    assert {request.url.path for request in server.requests} == {f"/v1/operations/{CHANGE}/{verb}"}
    assert len({request.headers["Idempotency-Key"] for request in server.requests}) == 1
    assert len(server.requests) == 2


def test_erasing_names_the_person_in_the_request_and_waits_for_the_end(
    server, memory, operation, states
):
    states(operation("pending", verb="erase"), operation("succeeded", report={"left": None}))
    done = memory.erase(subject="p-17", namespace="clinic/**", wait=True)
    assert done.report == {"left": None}
    sent = json.loads(server.requests[0].content)
    assert sent == {"subject": "p-17", "namespace": "clinic/**"}
    assert server.requests[0].url.path == "/v1/erasures"
