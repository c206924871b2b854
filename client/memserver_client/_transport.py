"""The connection to one server: what is sent again after a failure and what is not, and how an
answer becomes a value or an error."""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from memserver.ids import uuid7
from memserver.wire.access import Problem
from memserver.wire.base import Page
from memserver_client._errors import (
    ApiError,
    ConnectionFailed,
    RequestTimeout,
    UnexpectedReply,
    refusal,
)

M = TypeVar("M", bound=BaseModel)
R = TypeVar("R")
Params = Mapping[str, str | int | bool | None]

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 10.0
LONGEST_RETRY_AFTER = 60.0
WORTH_ANOTHER_TRY = frozenset({429, 502, 503, 504})

# Raised before the first byte of a request leaves, so that the server cannot have acted on it.
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
# The request itself is at fault; it would fail in the same way each time.
HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as this client uses it; a test passes one that does not wait."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    utc: Callable[[], datetime] = lambda: datetime.now(UTC)


class Connection:
    """Sends requests to one server.

    A request that is `repeatable` (a read, or a write under an idempotency key) is sent up to
    `retries` times more after a connection error, a timeout, or the answers 429, 502, 503 and
    504, with exponential, jittered pauses, or the pause that `Retry-After` asks for. One that is
    not is sent again only if no byte of it can have reached the server.
    """

    def __init__(
        self,
        http: httpx.Client,
        *,
        retries: int,
        clock: Clock,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._http = http
        self._retries = retries
        self._clock = clock
        self._uniform = uniform

    @property
    def url(self) -> str:
        return str(self._http.base_url)

    def close(self) -> None:
        self._http.close()

    # --- the four shapes of a request ----------------------------------------------------

    def get(self, path: str, reply: type[M], params: Params | None = None) -> M:
        return self._read(self._send("GET", path, params=params, repeatable=True), reply)

    def pages(self, path: str, page: type[Page[R]], params: Params) -> Iterator[R]:
        """All rows, each page asked for when the one before it is used up."""
        cursor: str | None = None
        while True:
            received = self.get(path, page, {**params, "cursor": cursor})
            yield from received.rows
            if received.next_cursor is None:
                return
            cursor = received.next_cursor

    def ask(self, path: str, reply: type[M], content: bytes) -> M:
        """A read whose question is too long for a URL."""
        return self._read(self._send("POST", path, content=content, repeatable=True), reply)

    def write(
        self,
        method: str,
        path: str,
        reply: type[M],
        content: bytes | None = None,
        *,
        params: Params | None = None,
        repeatable: bool = True,
        content_type: str = "application/json",
    ) -> M:
        """One key for all attempts: the server acts once, and answers each the same."""
        response = self._send(
            method,
            path,
            params=params,
            content=content,
            content_type=content_type,
            repeatable=repeatable,
            idempotency_key=str(uuid7()),
        )
        return self._read(response, reply)

    # --- sending -------------------------------------------------------------------------

    def _send(
        self,
        method: str,
        path: str,
        *,
        repeatable: bool,
        params: Params | None = None,
        content: bytes | None = None,
        content_type: str = "application/json",
        idempotency_key: str | None = None,
    ) -> httpx.Response:
        headers = {"Content-Type": content_type} if content is not None else {}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        given = {name: value for name, value in (params or {}).items() if value is not None}
        request = self._http.build_request(
            method, path, params=given, content=content, headers=headers
        )
        attempt = 0
        while True:
            attempt += 1
            asked: float | None = None
            try:
                response = self._http.send(request)
            except httpx.TransportError as error:
                may_repeat = repeatable or isinstance(error, NEVER_SENT)
                if isinstance(error, HOPELESS) or not may_repeat or attempt > self._retries:
                    raise self._no_answer(error, attempt) from error
            except httpx.DecodingError as error:
                raise UnexpectedReply(self.url, str(error)) from error
            else:
                if response.is_success:
                    return response
                asked = self._retry_after(response)
                too_long = asked is not None and asked > LONGEST_RETRY_AFTER
                passing = response.status_code in WORTH_ANOTHER_TRY and not too_long
                if not (passing and repeatable) or attempt > self._retries:
                    raise self._refused(response, asked)
            self._clock.sleep(self._pause(attempt) if asked is None else asked)

    def _pause(self, attempt: int) -> float:
        """Between half and the whole of a pause that doubles with each attempt."""
        longest: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (attempt - 1))
        return self._uniform(longest / 2, longest)

    def _retry_after(self, response: httpx.Response) -> float | None:
        """Seconds, from either form of the header; None where it is absent or unreadable."""
        value = response.headers.get("Retry-After", "").strip()
        if value.isdecimal():
            return float(value)
        try:
            when = parsedate_to_datetime(value)
        except ValueError:
            return None
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return max(0.0, (when - self._clock.utc()).total_seconds())

    # --- answers -------------------------------------------------------------------------

    def _read(self, response: httpx.Response, reply: type[M]) -> M:
        # Unknown fields are ignored so that an older client understands a newer server.
        try:
            return reply.model_validate_json(response.content, extra="ignore")
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the body"
            raise UnexpectedReply(self.url, f"{where}: {first['msg']}") from error

    def _refused(self, response: httpx.Response, retry_after: float | None) -> ApiError:
        try:
            problem = Problem.model_validate_json(response.content, extra="ignore")
        except ValidationError:
            problem = _foreign(response)  # a proxy's page, not the server's own answer
        # The status line counts: it is what proxies and this client's retries went by.
        problem = problem.model_copy(update={"status": response.status_code})
        return refusal(problem, retry_after=retry_after)

    def _no_answer(self, error: httpx.TransportError, attempts: int) -> ConnectionFailed:
        timed_out = isinstance(error, httpx.TimeoutException)
        kind = RequestTimeout if timed_out else ConnectionFailed
        return kind(self.url, str(error) or type(error).__name__, attempts)


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
