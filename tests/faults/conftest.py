"""Apps and processes on which whole classes of fault are tried: the app of the integration tests,
and a real server process with a cheap encoder."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from memserver_bench.soak_server import ServerProcess
from tests.integration.conftest import (
    App,
    app,
    asked_database,
    finished,
    passing_folder,
    postgres,
    shared_app,
    start_app,
    tabled_postgres,
)

__all__ = ["app", "finished", "postgres", "shared_app", "tabled_postgres"]

CHEAP_SERVER = [sys.executable, "-m", "tests.integration.cheap_server"]


@pytest.fixture(scope="module")
def module_app(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[App]:
    """One app for a module's tests, on the database that `on_both_databases` asks for."""
    with ExitStack() as stack:
        data = passing_folder(stack, tmp_path_factory)
        yield start_app(stack, data, database_url=asked_database(request))


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Variables that a process started within it inherits."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def running(data: Path, **settings: str) -> Iterator[ServerProcess]:
    """A server process of its own, ready, ended by SIGTERM."""
    server = ServerProcess(CHEAP_SERVER, data)
    with environment(**{f"MEMSERVER_{name.upper()}": value for name, value in settings.items()}):
        server.spawn()
    try:
        server.ready()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    """One server process for a module's tests, on the database that they ask for."""
    url = asked_database(request)
    settings = {} if url is None else {"database_url": url}
    with ExitStack() as stack:
        data = passing_folder(stack, tmp_path_factory)
        yield stack.enter_context(running(data, **settings))


class Key:
    """One key's view of a server process; may be shared between threads."""

    def __init__(self, server: ServerProcess, secret: str | None = None) -> None:
        self.secret = secret or server.key
        self.url = server.url
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=100)
        headers = {"Authorization": f"Bearer {self.secret}"}
        # Nothing is verified on plain HTTP, and to be ready to would cost more than the requests.
        self._http = httpx.Client(
            base_url=server.url, headers=headers, timeout=60, limits=limits, verify=False
        )

    def __enter__(self) -> "Key":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def __call__(self, method: str, path: str, **request: Any) -> httpx.Response:
        return self._http.request(method, path, **request)

    def get(self, path: str, **params: Any) -> Any:
        return self._body(self("GET", path, params=params))

    def post(self, path: str, body: Any = None, **request: Any) -> Any:
        return self._body(self("POST", path, json=body, **request))

    def delete(self, path: str, **request: Any) -> Any:
        return self._body(self("DELETE", path, **request))

    def rows(self, path: str, **params: Any) -> list[Any]:
        """Every row of a list, page after page."""
        rows: list[Any] = []
        cursor: dict[str, str] = {}
        while True:
            page = self.get(path, **params, **cursor)
            rows += page["rows"]
            if page["next_cursor"] is None:
                return rows
            cursor = {"cursor": page["next_cursor"]}

    @staticmethod
    def _body(reply: httpx.Response) -> Any:
        assert reply.status_code < 400, reply.text
        return reply.json()
