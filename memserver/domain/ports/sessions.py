"""Sessions in the store: plain rows, which no change log knows and no undo puts back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.scope import Scope
from memserver.domain.sessions.events import EventKind, Session, SessionEvent


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """`namespaces` are exact ids that were resolved before; empty means none. `ended` None means
    both."""

    namespaces: tuple[int, ...]
    agent: str | None = None
    ended: bool | None = None


class SessionReader(Protocol):
    """Sessions outside the scope's reach are as if they were not there."""

    def session(self, scope: Scope, session_id: UUID) -> Session | None: ...
    def sessions(self, scope: Scope, where: SessionFilter, page: PageRequest) -> Page[Session]:
        """In order of their beginning, oldest first."""

    def session_events(
        self, scope: Scope, session_id: UUID, page: PageRequest
    ) -> Page[SessionEvent]:
        """In order of their numbers; empty where the session cannot be seen."""

    def all_session_events(
        self, scope: Scope, session_id: UUID, kinds: Sequence[EventKind] = ()
    ) -> tuple[SessionEvent, ...]:
        """Every event of these kinds (of any kind, where none is named), in order."""

    def session_events_by_id(
        self, scope: Scope, session_id: UUID, ids: Sequence[UUID]
    ) -> dict[UUID, SessionEvent]:
        """Those among the session's events that their senders gave one of these ids."""


class SessionWriter(Protocol):
    def put_session(self, session: Session) -> None:
        """Insert or overwrite. `IdConflict` where the tenant has the id in another namespace."""

    def add_session_events(self, session: Session, events: Sequence[SessionEvent]) -> None:
        """Adds events to a session that was put before."""

    def delete_session(self, session: Session) -> None:
        """With its events."""
