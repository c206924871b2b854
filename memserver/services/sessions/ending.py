"""The end of a session: what it comes to becomes a summary in the bank, and what was said in it is
remembered."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from memserver.domain.changes import Change
from memserver.domain.errors import SessionMoved
from memserver.domain.items import Kind, TextBody
from memserver.domain.ports import Clock, Store, Writer
from memserver.domain.scope import Scope
from memserver.domain.sessions.events import Message, Session, SessionEvent
from memserver.domain.sessions.state import fold
from memserver.services.access import Access
from memserver.services.remembering import Content, Remembering
from memserver.services.sessions.reading import seen
from memserver.services.sessions.summing_up import Summed, SummingUp
from memserver.services.writing import telling
from memserver.services.writing.writing import Prepared as PreparedWriting
from memserver.services.writing.writing import Writing

METHOD = "session/summary"


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to come of a session that ends. Without a budget there is no summary; `learns`
    hands its messages on to be remembered."""

    budget: int | None
    learns: bool = True


@dataclass(frozen=True, slots=True)
class Prepared:
    """What was worked out of a session of so many events, and is yet to be written."""

    events: int
    summed: Summed | None = None
    heard: PreparedWriting | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The session as it now is. `summed` is None where nothing was said of it, or where it had
    ended before; `changes` brought messages and summary into the bank, `learnt` is how many
    messages were handed on."""

    session: Session
    summed: Summed | None = None
    changes: tuple[Change, ...] = ()
    learnt: int = 0
    existing: bool = False


class Ending:
    def __init__(
        self,
        store: Store,
        access: Access,
        remembering: Remembering,
        writing: Writing,
        summing_up: SummingUp,
        *,
        clock: Clock,
    ) -> None:
        self._store = store
        self._access = access
        self._remembering = remembering
        self._writing = writing
        self._summing_up = summing_up
        self._clock = clock

    def prepare(self, scope: Scope, session_id: UUID, wish: Wish) -> Prepared:
        """All that takes long, outside any transaction: a model may word the summary. Raises
        `SessionNotFound`, and `Forbidden` where the caller may not write."""
        with self._store.reading() as reader:
            session = seen(reader, scope, session_id)
            self._access.require_writable(scope, session.namespace)
            if session.ended_at is not None:
                return Prepared(session.events)
            events = reader.all_session_events(scope, session_id)
        summed = None
        if wish.budget is not None:
            summed = self._summing_up.summed(
                scope.tenant, fold(events), messages(events), budget=wish.budget
            )
        heard = None
        if wish.learns and messages(events):
            heard = self._writing.prepare(scope, session.namespace, self._told(session, events))
        return Prepared(session.events, summed, heard)

    def end(self, tx: Writer, scope: Scope, session_id: UUID, prepared: Prepared) -> Ended:
        """Ends the session; one that has ended stays as it is. Raises `SessionMoved` where events
        came since it was prepared: prepare it again."""
        session = seen(tx, scope, session_id)
        self._access.require_writable(scope, session.namespace)
        if session.ended_at is not None:
            return Ended(session, existing=True)
        if session.events != prepared.events:
            raise SessionMoved(session_id)
        changes: list[Change | None] = []
        learnt, item = 0, None
        if prepared.heard is not None:
            report = self._writing.write(tx, scope, session.namespace, prepared.heard)
            changes.append(report.change)
            learnt = len(prepared.heard.messages)
        if prepared.summed is not None:
            stored = self._remembering.remember(
                tx, scope, session.namespace, Kind.SUMMARY, _content(session, prepared.summed)
            )
            changes.append(stored.change)
            item = stored.entry.item.id
        now = self._clock()
        session = replace(session, ended_at=now, updated_at=now, summary=item)
        tx.put_session(session)
        made = tuple(change for change in changes if change is not None)
        return Ended(session, prepared.summed, made, learnt)

    def _told(self, session: Session, events: Sequence[SessionEvent]) -> telling.Told:
        now = self._clock()
        return telling.Told(
            at=session.created_at,
            zone=ZoneInfo(self._writing.time_zone(session.namespace)),
            messages=tuple(
                telling.Message(event.payload.speaker, event.payload.text, _past(event.at, now))
                for event in events
                if isinstance(event.payload, Message)
            ),
            subject=session.subject,
            session=session.id,
        )


def messages(events: Sequence[SessionEvent]) -> list[Message]:
    """All that was said in a session, also what its working memory has let go of."""
    return [event.payload for event in events if isinstance(event.payload, Message)]


def _past(at: datetime, now: datetime) -> datetime:
    """A clock that runs ahead must not keep a session from ending."""
    return min(at, now)


def _content(session: Session, summed: Summed) -> Content:
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
