"""A server made of scripted answers, so that the clients are tested without a network or waiting.
Each test that takes `memory`, `connect` or `make` runs on `Memory` and on `AsyncMemory`."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from memserver_client import AsyncClock, AsyncMemory, Clock, Memory
from tests.unit.client.blocking import Blocking

URL = "http://memory.test"


@dataclass
class ScriptedServer:
    """Answers requests in the order of `answers`: a response, an exception to raise, or a
    function of the request. The last answer is given again to any further request."""

    answers: list[Any] = field(default_factory=list)
    requests: list[httpx.Request] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx.Response):
            # A response object serves one request; a repeated answer is a new one like it.
            return httpx.Response(
                answer.status_code, headers=answer.headers, content=answer.content
            )
        made: httpx.Response = answer(request)
        return made

    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]


@dataclass
class StillClock:
    """Time that passes only by sleeping."""

    passed: float = 0.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.passed += seconds

    def utc(self) -> datetime:
        return datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def server() -> ScriptedServer:
    return ScriptedServer()


@pytest.fixture
def time_passed() -> StillClock:
    return StillClock()


@pytest.fixture(params=[Memory, AsyncMemory], ids=lambda client_class: client_class.__name__)
def client_class(request: pytest.FixtureRequest) -> type[Memory] | type[AsyncMemory]:
    chosen: type[Memory] | type[AsyncMemory] = request.param
    return chosen


@pytest.fixture
def make(client_class: type[Memory] | type[AsyncMemory]) -> Iterator[Callable[..., Any]]:
    """Either client, of the arguments given; the one that awaits is driven as if it blocked."""
    with asyncio.Runner() as runner:
        made: list[Any] = []

        def maker(*args: Any, of: Any = client_class, **options: Any) -> Any:
            client = of(*args, **options)
            made.append(client if issubclass(of, Memory) else Blocking(runner, client))
            return made[-1]

        yield maker
        for client in made:
            client.close()


@pytest.fixture
def connect(
    server: ScriptedServer,
    time_passed: StillClock,
    make: Callable[..., Any],
    client_class: type[Any],
) -> Callable[..., Any]:
    """A client of the scripted server; keywords go to it, `of` is a class derived from its own."""

    async def sleep(seconds: float) -> None:
        time_passed.sleep(seconds)

    def connected(**options: Any) -> Any:
        now, utc = time_passed.now, time_passed.utc
        clock: Clock | AsyncClock = Clock(now, time_passed.sleep, utc)
        if client_class is AsyncMemory:
            clock = AsyncClock(now, sleep, utc)
        return make(URL, "the-key", transport=httpx.MockTransport(server), clock=clock, **options)

    return connected


@pytest.fixture
def memory(connect: Callable[..., Any]) -> Any:
    return connect()


@pytest.fixture
def problem() -> Callable[..., httpx.Response]:
    """A refusal as the server words it."""

    def refused(status: int, code: str, detail: str = "No.", **more: Any) -> httpx.Response:
        headers = more.pop("headers", {})
        document = {
            "type": f"urn:memserver:{code}",
            "title": "Refused",
            "status": status,
            "detail": detail,
            "code": code,
            **more,
        }
        return httpx.Response(status, json=document, headers=headers)

    return refused


@pytest.fixture
def operation() -> Callable[..., dict[str, Any]]:
    """An operation as the server tells it."""

    def told(state: str, **changes: Any) -> dict[str, Any]:
        return {
            "id": "01890000-0000-7000-8000-000000000001",
            "namespace": "demo",
            "verb": "distill",
            "state": state,
            "progress": {"done": 0, "total": 3, "doing": ""},
            "params": {},
            "report": None,
            "error": None,
            "change_id": None,
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
            "attempt": 1,
            **changes,
        }

    return told
