"""Sessions: what is told of a conversation, what it adds up to, what may be called in it."""

from collections.abc import Mapping, Sequence
from typing import Any

from memserver.wire.base import Page
from memserver.wire.sessions import (
    Checked,
    EndSession,
    EventsStored,
    NewEvents,
    Proposal,
    SessionDeleted,
    SessionDetails,
    SessionEnded,
    SessionEvent,
    SessionState,
)
from memserver_client._call import Call, Listing, Params, ask, read, write
from memserver_client._requests import Id, checked, id_of


def add_events(
    id: Id,
    events: Sequence[Mapping[str, Any]],
    *,
    namespace: str | None = None,
    agent: str | None = None,
    subject: str | None = None,
) -> Call[EventsStored]:
    """Adds events to a session, all of them or none; the first, with a `namespace`, begin it.
    Each is a mapping with its `kind` (`message`, `call`, `ledger` …) and the fields of that."""
    new = checked(NewEvents, namespace=namespace, agent=agent, subject=subject, events=list(events))
    return write("POST", f"{_path(id)}/events", EventsStored, new)


def sessions(
    *, namespace: str, agent: str | None = None, ended: bool | None = None
) -> Listing[SessionDetails]:
    """All of them, oldest first; `path/**` lists a subtree."""
    params = {"namespace": namespace, "agent": agent, "ended": ended}
    return Listing(path="/v1/sessions", page=Page[SessionDetails], params=params)


def session_details(id: Id) -> Call[SessionDetails]:
    return read(_path(id), SessionDetails)


def session_events(id: Id) -> Listing[SessionEvent]:
    """What happened in a session, in order."""
    return Listing(path=f"{_path(id)}/events", page=Page[SessionEvent])


def session_state(
    id: Id, *, budget_tokens: int = 2_000, format: str = "text"
) -> Call[SessionState]:
    """The working memory as a `.text` that is never over the budget; with `format="json"` its
    `.state` has the same as values."""
    params: Params = {"budget_tokens": budget_tokens, "format": format}
    return read(f"{_path(id)}/state", SessionState, params)


def check_call(id: Id, name: str, arguments: Mapping[str, Any] | None = None) -> Call[Checked]:
    """Whether the rules of the session's ledger allow a call; nothing is recorded."""
    proposal = checked(Proposal, name=name, arguments=arguments)
    return ask(f"{_path(id)}/check", Checked, proposal)


def end_session(
    id: Id, *, budget_tokens: int = 300, summarise: bool = True, learn: bool = True
) -> Call[SessionEnded]:
    """Ends a session: what it comes to becomes a summary in the bank, and its messages are
    remembered."""
    wish = checked(EndSession, budget_tokens=budget_tokens, summarise=summarise, learn=learn)
    return write("POST", f"{_path(id)}/end", SessionEnded, wish)


def delete_session(id: Id) -> Call[SessionDeleted]:
    return write("DELETE", _path(id), SessionDeleted)


def _path(id: Id) -> str:
    return f"/v1/sessions/{id_of(id)}"
