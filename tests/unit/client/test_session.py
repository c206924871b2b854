"""A session told through the client: what is sent, and how its block ends."""

import json
from typing import Any
from uuid import UUID

import httpx
import pytest

from memserver_client import Conflict, InvalidRequest

ID = "01890000-0000-7000-8000-00000000000a"
STORED = {
    "id": ID,
    "namespace": "shop",
    "seqs": [1],
    "stored": 1,
    "existing": 0,
    "events": 1,
}
ENDED = {
    "id": ID,
    "summary": None,
    "text": None,
    "worded_by": None,
    "change_id": None,
    "position": 0,
    "searchable": True,
}


def answered(request: httpx.Request) -> httpx.Response:
    if request.url.path.endswith("/end"):
        return httpx.Response(200, json=ENDED)
    return httpx.Response(201, json=STORED)


@pytest.fixture
def told(memory: Any, server: Any) -> Any:
    """A session whose every request is answered well."""
    server.answers = [answered]
    return memory.session(namespace="shop", id=ID, agent="clerk", subject="ann")


def test_each_event_is_sent_as_it_is_told(told: Any, server: Any) -> None:
    told.say("I want my money back.", speaker="customer")
    told.call("refund", {"order": "A7"}, override_reason="the boss said so")
    told.result("refund", "no", is_error=True)
    told.report("plan", "look", append=True)
    told.candidate("a", "one", score=0.5, links=[{"url": "https://x.y"}])
    told.evidence("paid", "A7 was paid", links=[{"turn": 1}])
    told.verify("paid", "supported", by="the bank")
    told.set(refunded=True, order="A7")
    told.unset("order")
    told.rule("once", "once is enough", call="refund", forbid={"calls.refund": {"gte": 1}})

    sent = server.bodies()
    assert all(
        (body["namespace"], body["agent"], body["subject"]) == ("shop", "clerk", "ann")
        for body in sent
    )
    assert {request.url.path for request in server.requests} == {f"/v1/sessions/{ID}/events"}
    keys = [request.headers["Idempotency-Key"] for request in server.requests]
    assert len(set(keys)) == len(keys)
    assert [event for body in sent for event in body["events"]] == [
        {"kind": "message", "speaker": "customer", "text": "I want my money back."},
        {
            "kind": "call",
            "name": "refund",
            "arguments": {"order": "A7"},
            "override_reason": "the boss said so",
        },
        {"kind": "result", "name": "refund", "text": "no", "is_error": True},
        {"kind": "report", "section": "plan", "text": "look", "mode": "append"},
        {
            "kind": "candidate",
            "name": "a",
            "text": "one",
            "score": 0.5,
            "links": [{"url": "https://x.y"}],
            "removed": False,
        },
        {"kind": "evidence", "name": "paid", "claim": "A7 was paid", "links": [{"turn": 1}]},
        {
            "kind": "verification",
            "evidence": "paid",
            "verdict": "supported",
            "by": "the bank",
            "note": "",
        },
        {"kind": "ledger", "set": {"refunded": True, "order": "A7"}},
        {"kind": "ledger", "unset": ["order"]},
        {
            "kind": "rule",
            "rule": {
                "name": "once",
                "because": "once is enough",
                "call": "refund",
                "forbid": {"calls.refund": {"gte": 1}},
            },
        },
    ]


def test_what_does_not_fit_is_refused_before_it_is_sent(told: Any, server: Any) -> None:
    for wrong in (
        lambda: told.say(""),
        lambda: told.verify("paid", "perhaps", by="ann"),
        lambda: told.evidence("e", "c", links=[{"turn": 1, "url": "u"}]),
        lambda: told.unset(),
        lambda: told.set(deep={"a": 1}),
    ):
        with pytest.raises(InvalidRequest):
            wrong()
    assert server.requests == []


def test_a_session_ends_with_its_block(told: Any, server: Any) -> None:
    with told as session:
        session.say("hello")
        assert server.requests[-1].url.path.endswith("/events")
    assert server.requests[-1].url.path == f"/v1/sessions/{ID}/end"
    assert told.ended.id == UUID(ID)


def test_a_session_that_an_exception_left_goes_on(told: Any, server: Any) -> None:
    def interrupted() -> None:
        with told as session:
            session.say("hello")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    assert len(server.requests) == 1


def test_a_block_ends_a_session_once_and_only_one_that_began(
    memory: Any, server: Any, told: Any
) -> None:
    with memory.session(namespace="shop"):
        pass
    with memory.session(namespace="shop", ends=False) as session:
        session.say("hello")
    assert [request.url.path.rpartition("/")[2] for request in server.requests] == ["events"]
    with told as session:
        session.end(summarise=False)
    assert len(server.requests) == 2
    assert server.bodies()[-1] == {"budget_tokens": 300, "summarise": False, "learn": True}


def test_a_blocked_call_raises_and_says_which_rule(memory: Any, server: Any, problem: Any) -> None:
    extra = {"blocked_by": [{"rule": "once", "because": "once is enough"}]}
    server.answers = [problem(409, "ledger_rule_blocks", extra=extra)]
    with pytest.raises(Conflict) as refused:
        memory.session(namespace="shop").call("refund")
    assert refused.value.code == "ledger_rule_blocks"
    assert refused.value.problem.extra == extra


def test_state_check_and_tools_are_asked_of_the_session(memory: Any, server: Any) -> None:
    session = memory.session(namespace="shop", id=ID)
    told = {
        "id": ID,
        "namespace": "shop",
        "events": 1,
        "text": "State",
        "tokens": 1,
        "token_counter": "words",
        "budget_tokens": 7,
        "left_out": {},
        "cut": [],
    }
    blocked = {"allowed": False, "blocked_by": [{"rule": "once", "because": "enough"}]}
    result = {
        "name": "memory_filter",
        "content": "done",
        "data": {},
        "change_id": None,
        "position": 0,
        "searchable": True,
    }
    server.answers = [httpx.Response(200, json=each) for each in (told, blocked, result)]

    assert session.state(budget_tokens=7).text == "State"
    assert dict(server.requests[0].url.params) == {"budget_tokens": "7", "format": "text"}
    assert session.check("refund", {"order": "A7"}).blocked_by[0].rule == "once"
    assert session.tool("memory_filter", '{"query": "ovens"}').content == "done"
    assert server.requests[2].url.path == "/v1/tools/call"
    assert json.loads(server.requests[2].content) == {
        "name": "memory_filter",
        "arguments": '{"query": "ovens"}',
        "namespace": "shop",
        "session": ID,
    }


def test_tools_are_given_as_the_apis_of_models_take_them(memory: Any, server: Any) -> None:
    schema = {"name": "memory_store", "input_schema": {"type": "object"}}
    server.answers = [httpx.Response(200, json={"format": "anthropic", "tools": [schema]})]

    assert memory.tools(format="anthropic") == [schema]
    assert dict(server.requests[0].url.params) == {"format": "anthropic"}
