"""What is sent again after a failure, and what never is."""

from uuid import UUID

import httpx
import pytest

from memserver_client import (
    ConnectionFailed,
    RequestTimeout,
    ServerError,
    Unavailable,
    UnexpectedReply,
)

ITEM = "01890000-0000-7000-8000-0000000000aa"
STORED = {"id": ITEM, "version_id": ITEM, "change_id": None, "position": 7, "searchable": True}
KEY = {"id": ITEM, "key": "secret", "role": "reader", "grants": ["a"], "tenant": "t", "label": ""}
FOUND = {
    "retrieval_id": ITEM,
    "items": [],
    "text": "",
    "tokens": 0,
    "token_counter": "c",
    "budget_tokens": None,
    "policy": "p",
    "left_out": {},
}

LOST = [httpx.ReadTimeout("late"), httpx.ReadError("reset"), httpx.RemoteProtocolError("gone")]
UNSENT = [httpx.ConnectError("refused"), httpx.ConnectTimeout("late"), httpx.PoolTimeout("full")]


@pytest.mark.parametrize("failure", LOST + UNSENT, ids=lambda error: type(error).__name__)
def test_a_write_is_sent_again_under_the_same_idempotency_key(server, memory, failure):
    server.answers = [failure, failure, httpx.Response(201, json=STORED)]

    assert memory.remember("tea", namespace="a", kind="note").id == UUID(ITEM)

    keys = {request.headers["Idempotency-Key"] for request in server.requests}
    assert len(server.requests) == 3
    assert len(keys) == 1
    assert len({request.content for request in server.requests}) == 1


def test_each_call_has_its_own_idempotency_key(server, memory):
    server.answers = [httpx.Response(201, json=STORED)]

    memory.remember("tea", namespace="a", kind="note")
    memory.remember("tea", namespace="a", kind="note")

    assert len({request.headers["Idempotency-Key"] for request in server.requests}) == 2


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_passing_refusal_is_tried_again(server, memory, status):
    server.answers = [httpx.Response(status), httpx.Response(200, json=FOUND)]

    assert memory.retrieve("q", namespace="a").items == []
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 404, 409, 422, 500, 501])
def test_a_lasting_refusal_is_not_tried_again(server, memory, status):
    server.answers = [httpx.Response(status)]

    with pytest.raises(Exception, match=str(status)):
        memory.retrieve("q", namespace="a")
    assert len(server.requests) == 1


@pytest.mark.parametrize("failure", LOST, ids=lambda error: type(error).__name__)
def test_a_key_is_not_asked_for_again_once_the_request_may_have_arrived(server, memory, failure):
    server.answers = [failure]

    with pytest.raises(ConnectionFailed):
        memory.create_key(role="reader", grants=["a"])
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_key_is_not_asked_for_again_after_any_answer(server, memory, status):
    server.answers = [httpx.Response(status)]

    with pytest.raises((Unavailable, ServerError)):
        memory.create_key(role="reader", grants=["a"])
    assert len(server.requests) == 1


@pytest.mark.parametrize("failure", UNSENT, ids=lambda error: type(error).__name__)
def test_a_key_is_asked_for_again_while_no_byte_has_left(server, memory, failure):
    server.answers = [failure, httpx.Response(201, json=KEY)]

    assert memory.create_key(role="reader", grants=["a"]).key == "secret"
    assert len(server.requests) == 2


def test_pauses_double_are_jittered_and_end_after_the_retries(server, connect, time_passed):
    server.answers = [httpx.ConnectError("refused")]

    with pytest.raises(ConnectionFailed, match="after 5 attempts: refused") as caught:
        connect(retries=4).retrieve("q", namespace="a")

    assert caught.value.attempts == len(server.requests) == 5
    assert len(time_passed.slept) == 4
    for number, pause in enumerate(time_passed.slept):
        assert 0.1 * 2**number <= pause <= 0.2 * 2**number


def test_no_pause_is_longer_than_ten_seconds(server, connect, time_passed):
    server.answers = [httpx.ConnectError("refused")]

    with pytest.raises(ConnectionFailed):
        connect(retries=12).retrieve("q", namespace="a")
    assert max(time_passed.slept) <= 10


def test_without_retries_the_first_failure_is_the_last(server, connect, time_passed):
    server.answers = [httpx.ReadTimeout("late")]

    with pytest.raises(RequestTimeout):
        connect(retries=0).retrieve("q", namespace="a")
    assert time_passed.slept == []


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("0", 0.0), ("Thu, 01 Jan 2026 12:00:09 GMT", 9.0)],
)
def test_the_server_says_when_to_come_back(server, memory, time_passed, header, seconds):
    server.answers = [
        httpx.Response(503, headers={"Retry-After": header}),
        httpx.Response(200, json=FOUND),
    ]

    memory.retrieve("q", namespace="a")
    assert time_passed.slept == [seconds]


def test_a_time_in_the_past_means_now(server, memory, time_passed):
    server.answers = [
        httpx.Response(429, headers={"Retry-After": "Thu, 01 Jan 2026 11:00:00 GMT"}),
        httpx.Response(200, json=FOUND),
    ]

    memory.retrieve("q", namespace="a")
    assert time_passed.slept == [0.0]


def test_an_unreadable_retry_after_leaves_the_usual_pause(server, memory, time_passed):
    server.answers = [
        httpx.Response(429, headers={"Retry-After": "soon"}),
        httpx.Response(200, json=FOUND),
    ]

    memory.retrieve("q", namespace="a")
    assert 0.1 <= time_passed.slept[0] <= 0.2


def test_a_server_that_asks_for_an_hour_is_not_waited_for(server, memory, time_passed):
    server.answers = [httpx.Response(503, headers={"Retry-After": "3600"})]

    with pytest.raises(Unavailable) as caught:
        memory.retrieve("q", namespace="a")
    assert caught.value.retry_after == 3600
    assert time_passed.slept == []


def test_a_reply_that_is_no_memserver_reply_is_not_asked_for_again(server, memory):
    server.answers = [httpx.Response(200, text="<html>hello</html>")]

    with pytest.raises(UnexpectedReply):
        memory.retrieve("q", namespace="a")
    assert len(server.requests) == 1


def test_a_redirect_is_not_followed_with_the_key(server, memory):
    server.answers = [httpx.Response(302, headers={"Location": "http://elsewhere.test/"})]

    with pytest.raises(Exception, match="302"):
        memory.retrieve("q", namespace="a")
    assert len(server.requests) == 1
