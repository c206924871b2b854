"""Nothing that callers send or store shows in a log or a metric, whatever fails."""

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

import httpx
import pytest
from sqlalchemy.exc import IntegrityError

from memserver.app import logs
from memserver.domain.ports.store import Writer
from tests.integration.conftest import App, Caller, start_app, wait_for
from tests.integration.quoting_server import TRAP, QuotingEncoder

CANARY = "zqkanari"
NS = f"{CANARY}-team/{CANARY}-agent"
SOON_S = 20.0


@pytest.fixture
def restored_logging() -> Iterator[None]:
    """Logging belongs to the process."""
    root, own = logging.getLogger(), logging.getLogger("memserver")
    handlers, levels, hook = root.handlers[:], (root.level, own.level), threading.excepthook
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    own.setLevel(levels[1])
    threading.excepthook = hook


def marked(field: str) -> str:
    return f"{CANARY} {field}"


def run(**more: Any) -> dict[str, Any]:
    return {
        "id": str(uuid4()),
        "namespace": NS,
        "task": {
            "goal": marked("goal"),
            "type": marked("type"),
            "environment": marked("environment"),
            "template_id": marked("template"),
        },
        "agent": marked("agent"),
        "steps": [
            {
                "observation": marked("observation"),
                "action": marked("action"),
                "metadata": {marked("step key"): marked("step value")},
            }
        ],
        "outcome": {"score": 1.0, "success": True},
        "mistakes": [marked("mistake")],
        "metadata": {marked("key"): marked("value")},
        **more,
    }


def note(text: str) -> dict[str, Any]:
    return {
        "namespace": NS,
        "title": marked("title"),
        "body": {"text": marked(text)},
        "task_type": marked("type"),
        "metadata": {marked("key"): marked("value")},
    }


def use(admin: Caller) -> list[str]:
    """Stores, reads and asks for what is marked, and sends what is refused; the secrets that it
    was given."""
    made = admin.post("/v1/keys", {"role": "writer", "grants": [NS], "label": marked("label")})
    writer = Caller(admin.http, made["key"])
    named = {"Idempotency-Key": f"{CANARY}-once", "User-Agent": marked("agent")}
    stored = writer("POST", "/v1/trajectories", json=run(), headers=named)
    assert stored.status_code == 201, stored.text
    kept = writer.post("/v1/memories", note("text"))
    fact = {"entity": marked("entity"), "key": marked("key"), "value": marked("value")}
    writer.post("/v1/memories", {"namespace": NS, "kind": "fact", "body": fact})
    found = writer.post(
        "/v1/retrieve",
        {"query": marked("query"), "namespace": NS, "task_type": marked("type")},
    )
    assert found["items"]
    writer.post("/v1/feedback", {"retrieval_id": found["retrieval_id"], "score": 0.5})
    writer.get("/v1/memories", namespace=NS)
    writer.get(f"/v1/memories/{kept['id']}/history")

    for method, path, request in (
        ("POST", "/v1/trajectories", {"json": run(), "headers": named}),
        ("POST", "/v1/memories", {"content": f'{{"{CANARY}": "{CANARY}'}),
        ("POST", "/v1/memories", {"json": {**note("x"), CANARY: CANARY}}),
        ("POST", "/v1/memories", {"json": note("nul \x00")}),
        ("POST", "/v1/retrieve", {"json": {"query": CANARY, "namespace": f"{CANARY}//"}}),
        ("POST", "/v1/retrieve", {"json": {"query": CANARY, "namespace": "elsewhere"}}),
        ("GET", "/v1/memories", {"params": {"namespace": NS, "cursor": CANARY}}),
        ("GET", f"/v1/memories/{CANARY}", {}),
        ("GET", f"/{CANARY}", {"params": {CANARY: CANARY}}),
        ("GET", f"/v1/{CANARY}/{CANARY}", {"headers": {"X-Request-Id": marked("id")}}),
        (CANARY.upper(), "/v1/memories", {}),
        ("POST", f"/v1/trajectories/import?namespace={NS}", {"content": f'{{"{CANARY}"'}),
    ):
        refused = writer(method, path, **request)
        assert 400 <= refused.status_code < 500, (method, path, refused.text)
    stranger = Caller(admin.http, f"ms_{CANARY}")
    assert stranger("GET", "/v1/memories", params={"namespace": NS}).status_code == 401
    return [made["key"], str(admin.key), f"ms_{CANARY}"]


def fail(admin: Caller) -> None:
    """A request and an operation that fail with an exception which quotes what is marked."""
    ask = {"query": marked(TRAP), "namespace": NS}
    broken = admin("POST", "/v1/retrieve", json=ask)
    assert (broken.status_code, broken.json()["code"]) == (500, "internal_error")
    assert CANARY not in broken.text
    admin.post("/v1/memories?wait=false", note(TRAP))
    admin.post("/v1/memories?wait=false", note(f"{TRAP} too"))
    asked = admin.post("/v1/consolidate", {"namespace": NS})
    assert wait_for(admin, asked)["state"] == "failed"


