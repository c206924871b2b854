"""Sessions: working memory, rendered within a budget and held to the rules of its ledger."""

from collections.abc import Callable
from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import Response

from memserver.api import session_parsing, session_shapes, shaping
from memserver.api.call import Call, CallDep, WriteCallDep
from memserver.api.queries import (
    EventListQuery,
    SessionQuery,
    StateQuery,
    UnsealQuery,
    WriteQuery,
)
from memserver.domain.errors import SessionMoved
from memserver.domain.ports import SessionFilter, Writer
from memserver.domain.scope import Scope
from memserver.services.sessions.ending import Ending, Prepared, Wish
from memserver.services.sessions.recording import Beginning
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

router = APIRouter(prefix="/sessions", tags=["sessions"])

TRIES = 3
"""How often a session to which events keep coming is worked out anew before its end is refused."""


@router.post("/{session_id}/events", status_code=201, response_model=EventsStored)
async def add_events(session_id: UUID, sent: NewEvents, call: WriteCallDep) -> Response:
    """Add events to a session, all of them or none. The first, which name a namespace, begin it.
    A call that a rule of its ledger blocks is refused, and the rule named."""
    events = await call.read(lambda: session_parsing.events(sent.events))
    namespace = None if sent.namespace is None else await call.writable(sent.namespace)
    beginning = Beginning(namespace, sent.agent, sent.subject)
    return await call.write(
        lambda tx: session_shapes.recorded(
            call.services.recording.append(tx, call.scope, session_id, beginning, events)
        ),
        status=201,
    )


@router.get("")
async def list_sessions(
    query: Annotated[SessionQuery, Query()], call: CallDep
) -> Page[SessionDetails]:
    """The sessions of a namespace, oldest first."""

    def read() -> Page[SessionDetails]:
        namespaces = call.services.access.readable(call.scope, [query.namespace])
        where = SessionFilter(
            namespaces=tuple(namespace.id for namespace in namespaces),
            agent=query.agent,
            ended=query.ended,
        )
        page = call.page(query.limit, query.cursor)
        found = call.services.sessions.list(call.scope, where, page)
        return shaping.page(found, session_shapes.session)

    return await call.show(query.unseal, read)


@router.get("/{session_id}")
async def get_session(
    session_id: UUID, query: Annotated[UnsealQuery, Query()], call: CallDep
) -> SessionDetails:
    """One session, without its events."""
    return await call.show(
        query.unseal,
        lambda: session_shapes.session(call.services.sessions.get(call.scope, session_id)),
    )


@router.get("/{session_id}/events")
async def session_events(
    session_id: UUID, query: Annotated[EventListQuery, Query()], call: CallDep
) -> Page[SessionEvent]:
    """What happened in a session, in order."""
    page = call.page(query.limit, query.cursor)

    def read() -> Page[SessionEvent]:
        found = call.services.sessions.events(call.scope, session_id, page)
        return shaping.page(found, session_shapes.event)

    return await call.show(query.unseal, read, within=_namespace_of(session_id, call))


@router.get("/{session_id}/state")
async def session_state(
    session_id: UUID, query: Annotated[StateQuery, Query()], call: CallDep
) -> SessionState:
    """The working memory as a text that never counts for more than the budget: ledger, report,
    verified evidence, recent turns, candidates. `format=json` adds the state as values."""
    return await call.show(
        query.unseal,
        lambda: session_shapes.rendered(
            call.services.sessions.rendered(call.scope, session_id, budget=query.budget_tokens),
            as_values=query.format == "json",
        ),
        within=_namespace_of(session_id, call),
    )


@router.post("/{session_id}/check")
async def check_call(session_id: UUID, sent: Proposal, call: CallDep) -> Checked:
    """Whether the rules of the ledger allow a call, and which do not. Nothing is recorded."""
    return session_shapes.checked(
        await call.read(
            lambda: call.services.sessions.check(
                call.scope, session_id, name=sent.name, arguments=sent.arguments
            )
        )
    )


@router.post("/{session_id}/end", response_model=SessionEnded)
async def end_session(
    session_id: UUID, sent: EndSession, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """End a session: what it comes to becomes a summary in the bank."""
    ending = call.services.ending
    wish = Wish(sent.budget_tokens if sent.summarise else None, learns=sent.learn)
    for tries_left in reversed(range(TRIES)):
        prepared = await call.read(lambda: ending.prepare(call.scope, session_id, wish))
        work = partial(_ended, ending, call.scope, session_id, prepared)
        try:
            return await call.write(work, wait=query.wait)
        except SessionMoved:
            if not tries_left:
                raise
    raise AssertionError("the last try returns or raises")


@router.delete("/{session_id}", response_model=SessionDeleted)
async def delete_session(session_id: UUID, call: WriteCallDep) -> Response:
    """Remove a session with its events. The summary that was made of it stays."""
    return await call.write(
        lambda tx: session_shapes.deleted(call.services.sessions.delete(tx, call.scope, session_id))
    )


def _namespace_of(session_id: UUID, call: Call) -> Callable[[], str]:
    return lambda: call.services.sessions.get(call.scope, session_id).namespace.path


def _ended(
    ending: Ending, scope: Scope, session_id: UUID, prepared: Prepared, tx: Writer
) -> SessionEnded:
    return session_shapes.ended(ending.end(tx, scope, session_id, prepared))
