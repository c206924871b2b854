"""Reading sessions and their events, within a caller's scope."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, and_, or_, select

from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.ports.sessions import SessionFilter
from memserver.domain.scope import Scope
from memserver.domain.sessions.events import EventKind, Session, SessionEvent
from memserver.storage.sql import cursors
from memserver.storage.sql.reach import visible
from memserver.storage.sql.session_rows import (
    EVENT_COLUMNS,
    SESSION_COLUMNS,
    to_event,
    to_session,
)
from memserver.storage.sql.tables import SESSION, SESSION_EVENT
from memserver.storage.sql.view import View, chunks


class SessionReads(View):
    def session(self, scope: Scope, session_id: UUID) -> Session | None:
        row = self._first(_seen(scope).where(SESSION.c.id == session_id))
        return None if row is None else self._sessions([row])[0]

    def sessions(self, scope: Scope, where: SessionFilter, page: PageRequest) -> Page[Session]:
        query = _seen(scope).where(SESSION.c.namespace_id.in_(where.namespaces))
        if where.agent is not None:
            query = query.where(SESSION.c.agent == where.agent)
        if where.ended is not None:
            ended = SESSION.c.ended_at
            query = query.where(ended.is_not(None) if where.ended else ended.is_(None))
        begun, row_id = SESSION.c.created_at, SESSION.c.id
        if page.cursor is not None:
            after, after_id = cursors.decode(page.cursor, "sessions", datetime, UUID)
            query = query.where(or_(begun > after, and_(begun == after, row_id > after_id)))
        rows = self._all(query.order_by(begun, row_id).limit(page.limit + 1))
        return cursors.page(
            self._sessions(rows),
            page,
            lambda one: cursors.encode("sessions", one.created_at, one.id),
        )

    def session_events(
        self, scope: Scope, session_id: UUID, page: PageRequest
    ) -> Page[SessionEvent]:
        query = _events(scope, session_id)
        if page.cursor is not None:
            (after,) = cursors.decode(page.cursor, "session events", int)
            query = query.where(SESSION_EVENT.c.seq > after)
        found = [to_event(row) for row in self._all(query.limit(page.limit + 1))]
        return cursors.page(found, page, lambda one: cursors.encode("session events", one.seq))

    def all_session_events(
        self, scope: Scope, session_id: UUID, kinds: Sequence[EventKind] = ()
    ) -> tuple[SessionEvent, ...]:
        query = _events(scope, session_id)
        if kinds:
            query = query.where(SESSION_EVENT.c.kind.in_([kind.value for kind in kinds]))
        return tuple(to_event(row) for row in self._all(query))

    def session_events_by_id(
        self, scope: Scope, session_id: UUID, ids: Sequence[UUID]
    ) -> dict[UUID, SessionEvent]:
        given = SESSION_EVENT.c.payload["id"].as_string()
        found: dict[UUID, SessionEvent] = {}
        for some in chunks(ids):
            query = _events(scope, session_id).where(given.in_([str(one) for one in some]))
            found |= {
                event.id: event
                for row in self._all(query)
                if (event := to_event(row)).id is not None
            }
        return found

    def _sessions(self, rows: Sequence[Any]) -> list[Session]:
        names = self._names(row.namespace_id for row in rows)
        return [to_session(row, names) for row in rows]


def _seen(scope: Scope) -> Select[Any]:
    return select(*SESSION_COLUMNS).where(
        visible(scope, SESSION.c.tenant_id, SESSION.c.namespace_id)
    )


def _events(scope: Scope, session_id: UUID) -> Select[Any]:
    """A session's events in order, none where the session cannot be seen."""
    return (
        select(*EVENT_COLUMNS)
        .where(
            SESSION_EVENT.c.session_id == session_id,
            visible(scope, SESSION_EVENT.c.tenant_id, SESSION_EVENT.c.namespace_id),
        )
        .order_by(SESSION_EVENT.c.seq)
    )
