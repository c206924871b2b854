"""How an answer becomes a value or an error."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Generic, TypeVar, cast

import httpx
from pydantic import TypeAdapter, ValidationError

from memserver.wire.access import Problem
from memserver.wire.exports import Broken, Seal
from memserver_client._errors import (
    ApiError,
    ConnectionFailed,
    RequestTimeout,
    StreamBroken,
    UnexpectedReply,
    refusal,
)

R = TypeVar("R")


def parsed_reply(content: bytes, reply: type[R], *, url: str, place: str = "the body") -> R:
    adapter: TypeAdapter[R] = _adapter(cast(Any, reply))
    # Unknown fields are ignored so that an older client understands a newer server.
    try:
        return adapter.validate_json(content, extra="ignore")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or place
        raise UnexpectedReply(url, f"{where}: {first['msg']}") from error


class RowReader(Generic[R]):
    """Rows of a reply that comes in pieces, which end anywhere. Only a line feed ends a row: text
    in JSON may hold the other characters that Unicode takes for an end of line."""

    def __init__(self, row: type[R], *, url: str) -> None:
        self._row = row
        self._url = url
        self._rest = b""
        self._line = 0

    def fed(self, piece: bytes) -> Iterator[R]:
        """The rows that this piece completes."""
        if b"\n" not in piece:
            self._rest += piece
            return
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            yield from self._read(line)

    def ended(self) -> Iterator[R]:
        """The last row, where no line feed followed it."""
        yield from self._read(self._rest)

    def _read(self, line: bytes) -> Iterator[R]:
        self._line += 1
        if line.strip():
            yield parsed_reply(line, self._row, url=self._url, place=f"line {self._line}")


class SealedReader(RowReader[R]):
    """Rows that end in a line of another kind, their seal: a reply that was cut, or that the
    server broke off, is told from a whole one. Raises `StreamBroken` instead of ending early."""

    def __init__(self, row: type[R], *, url: str) -> None:
        super().__init__(row, url=url)
        self._last = b""
        self._digest = hashlib.sha256()
        self._rows = 0

    def ended(self) -> Iterator[R]:
        yield from super().ended()
        seal = self._seal()
        if (seal.rows, seal.sha256) != (self._rows, self._digest.hexdigest()):
            raise self._broken("rows were lost or changed on the way")

    def _read(self, line: bytes) -> Iterator[R]:
        """A line is known to be a row when another follows."""
        if not line.strip():
            return
        row, self._last = self._last, line
        if row:
            self._digest.update(row + b"\n")
            self._rows += 1
            yield from super()._read(row)

    def _seal(self) -> Seal:
        try:
            return Seal.model_validate_json(self._last, extra="ignore")
        except ValidationError:
            pass
        try:
            fault = Broken.model_validate_json(self._last, extra="ignore").error
        except ValidationError:
            raise self._broken("its end is missing") from None
        raise self._broken(f"{fault.code}: {fault.detail}")

    def _broken(self, reason: str) -> StreamBroken:
        return StreamBroken(self._url, reason, attempts=1)


@contextmanager
def unbroken(url: str) -> Iterator[None]:
    """Where a reply is read piece by piece: what was read is used already, so nothing is asked for
    again, and the caller is told that the rest is missing."""
    try:
        yield
    except httpx.TransportError as error:
        raise StreamBroken(url, _reason(error), attempts=1) from error
    except httpx.DecodingError as error:
        raise UnexpectedReply(url, str(error)) from error


def no_answer(url: str, error: httpx.TransportError, attempts: int) -> ConnectionFailed:
    timed_out = isinstance(error, httpx.TimeoutException)
    kind = RequestTimeout if timed_out else ConnectionFailed
    return kind(url, _reason(error), attempts)


def refused(response: httpx.Response, retry_after: float | None) -> ApiError:
    try:
        problem = Problem.model_validate_json(response.content, extra="ignore")
    except ValidationError:
        problem = _foreign(response)  # a proxy's page, not the server's own answer
    # The status line counts: it is what proxies and this client's retries went by.
    problem = problem.model_copy(update={"status": response.status_code})
    return refusal(problem, retry_after=retry_after)


def _foreign(response: httpx.Response) -> Problem:
    details: dict[str, Any] = {"content_type": response.headers.get("Content-Type", "")}
    return Problem(
        type="about:blank",
        title=response.reason_phrase or f"Status {response.status_code}",
        status=response.status_code,
        detail=f"{response.status_code} {response.reason_phrase} from {response.url.host}".strip(),
        code=f"http_{response.status_code}",
        extra=details,
    )


def _reason(error: httpx.TransportError) -> str:
    return str(error) or type(error).__name__


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
