"""The connection to one server, in two kinds that do the same: one blocks, one awaits. What to send
and what to make of the answer is said elsewhere; here it is done."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import aclosing, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import httpx

from memserver_client._account import Account
from memserver_client._answers import unbroken
from memserver_client._call import Call, Download, Lines, Listing, Now, Pause, Steps
from memserver_client._exchange import Attempt, Exchange
from memserver_client._files import arriving
from memserver_client._retries import Retries

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as this client uses it; a test passes one that does not wait."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    utc: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class AsyncClock:
    """The same for `AsyncMemory`, whose sleep is awaited."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    utc: Callable[[], datetime] = lambda: datetime.now(UTC)


class Connection:
    """Performs descriptions, on one pool of connections that threads may share."""

    def __init__(
        self,
        account: Account,
        *,
        timeout: float,
        retries: int,
        transport: httpx.BaseTransport | None,
        clock: Clock,
    ) -> None:
        self._http = httpx.Client(
            base_url=account.url, headers=account.headers, timeout=timeout, transport=transport
        )
        self._clock = clock
        self._exchange = Exchange(str(self._http.base_url), Retries(retries), clock.utc)

    @property
    def url(self) -> str:
        return self._exchange.url

    def close(self) -> None:
        self._http.close()

    def perform(self, asked: Call[R] | Steps[R]) -> R:
        return self._run(self._exchange.answer(asked) if isinstance(asked, Call) else asked)

    def rows(self, asked: Listing[R] | Lines[R]) -> Iterator[R]:
        return self._paged(asked) if isinstance(asked, Listing) else self._streamed(asked)

    def save(self, asked: Download) -> int:
        """The size of the file in bytes."""
        with arriving(asked.to) as file:
            response = self._run(self._exchange.response(asked))
            with closing(response), unbroken(self.url):
                for piece in response.iter_bytes():
                    file.write(piece)
            return file.tell()

    def _paged(self, asked: Listing[R]) -> Iterator[R]:
        call: Call[Any] | None = asked.first()
        while call is not None:
            received = self.perform(call)
            yield from received.rows
            call = asked.after(received)

    def _streamed(self, asked: Lines[R]) -> Iterator[R]:
        rows = self._exchange.rows(asked)
        response = self._run(self._exchange.response(asked))
        with closing(response), unbroken(self.url):
            for piece in response.iter_bytes():
                yield from rows.fed(piece)
            yield from rows.ended()

    def _run(self, steps: Generator[Any, Any, R]) -> R:
        try:
            wanted = next(steps)
            while True:
                try:
                    outcome = self._do(wanted)
                except Exception as error:
                    wanted = steps.throw(error)
                else:
                    wanted = steps.send(outcome)
        except StopIteration as end:
            return cast(R, end.value)

    def _do(self, wanted: Call[Any] | Attempt | Pause | Now) -> Any:
        match wanted:
            case Attempt():
                return self._send(wanted)
            case Pause():
                return self._clock.sleep(wanted.seconds)
            case Now():
                return self._clock.now()
            case Call():
                return self.perform(wanted)

    def _send(self, attempt: Attempt) -> httpx.Response:
        request = attempt.built(self._http.build_request)
        response = self._http.send(request, stream=attempt.request.streamed)
        if not response.is_success:
            with closing(response):
                response.read()
        return response


class AsyncConnection:
    """Performs descriptions, on one pool of connections that tasks may share."""

    def __init__(
        self,
        account: Account,
        *,
        timeout: float,
        retries: int,
        transport: httpx.AsyncBaseTransport | None,
        clock: AsyncClock,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=account.url, headers=account.headers, timeout=timeout, transport=transport
        )
        self._clock = clock
        self._exchange = Exchange(str(self._http.base_url), Retries(retries), clock.utc)

    @property
    def url(self) -> str:
        return self._exchange.url

    async def close(self) -> None:
        await self._http.aclose()

    async def perform(self, asked: Call[R] | Steps[R]) -> R:
        return await self._run(self._exchange.answer(asked) if isinstance(asked, Call) else asked)

    def rows(self, asked: Listing[R] | Lines[R]) -> AsyncIterator[R]:
        return self._paged(asked) if isinstance(asked, Listing) else self._streamed(asked)

    async def save(self, asked: Download) -> int:
        """The size of the file in bytes."""
        with arriving(asked.to) as file:
            response = await self._run(self._exchange.response(asked))
            async with aclosing(response):
                with unbroken(self.url):
                    # A piece is what one read of the socket gave: too short to leave the loop for.
                    async for piece in response.aiter_bytes():
                        file.write(piece)
            return file.tell()

    async def _paged(self, asked: Listing[R]) -> AsyncIterator[R]:
        call: Call[Any] | None = asked.first()
        while call is not None:
            received = await self.perform(call)
            for row in received.rows:
                yield row
            call = asked.after(received)

    async def _streamed(self, asked: Lines[R]) -> AsyncIterator[R]:
        rows = self._exchange.rows(asked)
        response = await self._run(self._exchange.response(asked))
        async with aclosing(response):
            with unbroken(self.url):
                async for piece in response.aiter_bytes():
                    for row in rows.fed(piece):
                        yield row
                for row in rows.ended():
                    yield row

    async def _run(self, steps: Generator[Any, Any, R]) -> R:
        try:
            wanted = next(steps)
            while True:
                try:
                    outcome = await self._do(wanted)
                except Exception as error:
                    wanted = steps.throw(error)
                else:
                    wanted = steps.send(outcome)
        except StopIteration as end:
            return cast(R, end.value)

    async def _do(self, wanted: Call[Any] | Attempt | Pause | Now) -> Any:
        match wanted:
            case Attempt():
                return await self._send(wanted)
            case Pause():
                return await self._clock.sleep(wanted.seconds)
            case Now():
                return self._clock.now()
            case Call():
                return await self.perform(wanted)

    async def _send(self, attempt: Attempt) -> httpx.Response:
        request = attempt.built(self._http.build_request)
        response = await self._http.send(request, stream=attempt.request.streamed)
        if not response.is_success:
            async with aclosing(response):
                await response.aread()
        return response
