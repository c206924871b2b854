"""What can be asked of a server, as values: they know no connection, so that one description serves
the client that blocks and the one that awaits."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from memserver.wire.base import Page
from memserver_client._requests import json_body

R = TypeVar("R")
Params = Mapping[str, str | int | bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, before it has a host, a credential or an idempotency key.

    A `write` gets one key for all its attempts, so the server acts once and answers each the same.
    One that is not `repeatable` is sent again only if no byte of it can have reached the server.
    Params that are None are left out.
    """

    accept: ClassVar[str] = "application/json"
    streamed: ClassVar[bool] = False

    path: str
    method: str = "GET"
    params: Params = field(default_factory=dict)
    content: bytes | None = None
    content_type: str = "application/json"
    write: bool = False
    repeatable: bool = True


# --- the shapes of an answer -------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Request, Generic[R]):
    """Answered by one JSON document."""

    reply: type[R]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Request, Generic[R]):
    """Answered page by page; a page is asked for when the one before it is used up."""

    page: type[Page[R]]

    def first(self) -> Call[Page[R]]:
        return Call(path=self.path, params=self.params, reply=self.page)

    def after(self, received: Page[R]) -> Call[Page[R]] | None:
        cursor = received.next_cursor
        if cursor is None:
            return None
        return replace(self.first(), params={**self.params, "cursor": cursor})


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines(Request, Generic[R]):
    """Answered by one JSON document a line, each given as it comes. `row` is a model, or
    `dict[str, Any]`. Where the reply is `sealed`, its last line says how many rows there are, and
    their hash: it is checked, and not given."""

    accept: ClassVar[str] = "application/x-ndjson"
    streamed: ClassVar[bool] = True

    row: type[R]
    sealed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Download(Request):
    """Answered by bytes, which become the file `to`, whole or not at all."""

    accept: ClassVar[str] = "application/octet-stream"
    streamed: ClassVar[bool] = True

    to: Path


def read(path: str, reply: type[R], params: Params | None = None) -> Call[R]:
    return Call(path=path, reply=reply, params=params or {})


def ask(path: str, reply: type[R], question: BaseModel) -> Call[R]:
    """A read whose question is too long for a URL."""
    return Call(method="POST", path=path, reply=reply, content=json_body(question))


def write(
    method: str,
    path: str,
    reply: type[R],
    body: BaseModel | bytes | None = None,
    *,
    params: Params | None = None,
    content_type: str = "application/json",
    repeatable: bool = True,
) -> Call[R]:
    return Call(
        method=method,
        path=path,
        reply=reply,
        params=params or {},
        content=json_body(body) if isinstance(body, BaseModel) else body,
        content_type=content_type,
        write=True,
        repeatable=repeatable,
    )


# --- several requests --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Now:
    """Answered by the clock's reading, in seconds."""


Steps = Generator[Call[Any] | Pause | Now, Any, R]
"""Several calls with something between them. It yields what it wants done, is sent what came of it,
and returns its result; a call's error is raised at the yield."""


def asked(call: Call[R]) -> Generator[Call[R], R, R]:
    """`yield from asked(call)` is the call's answer, with its type."""
    return (yield call)
