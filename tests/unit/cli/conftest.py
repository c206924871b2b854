"""The program, its server replaced by scripted answers."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from memserver.cli import Finding, ServerCommands, build
from memserver_client import Clock, Memory

ID = "01890000-0000-7000-8000-0000000000aa"


@dataclass
class ScriptedServer:
    """Answers by method and path; a list is answered one by one, the last for ever."""

    answers: dict[str, Any] = field(default_factory=dict)
    requests: list[httpx.Request] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers[f"{request.method} {request.url.path}"]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, httpx.Response):
            return answer
        return httpx.Response(200, json=answer)

    def body(self, number: int = -1) -> Any:
        return json.loads(self.requests[number].content)

    def params(self, number: int = -1) -> dict[str, str]:
        return dict(self.requests[number].url.params)


@dataclass
class RecordedCommands:
    """What was asked of the server's own commands."""

    asked: list[Any] = field(default_factory=list)
    refusal: Exception | None = None
    findings: list[Finding] = field(default_factory=list)

    def __call__(self, options: Any) -> None:
        self.asked.append(options)
        if self.refusal is not None:
            raise self.refusal

    def examine(self, options: Any) -> list[Finding]:
        self(options)
        return self.findings


class Refused(Exception):
    code = "data_in_use"


@pytest.fixture
def server() -> ScriptedServer:
    return ScriptedServer()


@pytest.fixture
def commands() -> RecordedCommands:
    return RecordedCommands()


@pytest.fixture
def run(
    server: ScriptedServer, commands: RecordedCommands, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Runs the program with arguments, on a terminal of no particular kind."""
    for name in ("MEMSERVER_URL", "MEMSERVER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    clock = Clock(now=lambda: 0.0, sleep=lambda _: None)

    def connect(url: str | None, api_key: str | None) -> Memory:
        return Memory(url, api_key, transport=httpx.MockTransport(server), clock=clock)

    app = build(
        ServerCommands(
            serve=commands,
            demo=commands,
            reindex_offline=commands,
            doctor=commands.examine,
            refusals=(Refused,),
        ),
        connect=connect,
        transport=httpx.MockTransport(server),
    )

    def ran(*arguments: str, env: dict[str, str] | None = None) -> Result:
        usual = {"MEMSERVER_URL": "http://memory.test", "MEMSERVER_API_KEY": "k"}
        return CliRunner().invoke(app, list(arguments), env=usual if env is None else env)

    return ran


@pytest.fixture
def refusal() -> type[Exception]:
    return Refused


@pytest.fixture
def problem() -> Callable[..., httpx.Response]:
    def refused(status: int, code: str, detail: str = "No.", **extra: Any) -> httpx.Response:
        document = {
            "type": f"urn:memserver:problem:{code}",
            "title": "Refused",
            "status": status,
            "detail": detail,
            "code": code,
            "extra": extra,
        }
        return httpx.Response(status, json=document)

    return refused


@pytest.fixture
def operation() -> Callable[..., dict[str, Any]]:
    def told(state: str, **changes: Any) -> dict[str, Any]:
        return {
            "id": ID,
            "namespace": "demo",
            "verb": "distill",
            "state": state,
            "progress": {"done": 1, "total": 3, "doing": "reading"},
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
