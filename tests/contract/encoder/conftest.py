"""Every encoder, for one suite. The real model is loaded once, which takes seconds."""

import json
from collections.abc import Iterator

import httpx
import pytest

from memserver.domain.ports import Encoder
from memserver.storage.encoders import (
    BatchingEncoder,
    OpenAICompatibleEncoder,
    SentenceTransformerEncoder,
)
from tests.fakes.encoder import HashEncoder


def answer(request: httpx.Request) -> httpx.Response:
    """An embeddings endpoint whose vectors are not of unit length and out of order."""
    body = json.loads(request.content)
    rows = HashEncoder(dimension=24).encode_queries(body["input"]) * 3
    data = [{"index": n, "embedding": row.tolist()} for n, row in enumerate(rows)]
    return httpx.Response(200, json={"data": data[::-1], "model": body["model"]})


@pytest.fixture(scope="session")
def minilm() -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder(threads=1)


@pytest.fixture(scope="session", params=["minilm", "endpoint", "batching", "fake"])
def encoder(
    request: pytest.FixtureRequest, minilm: SentenceTransformerEncoder
) -> Iterator[Encoder]:
    made: Encoder
    if request.param == "minilm":
        made = minilm
    elif request.param == "endpoint":
        http = httpx.Client(transport=httpx.MockTransport(answer), base_url="http://model")
        made = OpenAICompatibleEncoder(http, model="hash", batch=5)
    elif request.param == "batching":
        made = BatchingEncoder(HashEncoder())
    else:
        made = HashEncoder()
    yield made
    made.close()
