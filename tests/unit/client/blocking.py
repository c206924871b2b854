"""The awaiting client driven from tests that do not await, so that each test is written once."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from memserver_client import AsyncEpisode, AsyncSession

END = object()
WRAPPED = (AsyncEpisode, AsyncSession)


class Blocking:
    """An `AsyncMemory`, `AsyncEpisode` or `AsyncSession` that behaves like its blocking twin: a
    coroutine is run to its end, an async iterator becomes an iterator, an episode or a session
    is wrapped in turn."""

    def __init__(self, runner: asyncio.Runner, awaiting: Any) -> None:
        self._runner = runner
        self._awaiting = awaiting

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._awaiting, name)
        return self._blocking(found) if inspect.ismethod(found) else found

    def __enter__(self) -> "Blocking":
        self._runner.run(self._awaiting.__aenter__())
        return self

    def __exit__(self, *how: Any) -> None:
        self._runner.run(self._awaiting.__aexit__(*how))

    def __repr__(self) -> str:
        return repr(self._awaiting)

    def _blocking(self, method: Any) -> Any:
        def called(*args: Any, **kwargs: Any) -> Any:
            given = method(*args, **kwargs)
            if inspect.iscoroutine(given):
                return self._runner.run(given)
            if inspect.isasyncgen(given):
                return self._iterator(given)
            return Blocking(self._runner, given) if isinstance(given, WRAPPED) else given

        return called

    def _iterator(self, rows: AsyncGenerator[Any, None]) -> Iterator[Any]:
        async def one() -> Any:
            return await anext(rows, END)

        try:
            while (row := self._runner.run(one())) is not END:
                yield row
        finally:
            self._runner.run(rows.aclose())
