"""The end of a session: what it comes to becomes a summary in the bank."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memserver.domain.changes import Change
from memserver.domain.items import Kind, TextBody
from memserver.domain.ports import Clock, Reader, Store, Writer
from memserver.domain.scope import Scope
from memserver.domain.sessions.events import Message, Session, SessionEvent
from memserver.domain.sessions.state import fold
from memserver.services.access import Access
from memserver.services.remembering import Content, Remembering
from memserver.services.sessions.reading import seen
from memserver.services.sessions.summing_up import Summed, SummingUp

METHOD = "session/summary"


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is to be said of a session of so many events; `summed` is None where nothing is."""

    events: int
    summed: Summed | None


@dataclass(frozen=True, slots=True)
class Ended:
    """The session as it now is. `summed` is None where nothing was said of it, or where it had
    ended before; `change` brought the summary into the bank."""

    session: Session
    summed: Summed | None
    change: Change | None
    existing: bool = False


class Ending:
    def __init__(
        self,
        store: Store,
        access: Access,
        remembering: Remembering,
        summing_up: SummingUp,
        *,
        clock: Clock,
    ) -> None:
        self._store = store
        self._access = access
        self._remembering = remembering
        self._summing_up = summing_up
        self._clock = clock

    def prepare(self, scope: Scope, session_id: UUID, *, budget: int | None) -> Prepared:
        """Words the summary, outside any transaction, since a model may. Without a budget there
        is none. Raises `SessionNotFound`, and `Forbidden` where the caller may not write."""
        with self._store.reading() as reader:
            session = seen(reader, scope, session_id)
            self._access.require_writable(scope, session.namespace)
            if session.ended_at is not None or budget is None:
                return Prepared(session.events, None)
            events = reader.all_session_events(scope, session_id)
        summed = self._summing_up.summed(
            scope.tenant, fold(events), messages(events), budget=budget
        )
        return Prepared(session.events, summed)

    def end(
        self,
        tx: Writer,
        scope: Scope,
        session_id: UUID,
        prepared: Prepared,
        *,
        budget: int | None,
    ) -> Ended:
        """Ends the session; one that has ended stays as it is. Events that came since the summary
        was worded are in it: then it is made again, by rules."""
        session = seen(tx, scope, session_id)
        self._access.require_writable(scope, session.namespace)
        if session.ended_at is not None:
            return Ended(session, None, None, existing=True)
        summed = prepared.summed
        if budget is not None and prepared.events != session.events:
            summed = self._extracted(tx, scope, session_id, budget)
        change, item = None, None
        if summed is not None:
            stored = self._remembering.remember(
                tx, scope, session.namespace, Kind.SUMMARY, self._content(session, summed)
            )
            change, item = stored.change, stored.entry.item.id
        now = self._clock()
        session = replace(session, ended_at=now, updated_at=now, summary=item)
        tx.put_session(session)
        return Ended(session, summed, change)

    def _extracted(
        self, reader: Reader, scope: Scope, session_id: UUID, budget: int
    ) -> Summed | None:
        events = reader.all_session_events(scope, session_id)
        return self._summing_up.extracted(fold(events), messages(events), budget=budget)

    def _content(self, session: Session, summed: Summed) -> Content:
        by = f" of {session.agent}" if session.agent else ""
        return Content(
            title=f"Session{by} begun {session.created_at:%Y-%m-%d %H:%M} UTC",
            body=TextBody(summed.text),
            metadata={
                "session": str(session.id),
                "events": session.events,
                "worded_by": summed.by,
            },
            method=METHOD,
            subject=session.subject,
        )


def messages(events: Sequence[SessionEvent]) -> list[Message]:
    """All that was said in a session, also what its working memory has let go of."""
    return [event.payload for event in events if isinstance(event.payload, Message)]
