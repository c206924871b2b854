"""Calls of tools: what a model wrote is checked, held to the session's rules, and done."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from memserver.domain.errors import (
    Invalid,
    ItemNotFound,
    LedgerRuleBlocks,
    MemserverError,
    SessionFull,
    SessionNotFound,
    WrongState,
)
from memserver.domain.scope import Scope
from memserver.services.access import Access
from memserver.services.sessions.reading import Sessions
from memserver.services.tools.schemas import FORMATS
from memserver.services.tools.tool import Answer, Arguments, Place, Tool, Write

FOR_THE_MODEL: tuple[type[MemserverError], ...] = (
    Invalid,
    ItemNotFound,
    LedgerRuleBlocks,
    SessionFull,
    WrongState,
)
"""Refusals of what a model asked for, which it can read and do better. All others are refusals
of whoever runs it, and stay errors."""


class Tools:
    def __init__(self, tools: Sequence[Tool], access: Access, sessions: Sessions) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._access = access
        self._sessions = sessions

    def offered(self, format: str) -> list[dict[str, Any]]:
        """All tools, in one of `FORMATS`."""
        return [FORMATS[format](tool) for tool in self._tools.values()]

    def place(self, scope: Scope, namespace: str, session: UUID | None) -> Place:
        """Where a call is to act. Raises `InvalidNamespace`, `NamespaceForbidden`,
        `NamespaceNotFound`, `SessionNotFound`."""
        found = self._access.readable_one(scope, namespace)
        if session is None:
            return Place(scope, found)
        within = self._sessions.get(scope, session)
        if within.namespace != found:
            raise SessionNotFound(session)
        return Place(scope, found, session, within.subject)

    def call(self, place: Place, name: str, arguments: Mapping[str, Any] | str) -> Answer | Write:
        """What came of it, or what is left to be written. A call that the model got wrong is an
        answer that says so. Raises `Forbidden` where the caller may not do what was asked."""
        tool = self._tools.get(name)
        if tool is None:
            return _error("unknown_tool", f"There is no tool {name!r}; there are {self._names}.")
        if tool.in_session and place.session is None:
            return _error("no_session", f"{name} works on a session, and none was named.")
        try:
            given = _given(arguments)
            asked = _checked(tool, given)
        except ValueError as error:
            return _error("invalid_arguments", str(error))
        try:
            self._hold_to_rules(place, name, given)
            return tool.call(place, asked)
        except FOR_THE_MODEL as error:
            return refused(error)

    @property
    def _names(self) -> str:
        return ", ".join(self._tools)

    def _hold_to_rules(self, place: Place, name: str, arguments: Mapping[str, Any]) -> None:
        """Raises `LedgerRuleBlocks`."""
        if place.session is None:
            return
        blocked = self._sessions.check(place.scope, place.session, name=name, arguments=arguments)
        if blocked:
            raise LedgerRuleBlocks(name, [(one.rule, one.because) for one in blocked])


def refused(error: MemserverError) -> Answer:
    """A refusal as the model reads it."""
    return _error(error.code, str(error))


def _error(code: str, detail: str) -> Answer:
    return Answer(content=detail, data={"error": {"code": code, "detail": detail}}, is_error=True)


def _given(arguments: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """Raises ValueError where a text is no JSON object."""
    if not isinstance(arguments, str):
        return arguments
    try:
        found = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ValueError(f"The arguments are not JSON: {error}.") from None
    if not isinstance(found, dict):
        raise ValueError("The arguments must be a JSON object.")
    return found


def _checked(tool: Tool, given: Mapping[str, Any]) -> Arguments:
    """The arguments in their shape; null stands for what was left out. Raises ValueError, in
    words for the model that wrote them."""
    told = {name: value for name, value in given.items() if value is not None}
    try:
        return tool.arguments.model_validate(told)
    except ValidationError as error:
        faults = [
            ": ".join(filter(None, [".".join(map(str, fault["loc"])), fault["msg"]]))
            for fault in error.errors(include_url=False, include_input=False)
        ]
        raise ValueError(f"The arguments of {tool.name} do not fit. {'; '.join(faults)}.") from None
