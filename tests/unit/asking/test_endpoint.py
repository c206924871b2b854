"""The chat endpoint's client against answers as endpoints give them, good and bad."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from memserver.domain.errors import ChatFailed
from memserver.domain.ports.chat import Completion
from memserver.storage.chat import OpenAICompatibleChat


class Endpoint:
    """Answers by the next of `script`. Notes what it was asked and what was slept; its clock
    moves by what is slept."""

    def __init__(self, *script: httpx.Response | Exception) -> None:
        self.script = list(script)
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.slept: list[float] = []
        self.now = 0.0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(json.loads(request.content))
        self.paths.append(str(request.url))
        answer = self.script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def ask(self, *, user: str = "u", **settings: Any) -> Completion:
        http = httpx.Client(transport=httpx.MockTransport(self))
        model = OpenAICompatibleChat(
            http,
            url="http://model.test/v1/",
            model="m",
            sleep=self.sleep,
            spread=lambda: 0.0,
            clock=lambda: self.now,
            **settings,
        )
        return model.complete("s", user, max_tokens=9)


def said(text: Any, *, finish: str = "stop", **beside: Any) -> httpx.Response:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return httpx.Response(200, json={"choices": [choice], **beside})


def test_it_asks_as_the_api_wants() -> None:
    endpoint = Endpoint(said("x", usage={"total_tokens": 12}))

    assert endpoint.ask() == Completion("x", 12)
    assert endpoint.paths == ["http://model.test/v1/chat/completions"]
    assert endpoint.asked == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
            "stream": False,
            "max_tokens": 9,
            "temperature": 0,
        }
    ]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_full_or_failing_server_is_tried_again_after_growing_pauses(status: int) -> None:
    endpoint = Endpoint(httpx.Response(status), httpx.Response(status), said("x"))

    assert endpoint.ask().text == "x"
    assert endpoint.slept == [0.5, 1.0]


def test_it_gives_up_after_a_few_tries() -> None:
    endpoint = Endpoint(*[httpx.Response(503)] * 9)

    with pytest.raises(ChatFailed, match="status 503") as failed:
        endpoint.ask()

    assert len(endpoint.asked) == 3
    assert not failed.value.spent


def test_what_the_server_asks_to_wait_is_waited_unless_it_is_too_long() -> None:
    patient = Endpoint(httpx.Response(429, headers={"Retry-After": "7"}), said("x"))
    assert patient.ask().text == "x"
    assert patient.slept == [7.0]

    hurried = Endpoint(httpx.Response(429, headers={"Retry-After": "3600"}), said("x"))
    with pytest.raises(ChatFailed):
        hurried.ask()
    assert hurried.slept == []


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404])
def test_a_refusal_is_not_tried_again(status: int) -> None:
    endpoint = Endpoint(httpx.Response(status, headers={"Location": "http://elsewhere.test"}))

    with pytest.raises(ChatFailed, match=f"status {status}"):
        endpoint.ask()

    assert len(endpoint.asked) == 1


def test_an_endpoint_that_cannot_be_reached_is_tried_again() -> None:
    endpoint = Endpoint(httpx.ConnectError("refused"), said("x"))

    assert endpoint.ask().text == "x"


def test_a_request_that_was_perhaps_worked_on_is_not_sent_again() -> None:
    endpoint = Endpoint(httpx.ReadTimeout("slow"), said("x"))

    with pytest.raises(ChatFailed) as failed:
        endpoint.ask()

    assert len(endpoint.asked) == 1
    assert failed.value.spent


def test_a_reply_that_trickles_or_never_ends_is_given_up() -> None:
    endpoint = Endpoint()

    def trickle() -> Iterator[bytes]:
        while True:
            endpoint.now += 1
            yield b" "

    def flood() -> Iterator[bytes]:
        while True:
            yield b" " * 100_000

    for stream, reason in ((trickle, "too long"), (flood, "does not end")):
        endpoint.script = [httpx.Response(200, content=stream())]
        with pytest.raises(ChatFailed, match=reason) as failed:
            endpoint.ask()
        assert failed.value.spent


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, content=b"<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"choices": []}),
        httpx.Response(200, json={"choices": [{"message": {"content": 5}}]}),
        httpx.Response(200, json={"choices": ["x"]}),
        httpx.Response(200, content=b""),
    ],
)
def test_a_reply_without_the_shape_of_the_api_is_no_answer(answer: httpx.Response) -> None:
    with pytest.raises(ChatFailed, match="shape"):
        Endpoint(answer).ask()


def test_nothing_said_and_text_in_parts_are_both_read() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "other"}, {"type": "text", "text": "b"}]

    assert Endpoint(said(None)).ask().text == ""
    assert Endpoint(said(parts)).ask().text == "ab"


def test_an_answer_at_its_limit_is_cut() -> None:
    assert Endpoint(said("x", finish="length")).ask().cut


@pytest.mark.parametrize("usage", [None, {}, {"total_tokens": -1}, {"total_tokens": "9"}])
def test_where_the_endpoint_does_not_count_a_bound_is_taken(usage: Any) -> None:
    assert Endpoint(said("x", usage=usage)).ask(user="u" * 100).tokens >= 102


def test_models_that_want_other_parameters_get_them_from_then_on() -> None:
    refused = httpx.Response(400, json={"error": "use max_completion_tokens instead"})
    warm = httpx.Response(400, json={"error": "temperature is not supported"})
    endpoint = Endpoint(refused, warm, said("x"))

    assert endpoint.ask().text == "x"
    last = endpoint.asked[-1]
    assert last["max_completion_tokens"] == 9
    assert "max_tokens" not in last
    assert "temperature" not in last
