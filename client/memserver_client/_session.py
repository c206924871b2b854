"""One session: told what happens, asked for what it adds up to."""

from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from memserver.ids import uuid7
from memserver.wire.sessions import Checked, EventsStored, SessionEnded, SessionState
from memserver.wire.tools import ToolResult
from memserver_client import _telling as telling
from memserver_client._call import Call
from memserver_client._calls import sessions, tools
from memserver_client._methods import describes
from memserver_client._requests import Id, id_of
from memserver_client._telling import Event
from memserver_client._transport import AsyncConnection, Connection

P = ParamSpec("P")


class Talk:
    """What both kinds of session share: all but reaching the server."""

    def __init__(
        self,
        *,
        namespace: str,
        id: Id | None,
        agent: str | None,
        subject: str | None,
        ends: bool,
    ) -> None:
        self.id: UUID = uuid7() if id is None else id_of(id)
        self.namespace = namespace
        self.ended: SessionEnded | None = None
        self._agent = agent
        self._subject = subject
        self._ends = ends
        self._begun = id is not None

    def _telling(self, event: Event) -> Call[EventsStored]:
        self._begun = True
        return sessions.add_events(
            self.id,
            [event],
            namespace=self.namespace,
            agent=self._agent,
            subject=self._subject,
        )

    def _tool(self, name: str, arguments: Mapping[str, Any] | str | None) -> Call[ToolResult]:
        return tools.call_tool(name, arguments, namespace=self.namespace, session=self.id)

    def _is_to_end(self, error: BaseException | None) -> bool:
        """What an exception left can be gone on with; what never began cannot end."""
        return self._ends and self._begun and self.ended is None and error is None


def _tells(
    description: Callable[P, Event],
) -> Callable[Concatenate["Session", P], EventsStored]:
    @describes(description, answer=EventsStored)
    def method(self: "Session", /, *args: P.args, **kwargs: P.kwargs) -> EventsStored:
        return self._server.perform(self._telling(description(*args, **kwargs)))

    return method


class Session(Talk):
    """Made by `Memory.session`. Each event is sent as it is told; the first begins the session.

    Used in a with-block, the session ends with the block, unless `ends=False` was asked for or
    the block was left by an exception. `ended` is then what came of it. Without a block it goes
    on until `end`.
    """

    def __init__(self, server: Connection, **about: Any) -> None:
        super().__init__(**about)
        self._server = server

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_to_end(error):
            self.end()

    say = _tells(telling.say)
    call = _tells(telling.call)
    result = _tells(telling.result)
    report = _tells(telling.report)
    candidate = _tells(telling.candidate)
    evidence = _tells(telling.evidence)
    verify = _tells(telling.verify)
    set = _tells(telling.set)
    unset = _tells(telling.unset)
    rule = _tells(telling.rule)

    def state(self, *, budget_tokens: int = 2_000, format: str = "text") -> SessionState:
        """As `Memory.session_state`."""
        asked = sessions.session_state(self.id, budget_tokens=budget_tokens, format=format)
        return self._server.perform(asked)

    def check(self, name: str, arguments: Mapping[str, Any] | None = None) -> Checked:
        """As `Memory.check_call`."""
        return self._server.perform(sessions.check_call(self.id, name, arguments))

    def tool(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> ToolResult:
        """As `Memory.call_tool`, in this session."""
        return self._server.perform(self._tool(name, arguments))

    def end(
        self, *, budget_tokens: int = 300, summarise: bool = True, learn: bool = True
    ) -> SessionEnded:
        """As `Memory.end_session`."""
        self.ended = self._server.perform(
            sessions.end_session(
                self.id, budget_tokens=budget_tokens, summarise=summarise, learn=learn
            )
        )
        return self.ended


def _tells_awaited(
    description: Callable[P, Event],
) -> Callable[Concatenate["AsyncSession", P], Coroutine[Any, Any, EventsStored]]:
    @describes(description, answer=EventsStored)
    async def method(self: "AsyncSession", /, *args: P.args, **kwargs: P.kwargs) -> EventsStored:
        return await self._server.perform(self._telling(description(*args, **kwargs)))

    return method


class AsyncSession(Talk):
    """Made by `AsyncMemory.session`, used in an `async with` block; as `Session`."""

    def __init__(self, server: AsyncConnection, **about: Any) -> None:
        super().__init__(**about)
        self._server = server

    async def __aenter__(self) -> "AsyncSession":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_to_end(error):
            await self.end()

    say = _tells_awaited(telling.say)
    call = _tells_awaited(telling.call)
    result = _tells_awaited(telling.result)
    report = _tells_awaited(telling.report)
    candidate = _tells_awaited(telling.candidate)
    evidence = _tells_awaited(telling.evidence)
    verify = _tells_awaited(telling.verify)
    set = _tells_awaited(telling.set)
    unset = _tells_awaited(telling.unset)
    rule = _tells_awaited(telling.rule)

    async def state(self, *, budget_tokens: int = 2_000, format: str = "text") -> SessionState:
        """As `AsyncMemory.session_state`."""
        asked = sessions.session_state(self.id, budget_tokens=budget_tokens, format=format)
        return await self._server.perform(asked)

    async def check(self, name: str, arguments: Mapping[str, Any] | None = None) -> Checked:
        """As `AsyncMemory.check_call`."""
        return await self._server.perform(sessions.check_call(self.id, name, arguments))

    async def tool(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> ToolResult:
        """As `AsyncMemory.call_tool`, in this session."""
        return await self._server.perform(self._tool(name, arguments))

    async def end(
        self, *, budget_tokens: int = 300, summarise: bool = True, learn: bool = True
    ) -> SessionEnded:
        """As `AsyncMemory.end_session`."""
        self.ended = await self._server.perform(
            sessions.end_session(
                self.id, budget_tokens=budget_tokens, summarise=summarise, learn=learn
            )
        )
        return self.ended
