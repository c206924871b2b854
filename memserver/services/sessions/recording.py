"""Recording: events appended to a session, calls held to the rules of its ledger."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memserver.domain.errors import (
    IdConflict,
    LedgerRuleBlocks,
    SessionFull,
    SessionNotFound,
    TooLarge,
    UnknownEvidence,
    WrongState,
)
from memserver.domain.ports import Clock, Reader, Writer
from memserver.domain.scope import Namespace, Scope
from memserver.domain.sessions.events import (
    Payload,
    RuleEdit,
    Session,
    SessionEvent,
    SummaryNote,
    ToolCall,
    Verification,
)
from memserver.domain.sessions.state import DECIDING, Folding
from memserver.services.access import Access

MOST_RULES = 200
EVERYTHING_BEFORE = 0
"""As the `through` of a summary: all that came before it."""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event as it was sent; `size` is how many bytes what it says takes as JSON."""

    payload: Payload
    size: int
    at: datetime | None = None
    id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a session is begun with, and what later events may only repeat. None says nothing."""

    namespace: Namespace | None
    agent: str | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """What events say, and of whom: a person's secrets go when the person is erased."""

    subject: str | None
    payloads: tuple[Payload, ...]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The session as it now is, and the numbers of the events sent; `existing` of them had been
    there."""

    session: Session
    seqs: tuple[int, ...]
    existing: int


class Recording:
    """`most_events` bounds a session, `most_bytes` what one event says."""

    def __init__(self, access: Access, *, clock: Clock, most_events: int, most_bytes: int) -> None:
        self._access = access
        self._clock = clock
        self._most_events = most_events
        self._most_bytes = most_bytes

    def append(
        self,
        tx: Writer,
        scope: Scope,
        session_id: UUID,
        beginning: Beginning,
        events: Sequence[NewEvent],
    ) -> Recorded:
        """Adds the events, all of them or none; begins the session where it is not there.

        Raises `SessionNotFound` where there is none and no namespace to begin it in, `IdConflict`,
        `WrongState` of one that has ended, `SessionFull`, `TooLarge`, `UnknownEvidence` and
        `LedgerRuleBlocks`.
        """
        for number, event in enumerate(events):
            if event.size > self._most_bytes:
                raise TooLarge(f"What events.{number} says", self._most_bytes)
        session = self._opened(tx, scope, session_id, beginning)
        known = tx.session_events_by_id(scope, session_id, [e.id for e in events if e.id])
        if session.ended_at is not None and any(e.id not in known for e in events):
            raise WrongState("session", session_id, "ended", "written to")
        # As they would be stored: what privacy takes out of them is not there to be compared.
        sent = tx.protected(
            [session.namespace], Sent(session.subject, tuple(e.payload for e in events))
        )
        events = [replace(e, payload=p) for e, p in zip(events, sent.payloads, strict=True)]
        added, seqs = self._numbered(session, events, known)
        if session.events + len(added) > self._most_events:
            raise SessionFull(session_id, "events", self._most_events)
        added = _admitted(tx, scope, session, added)
        if added:
            session = replace(session, events=added[-1].seq, updated_at=self._clock())
            tx.put_session(session)
            tx.add_session_events(session, added)
        return Recorded(session, seqs, existing=len(events) - len(added))

    def _opened(self, tx: Writer, scope: Scope, session_id: UUID, beginning: Beginning) -> Session:
        session = tx.session(scope, session_id)
        if session is None:
            if beginning.namespace is None:
                raise SessionNotFound(session_id)
            now = self._clock()
            return Session(
                id=session_id,
                namespace=beginning.namespace,
                agent=beginning.agent or "",
                subject=beginning.subject,
                created_at=now,
                updated_at=now,
            )
        self._access.require_writable(scope, session.namespace)
        of_it = (session.namespace, session.agent, session.subject)
        (agent,) = tx.protected([session.namespace], (beginning.agent,))
        told = (beginning.namespace, agent, beginning.subject)
        if any(one not in (None, other) for one, other in zip(told, of_it, strict=True)):
            raise IdConflict("session", session_id)
        return session

    def _numbered(
        self,
        session: Session,
        events: Sequence[NewEvent],
        known: dict[UUID, SessionEvent],
    ) -> tuple[list[SessionEvent], tuple[int, ...]]:
        """The events that are new, and the number of each that was sent."""
        added: list[SessionEvent] = []
        seqs = []
        for sent in events:
            before = None if sent.id is None else known.get(sent.id)
            if before is not None:
                if _said(before.payload) != _said(_through(sent.payload, before.seq)):
                    raise IdConflict("session event", before.id or session.id)
                seqs.append(before.seq)
                continue
            seq = session.events + len(added) + 1
            event = SessionEvent(
                seq=seq,
                payload=_through(sent.payload, seq),
                at=sent.at or self._clock(),
                id=sent.id,
            )
            added.append(event)
            seqs.append(seq)
            if sent.id is not None:
                known[sent.id] = event
        return added, tuple(seqs)


def _admitted(
    tx: Reader, scope: Scope, session: Session, added: Sequence[SessionEvent]
) -> list[SessionEvent]:
    """The events as they are to be kept: a call that overrides rules says which."""
    if not any(isinstance(e.payload, ToolCall | Verification | RuleEdit) for e in added):
        return list(added)
    folding = Folding()
    for event in tx.all_session_events(scope, session.id, DECIDING):
        folding.add(event)
    admitted = []
    for event in added:
        match event.payload:
            case ToolCall() as call:
                event = replace(event, payload=_allowed(folding, call))
            case Verification(evidence=name) if name not in folding.claims:
                raise UnknownEvidence(name)
        folding.add(event)
        if folding.rules > MOST_RULES:
            raise SessionFull(session.id, "rules", MOST_RULES)
        admitted.append(event)
    return admitted


def _allowed(folding: Folding, call: ToolCall) -> ToolCall:
    blocked = folding.blocked_by(call)
    if blocked and call.override_reason is None:
        raise LedgerRuleBlocks(call.name, [(one.rule, one.because) for one in blocked])
    return replace(call, overrode=tuple(one.rule for one in blocked))


def _through(payload: Payload, seq: int) -> Payload:
    """A summary that names no turn stands for all before it, and none for what is to come."""
    if not isinstance(payload, SummaryNote):
        return payload
    before = seq - 1
    return replace(
        payload,
        through=before if payload.through == EVERYTHING_BEFORE else min(payload.through, before),
    )


def _said(payload: Payload) -> Any:
    """What was sent, without what the server adds to it."""
    return replace(payload, overrode=()) if isinstance(payload, ToolCall) else payload
