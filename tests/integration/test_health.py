"""Readiness says so, and why, as soon as a part that nobody waits for has died."""

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

import pytest

from memserver.storage.index.engine_thread import EngineThread
from tests.integration.conftest import App, start_app

# Python tells of no thread that ends by SystemExit, but pytest does.
thread_dies = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
NOTE = {"namespace": "health", "body": {"text": "the pump is loud"}}
SOON_S = 10.0


def die(*_: Any) -> NoReturn:
    """Ends the thread that calls it."""
    raise SystemExit


def stopped(app: App, expected: str) -> dict[str, Any]:
    """What readiness says once `expected` has died."""
    deadline = time.monotonic() + SOON_S
    while True:
        reply = app.anonymous("GET", "/health/ready")
        if expected in reply.json()["stopped"]:
            assert reply.status_code == 503
            body: dict[str, Any] = reply.json()
            return body
        assert time.monotonic() < deadline, reply.text
        time.sleep(0.02)


def test_a_server_that_works_is_ready_and_live(app: App) -> None:
    app.admin.post("/v1/memories", NOTE)
    ready = app.anonymous("GET", "/health/ready")

    assert ready.status_code == 200
    assert ready.json() | {"version": "", "index": {}} == {
        "ready": True,
        "version": "",
        "stopped": [],
        "index": {},
        "operations_unfinished": 0,
        "decisions_dropped": 0,
    }
    assert ready.json()["index"]["lag"] == 0
    assert app.anonymous.get("/health/live") == {"live": True}


@thread_dies
def test_a_dead_indexer_is_named_and_what_is_written_is_not_called_searchable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data", wait_s=0.1)
        monkeypatch.setattr(app.server.services.indexer, "_wait", die)
        # It waits inside the real method, and may do one more step on leaving it.
        app.server.services.indexer.wake()
        stopped(app, "indexer")
        written = app.admin("POST", "/v1/memories", json=NOTE)

        assert (written.status_code, written.json()["searchable"]) == (202, False)
        assert stopped(app, "indexer")["index"]["lag"] == 1
        assert app.anonymous.get("/health/live") == {"live": True}


@thread_dies
def test_a_dead_dispatcher_is_named(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.jobs, "submit", die)
    app.admin.post("/v1/distill", {"namespace": "health"})

    assert stopped(app, "dispatcher")["operations_unfinished"] == 1


@thread_dies
def test_a_dead_index_engine_is_named_and_refuses_instead_of_hanging(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EngineThread, "_take", die)
    ask = {"namespace": "health", "query": "pump"}
    # The thread waits inside the real method; what it is given now is its last.
    app.admin("POST", "/v1/retrieve", json=ask)

    assert stopped(app, "index engine")["ready"] is False
    refused = app.admin("POST", "/v1/retrieve", json=ask)
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