def silent_of(text: str, secrets: list[str]) -> None:
    for line in text.splitlines():
        assert CANARY not in line.lower()
        assert not any(secret in line for secret in secrets)


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.usefixtures("restored_logging")
def test_no_line_quotes_what_was_sent_or_stored(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = StringIO()
    logs.configure(level="debug", form=form, stream=stream)
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data", encoder=QuotingEncoder())
        secrets = use(app.admin)
        fail(app.admin)
        fail_in_the_database(app, monkeypatch)
        metrics = app.admin("GET", "/metrics").text

    silent_of(stream.getvalue(), secrets)
    silent_of(metrics, secrets)
    # The log does tell of what happened.
    for said in ("/v1/memories/{item_id}", "Operation", "RuntimeError", "IntegrityError"):
        assert said in stream.getvalue()


def fail_in_the_database(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write, and one that nobody waits for, refused with the row's values in the exception."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise IntegrityError("INSERT", {"text": CANARY}, ValueError(CANARY))

    def refused_later(_: Writer) -> None:
        refuse()

    with monkeypatch.context() as patched:
        patched.setattr(app.server.services.trajectories, "add", refuse)
        assert app.admin("POST", "/v1/trajectories", json=run()).status_code == 500
    app.server.services.store.write_later(refused_later)
    app.server.services.store.write(lambda tx: None)


def test_nor_does_the_real_process(tmp_path: Path) -> None:
    """With the web server's, the job engine's and the engine's own lines."""
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "tests.integration.quoting_server", "serve"]
    lines = tmp_path / "stderr"
    with lines.open("w") as stderr:
        process = subprocess.Popen(
            [*command, "--data", str(tmp_path / "data"), "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            cwd=root,
            env=os.environ | {"MEMSERVER_LOG_LEVEL": "DEBUG", "MEMSERVER_LOG_FORMAT": "json"},
        )
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            with httpx.Client(base_url=ready["url"], timeout=SOON_S) as http:
                admin = Caller(http, ready["admin_key"])  # type: ignore[arg-type]
                secrets = use(admin)
                fail(admin)
                metrics = admin("GET", "/metrics").text
        finally:
            process.terminate()
            process.communicate(timeout=SOON_S)

    entries = [json.loads(line) for line in lines.read_text().splitlines()]
    silent_of(lines.read_text(), secrets)
    silent_of(metrics, secrets)
    requests = [entry for entry in entries if entry["message"] == "request"]
    assert {entry["status"] for entry in requests} >= {200, 201, 400, 401, 404, 405, 422, 500}
    assert any(entry["message"].startswith("Operation") for entry in entries)


def of_requests(stream: StringIO) -> list[dict[str, Any]]:
    entries = [json.loads(line) for line in stream.getvalue().splitlines()]
    return [entry for entry in entries if "request_id" in entry]


@pytest.mark.usefixtures("restored_logging")
def test_a_request_is_one_line_that_says_who_asked_for_what(tmp_path: Path) -> None:
    stream = StringIO()
    logs.configure(level="info", form="json", stream=stream)
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data")
        path = f"/v1/memories/{uuid4()}"
        reply = app.admin("GET", path, headers={"X-Request-Id": "call-7"})

    assert reply.headers["X-Request-Id"] == "call-7"
    (entry,) = of_requests(stream)
    assert entry.pop("milliseconds") > 0
    key = app.server.first_key
    assert key is not None
    assert entry | {"timestamp": ""} == {
        "timestamp": "",
        "level": "info",
        "logger": "memserver.api.access_log",
        "message": "request",
        "request_id": "call-7",
        "method": "GET",
        "route": "/v1/memories/{item_id}",
        "status": 404,
        "tenant": str(key.key.tenant),
        "key": str(key.key.id),
    }


@pytest.mark.usefixtures("restored_logging")
def test_all_lines_of_a_request_carry_its_id_also_those_from_other_threads(
    tmp_path: Path,
) -> None:
    stream = StringIO()
    logs.configure(level="info", form="json", stream=stream)
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data", encoder=QuotingEncoder())
        ask = {"query": TRAP, "namespace": "n"}
        broken = app.admin("POST", "/v1/retrieve", json=ask)

    entries = of_requests(stream)
    assert broken.status_code == 500
    assert [entry["request_id"] for entry in entries] == [broken.headers["X-Request-Id"]] * 2
    assert "in encode_query" in entries[0]["message"]
    assert entries[1]["status"] == 500


@pytest.mark.parametrize("sent", ["", "x" * 65, "two words", "semi;colon", "ümlaut".encode()])
def test_a_request_id_that_is_not_plain_is_replaced(shared_app: App, sent: str | bytes) -> None:
    reply = shared_app.anonymous("GET", "/health/live", headers={"X-Request-Id": sent})

    assert len(reply.headers["X-Request-Id"]) == 32
    assert reply.headers["X-Request-Id"].isalnum()


def test_the_usual_level_tells_of_no_request(tmp_path: Path, restored_logging: None) -> None:
    stream = StringIO()
    logs.configure(level="warning", form="text", stream=stream)
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data")
        app.admin.post("/v1/memories", {"namespace": "n", "body": {"text": "quiet"}})
        time.sleep(0.1)

    assert stream.getvalue() == ""
