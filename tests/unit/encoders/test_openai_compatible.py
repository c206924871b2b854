"""The endpoint encoder against a transport that answers as endpoints do, well and badly."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
import pytest

from memserver.domain.errors import Invalid, Unavailable
from memserver.storage.encoders import OpenAICompatibleEncoder

Answer = Callable[[list[str]], httpx.Response]


class Endpoint:
    """Answers by the next of `script`, then well. Notes what it was asked and what was slept."""

    def __init__(self) -> None:
        self.script: list[httpx.Response | Exception] = []
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(json.loads(request.content))
        self.paths.append(str(request.url))
        self.keys.append(request.headers.get("Authorization"))
        if self.script:
            answer = self.script.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        return vectors(*([float(len(text)), 1.0, 2.0] for text in self.asked[-1]["input"]))

    def encoder(self, **settings: Any) -> OpenAICompatibleEncoder:
        http = httpx.Client(
            transport=httpx.MockTransport(self), headers={"Authorization": "Bearer k"}
        )
        return OpenAICompatibleEncoder(
            http,
            url="http://model.test/v1/",
            model="m",
            sleep=self.slept.append,
            spread=lambda: 0.0,
            **settings,
        )


def vectors(*rows: list[float]) -> httpx.Response:
    data = [{"index": n, "embedding": row} for n, row in enumerate(rows)]
    return httpx.Response(200, json={"data": data})


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint()


def test_it_asks_as_the_api_wants_and_probes_the_dimension(endpoint: Endpoint) -> None:
    encoder = endpoint.encoder()

    assert encoder.dimension == 3
    assert encoder.fingerprint == "m@endpoint/3"
    assert endpoint.asked == [{"model": "m", "input": ["probe"]}]
    assert endpoint.paths == ["http://model.test/v1/embeddings"]
    assert endpoint.keys == ["Bearer k"]


def test_texts_go_in_batches_and_an_empty_one_as_a_space(endpoint: Endpoint) -> None:
    encoder = endpoint.encoder(batch=2)

    assert encoder.encode(["a", "", "ccc"]).shape == (3, 3)

    assert [ask["input"] for ask in endpoint.asked[1:]] == [["a", " "], ["ccc"]]


def test_a_full_or_failing_server_is_tried_again_after_growing_pauses(endpoint: Endpoint) -> None:
    encoder = endpoint.encoder(pause_s=0.5)
    endpoint.script = [httpx.Response(503), httpx.ReadTimeout("slow"), httpx.Response(500)]

    assert encoder.encode_query("a") == pytest.approx(np.array([1, 1, 2]) / np.sqrt(6), abs=1e-6)
    assert endpoint.slept == [0.5, 1.0, 2.0]


def test_it_waits_as_long_as_the_server_asks_within_reason(endpoint: Endpoint) -> None:
    encoder = endpoint.encoder()
    endpoint.script = [
        httpx.Response(429, headers={"Retry-After": "7"}),
        httpx.Response(429, headers={"Retry-After": "86400"}),
        httpx.Response(429, headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
    ]

    encoder.encode_query("a")

    assert endpoint.slept == [7.0, 60.0, 2.0]


@pytest.mark.parametrize(
    "failure", [httpx.ConnectError("refused"), httpx.ReadTimeout("slow"), httpx.Response(429)]
)
def test_it_gives_up_after_the_last_try(
    endpoint: Endpoint, failure: httpx.Response | Exception
) -> None:
    encoder = endpoint.encoder(tries=3)
    endpoint.script = [failure] * 3

    with pytest.raises(Unavailable):
        encoder.encode(["a"])

    assert len(endpoint.asked) == 1 + 3
    assert len(endpoint.slept) == 2


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_address_is_not_tried_again_and_no_texts_fault(
    endpoint: Endpoint, status: int
) -> None:
    encoder = endpoint.encoder()
    endpoint.script = [httpx.Response(status)]

    with pytest.raises(Unavailable, match=str(status)):
        encoder.encode(["a"])
    assert endpoint.slept == []


def test_a_refused_text_is_the_texts_fault(endpoint: Endpoint) -> None:
    encoder = endpoint.encoder()
    endpoint.script = [httpx.Response(400)]

    with pytest.raises(Invalid):
        encoder.encode(["a"])


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json={"error": "x"}),
        httpx.Response(200, json=[1]),
        httpx.Response(200, json={"data": [{"index": 0, "embedding": "abc"}]}),
        vectors([1.0, 2.0]),
        vectors([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
        vectors(),
        vectors([0.0, 0.0, 0.0]),
        httpx.Response(200, text='{"data": [{"index": 0, "embedding": [NaN, 1, 2]}]}'),
    ],
)
def test_a_reply_that_does_not_fit_is_the_endpoints_fault(
    endpoint: Endpoint, reply: httpx.Response
) -> None:
    encoder = endpoint.encoder()
    endpoint.script = [reply]

    with pytest.raises(Unavailable):
        encoder.encode(["a"])


def test_a_long_query_is_cut_to_the_models_limit(endpoint: Endpoint) -> None:
    encoder = endpoint.encoder(window=10)

    encoder.encode_query("word " * 100)

    assert endpoint.asked[-1]["input"] == [("word " * 10).strip()]
