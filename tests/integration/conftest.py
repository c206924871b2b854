"""The whole app in this process: real SQL, real embedded index, a cheap encoder, and jobs that
run when they are submitted."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import make_url

from memserver.app.opening import Parts, database_url, open_chat, threads, utc_now
from memserver.app.server import Server
from memserver.app.settings import Settings, read_settings
from memserver.domain.ports import Encoder, Jobs, Work
from memserver.storage.encoders import Bm25Encoder
from memserver.storage.index import EdgeIndex
from memserver.storage.sql import open_store
from tests.contract.store.conftest import drop_database, fresh_database, postgres
from tests.fakes.encoder import HashEncoder
from tests.fakes.jobs import InlineJobs

__all__ = ["postgres"]


@dataclass(frozen=True)
class Caller:
    """One key's view of the app."""

    http: TestClient
    key: str | None

    def __call__(self, method: str, path: str, **request: Any) -> Any:
        """The reply, whatever its status."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        headers |= request.pop("headers", {})
        return self.http.request(method, path, headers=headers, **request)

    def get(self, path: str, **params: Any) -> Any:
        return self._body(self("GET", path, params=params))

    def post(self, path: str, body: Any = None, **request: Any) -> Any:
        return self._body(self("POST", path, json=body, **request))

    def delete(self, path: str) -> Any:
        return self._body(self("DELETE", path))

    def rows(self, path: str, **params: Any) -> list[Any]:
        """Every row of a list, page after page."""
        rows: list[Any] = []
        cursor = None
        while True:
            page = self.get(path, **params, **({"cursor": cursor} if cursor else {}))
            rows += page["rows"]
            cursor = page["next_cursor"]
            if cursor is None:
                return rows

    def with_key(self, role: str, *grants: str, tenant: str | None = None) -> "Caller":
        made = self.post("/v1/keys", {"role": role, "grants": list(grants), "tenant": tenant})
        return Caller(self.http, made["key"])

    @staticmethod
    def _body(reply: Any) -> Any:
        assert reply.status_code < 400, reply.text
        return reply.json()


@dataclass(frozen=True)
class App:
    server: Server
    admin: Caller
    jobs: InlineJobs

    @property
    def anonymous(self) -> Caller:
        return Caller(self.admin.http, None)

    def audit(self) -> dict[str, Any]:
        health: dict[str, Any] = self.admin.get("/health/ready", audit=True)["index"]
        return health


def start_app(
    stack: ExitStack,
    data: Path,
    *,
    key: str | None = None,
    encoder: Encoder | None = None,
    **settings: Any,
) -> App:
    """An app on a data folder; `key` is the system key where the folder has been used before."""
    chosen: Settings = read_settings(data=data, **settings)
    data.mkdir(exist_ok=True)
    encoder = encoder or HashEncoder()
    url = database_url(chosen)
    if chosen.database_url is None and not (file := Path(str(make_url(url).database))).exists():
        file.write_bytes(empty_sqlite())
    store = open_store(url, clock=utc_now)
    index = EdgeIndex(data / "index", dimension=encoder.dimension)
    parts = Parts(
        store,
        encoder,
        Bm25Encoder(),
        index,
        threads(store, index, encoder),
        chat=open_chat(chosen),
    )
    made: list[InlineJobs] = []

    def make_jobs(work: Work, _: Settings) -> Jobs:
        made.append(InlineJobs(work))
        return made[0]

    server = Server(chosen, parts, make_jobs=make_jobs)
    # A failure inside the server is a failure of the test only where it shows in the reply.
    http = stack.enter_context(TestClient(server.api, raise_server_exceptions=False))
    secret = key if server.first_key is None else server.first_key.secret
    return App(server, Caller(http, secret), made[0])


def on_both_databases(fixture: str) -> pytest.MarkDecorator:
    """Runs a test with the fixture (`app`, or one made like it) on SQLite and on PostgreSQL."""
    return pytest.mark.parametrize(fixture, ["sqlite", "postgresql"], indirect=True)


@cache
def empty_sqlite() -> bytes:
    """A database file that has its tables and nothing else: to migrate one takes a tenth of a
    second, and is tested where migrations are."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "empty.db"
        open_store(f"sqlite:///{file}", clock=utc_now).close()
        return file.read_bytes()


@pytest.fixture(scope="session")
def tabled_postgres(postgres: str) -> str:
    """The URL of a database that has its tables and nothing else, to be copied."""
    url = fresh_database(postgres)
    open_store(url, clock=utc_now).close()
    return url


def asked_database(request: pytest.FixtureRequest) -> str | None:
    """The URL of an empty PostgreSQL database where `on_both_databases` asks for one; it lives as
    long as the fixture that asks."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return None
    server: str = request.getfixturevalue("postgres")
    url = fresh_database(server, like=request.getfixturevalue("tabled_postgres"))
    request.addfinalizer(lambda: drop_database(server, url))
    return url


@pytest.fixture
def app(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[App]:
    with ExitStack() as stack:
        yield start_app(stack, tmp_path / "data", database_url=asked_database(request))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def policy_app(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[App]:
    """One app on each database for all tests of a module, each in namespaces of its own. Nobody
    keeps house unless a test does."""
    with ExitStack() as stack:
        yield start_app(
            stack,
            passing_folder(stack, tmp_path_factory),
            database_url=asked_database(request),
            housekeeping_s=86_400,
            body_limit=512 * 1024,
        )


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """One app for all tests of a module that keep out of one another's way."""
    with ExitStack() as stack:
        yield start_app(stack, passing_folder(stack, tmp_path_factory))


def passing_folder(stack: ExitStack, made_by: pytest.TempPathFactory) -> Path:
    """A data folder that goes when the stack is left: many of 65 MB lie in memory else."""
    folder = made_by.mktemp("app")
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder / "data"


Finish = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture
def finished(app: App) -> Finish:
    """Waits for an operation to end, and gives it."""
    return lambda operation: wait_for(app.admin, operation)


def wait_for(caller: Caller, operation: dict[str, Any]) -> dict[str, Any]:
    events = caller("GET", f"/v1/operations/{operation['id']}/events", params={"seconds": 60})
    assert events.headers["content-type"].startswith("text/event-stream")
    ended: dict[str, Any] = caller.get(f"/v1/operations/{operation['id']}")
    assert ended["state"] in ("succeeded", "failed", "cancelled")
    return ended
