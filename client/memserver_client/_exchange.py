"""The course of one request, from the first attempt to an answer or an error, without sending
anything: a connection does what it asks for, by blocking or by awaiting."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import httpx

from memserver.ids import uuid7
from memserver_client._answers import RowReader, SealedReader, no_answer, parsed_reply, refused
from memserver_client._call import Call, Lines, Pause, Request
from memserver_client._errors import UnexpectedReply
from memserver_client._retries import Retries, seconds_asked_for

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Attempt:
    """Send this now. It is answered by the response, read to its end unless the request is streamed
    and was granted."""

    request: Request
    headers: Mapping[str, str]

    def built(self, build: Callable[..., httpx.Request]) -> httpx.Request:
        """The request as `build_request` of either kind of httpx client makes it."""
        asked = self.request
        given = {name: value for name, value in asked.params.items() if value is not None}
        return build(
            asked.method, asked.path, params=given, content=asked.content, headers=self.headers
        )


Course = Generator[Attempt | Pause, Any, R]


@dataclass(frozen=True, slots=True)
class Exchange:
    """How one server at `url` is talked to."""

    url: str
    retries: Retries
    utc: Callable[[], datetime]

    def answer(self, call: Call[R]) -> Course[R]:
        response = yield from self.response(call)
        return parsed_reply(response.content, call.reply, url=self.url)

    def rows(self, asked: Lines[R]) -> RowReader[R]:
        reader = SealedReader if asked.sealed else RowReader
        return reader(asked.row, url=self.url)

    def response(self, request: Request) -> Course[httpx.Response]:
        """The answer to whichever attempt gets one that is no refusal."""
        send = Attempt(request, _headers(request))
        attempt = 0
        while True:
            attempt += 1
            try:
                response: httpx.Response = yield send
            except httpx.TransportError as error:
                pause = self.retries.after_failure(
                    error, attempt=attempt, repeatable=request.repeatable
                )
                if pause is None:
                    raise no_answer(self.url, error, attempt) from error
            except httpx.DecodingError as error:
                raise UnexpectedReply(self.url, str(error)) from error
            else:
                if response.is_success:
                    return response
                asked = seconds_asked_for(response.headers.get("Retry-After", ""), now=self.utc())
                pause = self.retries.after_refusal(
                    response.status_code,
                    retry_after=asked,
                    attempt=attempt,
                    repeatable=request.repeatable,
                )
                if pause is None:
                    raise refused(response, asked)
            yield Pause(pause)


def _headers(request: Request) -> dict[str, str]:
    """Made once for all attempts, so that they share one idempotency key."""
    headers = {"Accept": request.accept}
    if request.content is not None:
        headers["Content-Type"] = request.content_type
    if request.write:
        headers["Idempotency-Key"] = str(uuid7())
    return headers
