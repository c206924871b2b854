"""Writing sessions: plain rows, beside the change log."""

from collections.abc import Sequence

from sqlalchemy import delete, insert, select, update

from memserver.domain.errors import IdConflict
from memserver.domain.sessions.events import Session, SessionEvent
from memserver.storage.sql.reach import Condition
from memserver.storage.sql.session_rows import event_row, session_row
from memserver.storage.sql.tables import SESSION, SESSION_EVENT
from memserver.storage.sql.view import View


class SessionWrites(View):
    def put_session(self, session: Session) -> None:
        held = self._connection.scalar(select(SESSION.c.namespace_id).where(_which(session)))
        row = session_row(session)
        if held is None:
            self._connection.execute(insert(SESSION).values(row))
        elif held == session.namespace.id:
            self._connection.execute(update(SESSION).where(_which(session)).values(row))
        else:
            raise IdConflict("session", session.id)

    def add_session_events(self, session: Session, events: Sequence[SessionEvent]) -> None:
        if events:
            self._connection.execute(
                insert(SESSION_EVENT), [event_row(session, event) for event in events]
            )

    def delete_session(self, session: Session) -> None:
        self._connection.execute(
            delete(SESSION_EVENT).where(
                SESSION_EVENT.c.session_id == session.id,
                SESSION_EVENT.c.tenant_id == session.namespace.tenant,
            )
        )
        self._connection.execute(delete(SESSION).where(_which(session)))


def _which(session: Session) -> Condition:
    return (SESSION.c.id == session.id) & (SESSION.c.tenant_id == session.namespace.tenant)
