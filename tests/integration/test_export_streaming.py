"""An export is read as fast as it is received, and takes no more memory for being long."""

import asyncio
import gc
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import anyio.to_thread
import numpy as np
import pytest
import uvicorn
from sqlalchemy import create_engine, insert
from typer.testing import CliRunner

from memserver.app.opening import database_url, utc_now
from memserver.cli import build
from memserver.domain.decisions import Considered, Decision
from memserver.domain.policy.features import NAMES
from memserver.domain.scope import Namespace
from memserver.ids import uuid7
from memserver.storage.sql.records import decision_row
from memserver.storage.sql.tables import DECISION
from memserver_trainers.dataset import open_dataset
from tests.integration.conftest import App

MANY = 20_000
CANDIDATES = 4
FEATURES = tuple(np.linspace(0, 1, len(NAMES), dtype=np.float32).tolist())


def logged(app: App, path: str, number: int, versions: list[UUID]) -> None:
    """Decisions as retrieves would have logged them, written as fast as the database takes them."""
    access = app.server.services.access
    scope = access.authenticate(app.admin.key)
    namespace = access.writable(scope, path)
    patterns = [
        decision_row(_decision(namespace, scope.key, versions, place))
        for place in range(len(versions))
    ]
    rows = [{**patterns[n % len(patterns)], "id": uuid7()} for n in range(number)]
    engine = create_engine(database_url(app.server.settings))
    with engine.begin() as connection:
        connection.execute(insert(DECISION), rows)
    engine.dispose()


def _decision(namespace: Namespace, key: UUID, versions: list[UUID], place: int) -> Decision:
    return Decision(
        id=uuid7(),
        tenant=namespace.tenant,
        namespaces=(namespace,),
        verb="retrieve",
        query=f"task {place} of mail@example.org",
        task_type=None,
        trajectory_id=None,
        schema=1,
        policy="fixed-1",
        candidates=tuple(
            Considered(versions[(place + rank) % len(versions)], FEATURES, rank, rank < 4)
            for rank in range(1, CANDIDATES + 1)
        ),
        # Not long ago: the server forgets what is old.
        created_at=utc_now(),
        asked_by=key,
        encoder="hash/64",
        query_vector=np.linspace(-1, 1, 64, dtype="<f4").tobytes(),
    )


def versions_of(app: App, path: str, number: int = 40) -> list[UUID]:
    made = [
        app.admin.post("/v1/memories", {"namespace": path, "body": {"text": f"note {n}"}})
        for n in range(number)
    ]
    return [UUID(one["version_id"]) for one in made]


# --- who receives slowly, or not at all --------------------------------------------------


def receive_slowly(app: App, path: str, on_page: Callable[[int], Any]) -> list[bytes]:
    """Calls the app as an ASGI server does. `on_page` is awaited for each piece of the body; when
    it gives False, the receiver has left."""
    pieces: list[bytes] = []

    async def call() -> None:
        left = asyncio.Event()
        asked = False

        async def receive() -> dict[str, Any]:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.body" and message.get("body"):
                pieces.append(message["body"])
                if await on_page(len(pieces)) is False:
                    left.set()
                    await asyncio.sleep(0.05)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "path": "/v1/export/decisions",
            "raw_path": b"/v1/export/decisions",
            "root_path": "",
            "scheme": "http",
            "query_string": f"namespace={path}".encode(),
            "headers": [(b"authorization", f"Bearer {app.admin.key}".encode())],
            "client": ("test", 1),
            "server": ("test", 80),
        }
        await app.server.api(scope, receive, send)

    asyncio.run(call())
    return pieces


@pytest.fixture
def pages_read(app: App, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When each page was read."""
    access = app.server.services.access
    read: list[float] = []

    def is_valid(scope: Any) -> bool:
        read.append(time.monotonic())
        return type(access).is_valid(access, scope)

    monkeypatch.setattr(access, "is_valid", is_valid)
    return read


def test_no_page_is_read_and_no_thread_is_held_before_the_one_before_is_received(
    app: App, pages_read: list[float]
) -> None:
    logged(app, "team", 200, versions_of(app, "team", 3))
    ahead: list[int] = []

    async def waits(page: int) -> None:
        await asyncio.sleep(0.1)
        ahead.append(len(pages_read) - page)
        assert anyio.to_thread.current_default_thread_limiter().borrowed_tokens == 0

    pieces = receive_slowly(app, "team", waits)
    assert len(pieces) == 5  # four pages of fifty, and the seal
    assert set(ahead[:4]) == {0}


def test_a_receiver_that_leaves_ends_the_reading(app: App, pages_read: list[float]) -> None:
    logged(app, "team", 1_000, versions_of(app, "team", 3))

    async def leaves(page: int) -> bool:
        return page < 2

    receive_slowly(app, "team", leaves)
    assert len(pages_read) <= 4  # of twenty


# --- the whole way, from the log into a folder -------------------------------------------


@contextmanager
def listening(app: App) -> Iterator[str]:
    """The running app on a real socket: a transport within the process would hold all of it."""
    server = uvicorn.Server(
        uvicorn.Config(app.server.api, port=0, lifespan="off", log_level="warning")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


class Peak:
    """How much more memory the process took than at the start, at its most, in bytes."""

    def __init__(self) -> None:
        self.growth = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Peak":
        gc.collect()
        self._start = _resident()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            self.growth = max(self.growth, _resident() - self._start)


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


@pytest.fixture(scope="module")
def long_log(shared_app: App) -> list[UUID]:
    """The versions that it names."""
    versions = versions_of(shared_app, "team")
    logged(shared_app, "team", MANY, versions)
    logged(shared_app, "shared", 100, versions)
    return versions


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_long_log_becomes_a_folder_in_little_memory(
    shared_app: App, long_log: list[UUID], tmp_path: Path, format: str
) -> None:
    command = build(cast(Any, None))

    def export(name: str, path: str) -> dict[str, Any]:
        arguments = ["export", "decisions", "-n", path, "-o", str(tmp_path / name), "--json"]
        env = {"MEMSERVER_URL": url, "MEMSERVER_API_KEY": shared_app.admin.key}
        result = CliRunner().invoke(command, [*arguments, "--format", format], env=env)
        assert result.exit_code == 0, result.stderr
        told: dict[str, Any] = json.loads(result.stdout)
        return told

    with listening(shared_app) as url:
        export("warm", "shared")
        with Peak() as peak:
            told = export("data", "team")

    assert (told["rows"], told["vectors"]) == (MANY, len(long_log))
    # A row group and some pages. The rows are 70 MB as text, and several times that as objects.
    assert peak.growth < 40_000_000
    dataset = open_dataset(tmp_path / "data")
    seen = {decision.id for decision in dataset.decisions()}
    assert len(seen) == MANY
    assert set(dataset.vectors().index) == {str(version) for version in long_log}
