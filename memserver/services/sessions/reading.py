"""Looking into sessions: what was said, what follows from it, what may be called."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memserver.domain.errors import SessionNotFound
from memserver.domain.ports import Page, PageRequest, Reader, SessionFilter, Store, Writer
from memserver.domain.scope import Scope
from memserver.domain.sessions.events import Session, SessionEvent
from memserver.domain.sessions.rules import Blocked
from memserver.domain.sessions.state import DECIDING, State, fold
from memserver.services.access import Access
from memserver.services.sessions.fitting import Fitted
from memserver.services.sessions.rendering import render


@dataclass(frozen=True, slots=True)
class Standing:
    """A session, and the state that its events add up to."""

    session: Session
    state: State


@dataclass(frozen=True, slots=True)
class Rendered:
    standing: Standing
    fitted: Fitted
    token_counter: str
    budget: int


class Sessions:
    """`count` is the server's token counter, and `counter` its name. Nothing here encodes
    anything."""

    def __init__(
        self, store: Store, access: Access, *, count: Callable[[str], int], counter: str
    ) -> None:
        self._store = store
        self._access = access
        self._count = count
        self._counter = counter

    def get(self, scope: Scope, session_id: UUID) -> Session:
        """Raises `SessionNotFound`, as all that follow do."""
        with self._store.reading() as reader:
            return seen(reader, scope, session_id)

    def list(self, scope: Scope, where: SessionFilter, page: PageRequest) -> Page[Session]:
        with self._store.reading() as reader:
            return reader.sessions(scope, where, page)

    def events(self, scope: Scope, session_id: UUID, page: PageRequest) -> Page[SessionEvent]:
        with self._store.reading() as reader:
            seen(reader, scope, session_id)
            return reader.session_events(scope, session_id, page)

    def standing(self, scope: Scope, session_id: UUID) -> Standing:
        with self._store.reading() as reader:
            return standing(reader, scope, session_id)

    def rendered(self, scope: Scope, session_id: UUID, *, budget: int) -> Rendered:
        found = self.standing(scope, session_id)
        fitted = render(found.state, budget=budget, count=self._count)
        return Rendered(found, fitted, self._counter, budget)

    def check(
        self, scope: Scope, session_id: UUID, *, name: str, arguments: Mapping[str, Any]
    ) -> tuple[Blocked, ...]:
        """The ledger rules that block the call; none where it is allowed."""
        with self._store.reading() as reader:
            session = seen(reader, scope, session_id)
            deciding = reader.all_session_events(scope, session_id, DECIDING)
            # What privacy took out of the ledger is compared with what it takes out of these.
            arguments = reader.protected([session.namespace], dict(arguments))
        return fold(deciding).blocked_by(name, arguments)

    def delete(self, tx: Writer, scope: Scope, session_id: UUID) -> Session:
        """Removes a session with its events. The summary that was made of it stays."""
        session = seen(tx, scope, session_id)
        self._access.require_writable(scope, session.namespace)
        tx.delete_session(session)
        return session


def seen(reader: Reader, scope: Scope, session_id: UUID) -> Session:
    session = reader.session(scope, session_id)
    if session is None:
        raise SessionNotFound(session_id)
    return session


def standing(reader: Reader, scope: Scope, session_id: UUID) -> Standing:
    session = seen(reader, scope, session_id)
    return Standing(session, fold(reader.all_session_events(scope, session_id)))
