"""Erasure: the one exception to the rule that nothing is ever lost. All that was said by or about a
person goes from every table, and from the log as well, so that no undo can bring it back.

What goes is found by subject (runs, items, sessions), by descent (versions that were drawn from
those runs, and whatever was written over them), and by mention (decisions, replies and reports that
name one of these rows).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Table,
    and_,
    delete,
    func,
    insert,
    select,
    update,
)

from memserver.domain.changes import Action, Change, RowRef, Verb
from memserver.domain.changes import Table as Content
from memserver.domain.ports.privacy import Erasing, Erasure, VectorNames, subject_digest
from memserver.ids import uuid7
from memserver.storage.sql.beliefs import Beliefs
from memserver.storage.sql.changes import change_row
from memserver.storage.sql.content import TABLES
from memserver.storage.sql.descent import Descent, Reworked
from memserver.storage.sql.index_reads import IndexReads
from memserver.storage.sql.mentions import Mentions
from memserver.storage.sql.reach import path_matches
from memserver.storage.sql.sealed_rows import erasure_row
from memserver.storage.sql.tables import (
    BELIEF,
    CHANGE,
    DECISION,
    ERASURE,
    EVIDENCE,
    ITEM,
    NAMESPACE,
    PRACTICE_GOAL,
    ROW_CHANGE,
    SEALED,
    SESSION,
    SESSION_EVENT,
    TRAJECTORY,
    VECTOR,
    VERSION,
)
from memserver.storage.sql.view import View, chunks

_OF_SUBJECTS = (TRAJECTORY, ITEM, SESSION, SEALED)


@dataclass(slots=True)
class _Person:
    """What is theirs: ids by kind."""

    subjects: frozenset[str]
    namespaces: frozenset[int]
    runs: set[UUID] = field(default_factory=set)
    sessions: set[UUID] = field(default_factory=set)
    items: set[UUID] = field(default_factory=set)


class ErasingWrites(View):
    def erase(self, erasing: Erasing, vector_names: VectorNames) -> Erasure:
        """As the port says."""
        person = self._person(erasing)
        reworked = self._descent(erasing, person)
        counts: Counter[str] = Counter()
        counts["vectors"] = self._forget_vectors(erasing, person, reworked, vector_names)
        decisions = self._decisions_about(erasing, person, reworked)
        unsettled = self._forget_evidence(erasing, person, reworked, decisions, counts)
        names = {*person.runs, *person.sessions, *reworked.items, *reworked.versions, *decisions}
        mentions = Mentions(self._connection, erasing.tenant, names)
        counts["operations"] = mentions.forget_reports(besides=erasing.operation)
        counts["idempotency"] = mentions.forget_replies()
        counts["decisions"] = self._delete(DECISION, erasing.tenant, decisions)
        self._note(erasing, person, reworked)
        self._rewrite(erasing.tenant, reworked)
        counts["version"] = self._delete(VERSION, erasing.tenant, reworked.versions)
        counts["item"] = self._delete(ITEM, erasing.tenant, reworked.items)
        counts["trajectory"] = self._delete(TRAJECTORY, erasing.tenant, person.runs)
        counts["practice_goal"] = self._delete(
            PRACTICE_GOAL, erasing.tenant, person.runs, by="trajectory"
        )
        counts["session_event"] = self._delete(
            SESSION_EVENT, erasing.tenant, person.sessions, by="session_id"
        )
        counts["session"] = self._delete(SESSION, erasing.tenant, person.sessions)
        counts["sealed"] = self._forget_originals(erasing, person)
        counts["rewritten"] = len(reworked.rewritten)
        counts["out_of_reach"] = reworked.out_of_reach
        beliefs = Beliefs(self._connection, namespaces=self._namespaces, tenant=erasing.tenant)
        beliefs.refold(unsettled | reworked.unsettled)
        return self._recorded(erasing, counts)

    # --- what is theirs

    def _person(self, erasing: Erasing) -> _Person:
        subjects = frozenset(
            subject
            for table in _OF_SUBJECTS
            for subject in self._connection.scalars(
                select(table.c.subject)
                .where(table.c.tenant_id == erasing.tenant, table.c.subject.is_not(None))
                .distinct()
            )
            if subject_digest(erasing.tenant, subject) == erasing.digest
        )
        namespaces = frozenset(
            self._connection.scalars(
                select(NAMESPACE.c.id).where(
                    NAMESPACE.c.tenant_id == erasing.tenant, path_matches(erasing.pattern)
                )
            )
        )
        person = _Person(subjects, namespaces)
        person.runs = self._of_subject(erasing.tenant, person, TRAJECTORY)
        person.sessions = self._of_subject(erasing.tenant, person, SESSION)
        person.items = self._of_subject(erasing.tenant, person, ITEM)
        for ids in chunks(person.sessions):
            of_sessions = select(VERSION.c.item_id).where(
                VERSION.c.session.in_(ids), self._here(erasing.tenant, person, VERSION)
            )
            summaries = select(SESSION.c.summary).where(
                SESSION.c.id.in_(ids), SESSION.c.tenant_id == erasing.tenant
            )
            person.items.update(self._connection.scalars(of_sessions))
            person.items.update(s for s in self._connection.scalars(summaries) if s is not None)
        return person

    def _of_subject(self, tenant: UUID, person: _Person, table: Table) -> set[UUID]:
        if not person.subjects:
            return set()
        query = select(table.c.id).where(
            table.c.subject.in_(person.subjects), self._here(tenant, person, table)
        )
        return set(self._connection.scalars(query))

    def _here(self, tenant: UUID, person: _Person, table: Table) -> ColumnElement[bool]:
        return and_(table.c.tenant_id == tenant, table.c.namespace_id.in_(person.namespaces))

    def _descent(self, erasing: Erasing, person: _Person) -> Reworked:
        descent = Descent(self._connection, erasing.tenant, person.namespaces, runs=person.runs)
        return descent.of(person.items)

    def _decisions_about(self, erasing: Erasing, person: _Person, reworked: Reworked) -> set[UUID]:
        """Those that their runs and sessions asked for, and those that chose to write what
        goes."""
        found: set[UUID] = set()
        for ids in chunks({*person.runs, *person.sessions}):
            query = select(DECISION.c.id).where(
                DECISION.c.trajectory_id.in_(ids), DECISION.c.tenant_id == erasing.tenant
            )
            found.update(self._connection.scalars(query))
        named = {str(row_id) for row_id in (*reworked.items, *reworked.versions)}
        query = select(DECISION.c.id, DECISION.c.choice).where(
            DECISION.c.tenant_id == erasing.tenant, DECISION.c.choice.is_not(None)
        )
        for row_id, choice in self._connection.execute(query):
            if choice and not named.isdisjoint(map(str, choice.values())):
                found.add(row_id)
        return found

    # --- what goes

    def _forget_vectors(
        self, erasing: Erasing, person: _Person, reworked: Reworked, names: VectorNames
    ) -> int:
        """By what the index was told. The table only spares encoding a text again, so that a
        vector which another text of the same words has as well is no loss."""
        refs = [
            *(RowRef(Content.TRAJECTORY, run) for run in person.runs),
            *(RowRef(Content.ITEM, item) for item in reworked.touched),
        ]
        gone = {*person.runs, *reworked.versions, *reworked.rewritten}
        documents = IndexReads(
            self._connection, namespaces=self._namespaces, clock=self._clock
        ).documents(erasing.tenant, refs)
        hashes = {
            name
            for document in documents
            if document.id in gone
            for text in (document.text, document.context)
            if text
            for name in names(text)
        }
        for some in chunks(hashes):
            self._connection.execute(delete(VECTOR).where(VECTOR.c.hash.in_(some)))
        return len(hashes)

    def _forget_evidence(
        self,
        erasing: Erasing,
        person: _Person,
        reworked: Reworked,
        decisions: set[UUID],
        counts: Counter[str],
    ) -> set[UUID]:
        """Of versions that go, and of what was said in their name of versions that stay: those,
        whose beliefs must be folded again."""
        gone: dict[UUID, UUID] = {}
        causes = {*person.runs, *person.sessions, *decisions}
        for column, wanted in ((EVIDENCE.c.subject, reworked.versions), (EVIDENCE.c.cause, causes)):
            for ids in chunks(wanted):
                query = select(EVIDENCE.c.id, EVIDENCE.c.subject).where(
                    column.in_(ids), EVIDENCE.c.tenant_id == erasing.tenant
                )
                gone |= {row.id: row.subject for row in self._connection.execute(query)}
        self._scrub_log(erasing.tenant, gone)
        counts["evidence"] = self._delete(EVIDENCE, erasing.tenant, gone)
        self._delete(BELIEF, erasing.tenant, reworked.versions, by="subject")
        return set(gone.values()) - reworked.versions

    def _forget_originals(self, erasing: Erasing, person: _Person) -> int:
        if not person.subjects:
            return 0
        query = delete(SEALED).where(
            SEALED.c.subject.in_(person.subjects), self._here(erasing.tenant, person, SEALED)
        )
        return int(self._connection.execute(query).rowcount)

    def _delete(self, table: Table, tenant: UUID, ids: Iterable[UUID], *, by: str = "id") -> int:
        gone = 0
        for some in chunks(ids):
            query = delete(table).where(table.c[by].in_(some), table.c.tenant_id == tenant)
            gone += int(self._connection.execute(query).rowcount)
        return gone

    # --- what stays

    def _rewrite(self, tenant: UUID, reworked: Reworked) -> None:
        """Rows that stay and must not tell of what goes."""
        for table, changed in ((VERSION, reworked.version_cells), (ITEM, reworked.item_cells)):
            for row_id, cells in changed.items():
                which = and_(table.c.id == row_id, table.c.tenant_id == tenant)
                self._connection.execute(update(table).where(which).values(cells))

    # --- the log

    def _note(self, erasing: Erasing, person: _Person, reworked: Reworked) -> None:
        """The erasure as a change, for those who follow the log; and the log without what the
        rows were."""
        refs = [
            *(RowRef(Content.TRAJECTORY, run) for run in sorted(person.runs)),
            *(RowRef(Content.ITEM, item) for item in sorted(reworked.touched)),
            *(RowRef(Content.VERSION, one) for one in sorted(reworked.versions)),
            *(RowRef(Content.VERSION, one) for one in sorted(reworked.rewritten)),
        ]
        self._scrub_log(erasing.tenant, [ref.id for ref in refs])
        homes = self._homes(erasing.tenant, refs)
        last = self._connection.scalar(select(func.max(CHANGE.c.position))) or 0
        now = self._now()
        change = Change(
            position=last + 1,
            id=uuid7(at_ms=int(now.timestamp() * 1000)),
            tenant=erasing.tenant,
            verb=Verb.ERASE,
            actor=erasing.actor,
            reason="a person was erased",
            created_at=now,
            before_hash="",
            after_hash="",
            rows=len(refs),
            operation=erasing.operation,
        )
        self._connection.execute(insert(CHANGE), [change_row(change)])
        logged = [
            {
                "position": change.position,
                "ordinal": ordinal,
                "tenant_id": erasing.tenant,
                "table_name": ref.table.value,
                "row_id": ref.id,
                "owner_id": reworked.item_of.get(ref.id, ref.id),
                "action": Action.ERASE.value,
                "namespace_id": homes[ref],
                "before": None,
                "after_hash": None,
            }
            for ordinal, ref in enumerate(ref for ref in refs if ref in homes)
        ]
        if logged:
            self._connection.execute(insert(ROW_CHANGE), logged)

    def _homes(self, tenant: UUID, refs: Sequence[RowRef]) -> dict[RowRef, int]:
        homes: dict[RowRef, int] = {}
        for content in (Content.TRAJECTORY, Content.ITEM, Content.VERSION):
            table = TABLES[content]
            for ids in chunks(ref.id for ref in refs if ref.table is content):
                query = select(table.c.id, table.c.namespace_id).where(
                    table.c.id.in_(ids), table.c.tenant_id == tenant
                )
                for row_id, namespace_id in self._connection.execute(query):
                    homes[RowRef(content, row_id)] = namespace_id
        return homes

    def _scrub_log(self, tenant: UUID, ids: Iterable[UUID]) -> None:
        """What the log keeps of a row is gone with it: what it was, the hashes of it, and the
        reason that somebody gave. Such a change cannot be undone any more."""
        for some in chunks(ids):
            for column in (ROW_CHANGE.c.row_id, ROW_CHANGE.c.owner_id):
                which = and_(column.in_(some), ROW_CHANGE.c.tenant_id == tenant)
                positions = set(
                    self._connection.scalars(select(ROW_CHANGE.c.position).where(which))
                )
                if not positions:
                    continue
                self._connection.execute(
                    update(ROW_CHANGE)
                    .where(which)
                    .values(before=None, after_hash=None, action=Action.ERASE.value)
                )
                for part in chunks(positions):
                    self._connection.execute(
                        update(CHANGE)
                        .where(CHANGE.c.position.in_(part))
                        .values(before_hash="", after_hash="", reason="erased")
                    )

    def _recorded(self, erasing: Erasing, counts: Mapping[str, int]) -> Erasure:
        now = self._now()
        erasure = Erasure(
            id=uuid7(at_ms=int(now.timestamp() * 1000)),
            tenant=erasing.tenant,
            digest=erasing.digest,
            created_at=now,
            pattern=erasing.pattern,
            counts={table: count for table, count in sorted(counts.items()) if count},
        )
        self._connection.execute(insert(ERASURE).values(erasure_row(erasure)))
        return erasure
