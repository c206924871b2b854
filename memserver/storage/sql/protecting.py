"""The writer that stores nothing as it was said where privacy wants otherwise. All content, and
every plain row that may quote what users wrote, passes through here: there is no other way in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast
from uuid import UUID

from sqlalchemy import select

from memserver.domain.changes import Change, Draft, Row
from memserver.domain.decisions import Decision
from memserver.domain.evidence import Evidence
from memserver.domain.items import Item, Version
from memserver.domain.namespace_settings import NamespaceSettings
from memserver.domain.operations import Operation
from memserver.domain.policies import Exploration
from memserver.domain.ports.privacy import Looking, Original
from memserver.domain.ports.store import Once, StoredReply
from memserver.domain.practice import PracticeGoal
from memserver.domain.scope import Key, Namespace, Scope
from memserver.domain.sessions.events import Session, SessionEvent
from memserver.domain.trajectories import Trajectory
from memserver.storage.sql.sealed_rows import seal
from memserver.storage.sql.tables import ITEM
from memserver.storage.sql.tally import NotingWriter
from memserver.storage.sql.view import chunks

T = TypeVar("T")

SECRETS = Looking(secrets=True, personal_data=False)
"""What is taken out of rows that belong to no namespace."""


class ProtectingWriter(NotingWriter):
    """A value that was `protected` before goes through unchanged, and costs next to nothing."""

    def protected(self, namespaces: Sequence[Namespace], value: T) -> T:
        """As a reader says it. Of what says whom it is about the originals are kept with the
        transaction; of anything else when it is put in the store, which knows that."""
        if not hasattr(value, "subject"):
            return self._stripped(namespaces, value)
        return self._kept(namespaces, value, value.subject)

    def apply(self, draft: Draft) -> Change:
        if self._protector is None:
            return super().apply(draft)
        subjects = self._subjects(draft)
        puts = tuple(self._row(row, subjects) for row in draft.puts)
        reason = self._of_tenant(draft.tenant, draft.reason)
        return super().apply(replace(draft, puts=puts, reason=reason))

    def undo(self, scope: Scope, change_id: UUID, reason: str) -> Change:
        return super().undo(scope, change_id, self._of_tenant(scope.tenant, reason))

    def add_decision(self, decision: Decision) -> None:
        super().add_decision(self._stripped(decision.namespaces, decision))

    def add_decisions(self, decisions: Sequence[Decision]) -> None:
        super().add_decisions([self._decision(decision) for decision in decisions])

    def _decision(self, decision: Decision) -> Decision:
        """Of a write only what was told, and why a model chose as it did, is anybody's words: its
        candidates are numbers, and there may be thousands."""
        words = (decision.query, decision.choice)
        query, choice = self._stripped(decision.namespaces, words)
        return replace(decision, query=query, choice=choice)

    def put_operation(self, operation: Operation) -> None:
        super().put_operation(self._stripped([operation.namespace], operation))

    def put_session(self, session: Session) -> None:
        super().put_session(self.protected([session.namespace], session))

    def add_session_events(self, session: Session, events: Sequence[SessionEvent]) -> None:
        kept, originals = self._apart(
            tuple(events), session.namespace.tenant, self._looking([session.namespace])
        )
        if originals:
            seal(self, session.namespace, originals, subject=session.subject)
        super().add_session_events(session, kept)

    def add_practice_goals(self, goals: Sequence[PracticeGoal]) -> tuple[PracticeGoal, ...]:
        return super().add_practice_goals([self._practice(goal) for goal in goals])

    def put_practice_goal(self, goal: PracticeGoal) -> PracticeGoal:
        return super().put_practice_goal(self._practice(goal))

    def _practice(self, goal: PracticeGoal) -> PracticeGoal:
        """It says of nobody whom it is about."""
        return self._stripped([goal.namespace], goal)

    def store_reply(self, once: Once, reply: StoredReply) -> None:
        super().store_reply(once, self._of_tenant(once.tenant, reply))

    def add_key(self, key: Key) -> None:
        label = self._of_tenant(key.tenant, key.label)
        super().add_key(replace(key, label=label))

    def _subjects(self, draft: Draft) -> dict[UUID, str | None]:
        """Whom the items of what is put are about, also of those that stay as they are."""
        known = {row.id: row.subject for row in draft.puts if isinstance(row, Item)}
        others = {row.item_id for row in draft.puts if isinstance(row, Version)} - known.keys()
        for ids in chunks(others):
            query = select(ITEM.c.id, ITEM.c.subject).where(
                ITEM.c.id.in_(ids), ITEM.c.tenant_id == draft.tenant
            )
            known |= {row.id: row.subject for row in self._connection.execute(query)}
        return known

    def _row(self, row: Row, subjects: Mapping[UUID, str | None]) -> Row:
        match row:
            case NamespaceSettings():
                # Numbers and names of ours, but for the names of tools.
                tools = self._of_tenant(row.namespace.tenant, row.allowed_tools)
                return replace(row, allowed_tools=tools)
            case Exploration() | Evidence():
                # Numbers, and names of ours alone.
                return row
            case Version():
                return self._kept([row.namespace], row, subjects.get(row.item_id))
            case Trajectory() | Item():
                return self._kept([row.namespace], row, row.subject)
            case _:
                return self._kept([row.namespace], row, None)

    def _stripped(self, namespaces: Sequence[Namespace], value: T) -> T:
        """The value as it may be stored, where nobody is ever shown it unsealed: its originals are
        not kept, since no erasure would find whose they are."""
        if self._protector is None or not namespaces:
            return value
        found: T = self._apart(value, namespaces[0].tenant, self._looking(namespaces))[0]
        return found

    def _kept(self, namespaces: Sequence[Namespace], value: T, subject: str | None) -> T:
        """The value as it may be stored; its originals are kept in the first namespace."""
        if self._protector is None or not namespaces:
            return value
        found, originals = self._apart(value, namespaces[0].tenant, self._looking(namespaces))
        if originals:
            seal(self, namespaces[0], originals, subject=subject)
        return cast(T, found)

    def _of_tenant(self, tenant: UUID, value: T) -> T:
        """What belongs to no namespace: its originals are not kept."""
        found: T = self._apart(value, tenant, SECRETS)[0]
        return found

    def _apart(
        self, value: Any, tenant: UUID, looking: Looking
    ) -> tuple[Any, tuple[Original, ...]]:
        if self._protector is None:
            return value, ()
        done = self._protector.protect(value, tenant, looking, self._known(looking))
        return done.value, done.originals
