"""Beliefs: derived rows, folded again from the evidence whenever it, or a lineage, changes.

The lineage of a version is itself and, transitively, the versions of every item that was merged
into it. Evidence of any of them counts for it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, and_, bindparam, insert, select, update

from memserver.domain.evidence import Evidence, fold
from memserver.storage.sql.content import EVIDENCE_COLUMNS, to_evidence
from memserver.storage.sql.namespaces import NamespaceCache
from memserver.storage.sql.tables import BELIEF, EVIDENCE, ITEM, VERSION
from memserver.storage.sql.view import chunks

_ITS_ITEM = and_(ITEM.c.id == VERSION.c.item_id, ITEM.c.tenant_id == VERSION.c.tenant_id)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a belief stands: its subject and its context."""

    subject: UUID
    context: str


@dataclass(frozen=True, slots=True)
class _Stored:
    namespace_id: int
    last_seq: int


class Beliefs:
    """The beliefs of one tenant, within one writing transaction."""

    def __init__(self, connection: Connection, *, namespaces: NamespaceCache, tenant: UUID) -> None:
        self._connection = connection
        self._namespaces = namespaces
        self._tenant = tenant

    def last_seqs(self, subjects: Iterable[UUID]) -> dict[Place, int]:
        """The highest place that was ever given among the evidence of each belief."""
        return {place: stored.last_seq for place, stored in self._stored(subjects).items()}

    def refold(self, subjects: Iterable[UUID]) -> None:
        """Folds anew what is believed of these versions and of all that stand for them."""
        affected = self._with_heirs(subjects)
        if not affected:
            return
        children = self._merged_into(affected)
        lineages = {subject: _lineage(subject, children) for subject in affected}
        pieces = self._evidence({one for lineage in lineages.values() for one in lineage})
        stored = self._stored(affected)
        homes = self._homes(affected)
        inserts: list[dict[str, Any]] = []
        updates: list[dict[str, Any]] = []
        for subject, lineage in lineages.items():
            by_context: dict[str, list[Evidence]] = defaultdict(list)
            for place in stored:
                if place.subject == subject:
                    by_context[place.context] = []
            for member in lineage:
                for piece in pieces.get(member, ()):
                    by_context[piece.context].append(piece)
            for context, evidence in by_context.items():
                known = stored.get(Place(subject, context))
                cells = self._cells(subject, context, evidence, known, homes)
                if known is None:
                    inserts.append(cells | {"subject": subject, "context": context})
                else:
                    updates.append(cells | {"of_subject": subject, "of_context": context})
        self._write(inserts, updates)

    def _cells(
        self,
        subject: UUID,
        context: str,
        evidence: list[Evidence],
        known: _Stored | None,
        homes: Mapping[UUID, int],
    ) -> dict[str, Any]:
        belief = fold(subject, context, evidence)
        own = max((piece.seq for piece in evidence if piece.subject == subject), default=0)
        home = known.namespace_id if known else evidence[0].namespace.id
        return {
            "namespace_id": homes.get(subject, home),
            "successes": belief.successes,
            "failures": belief.failures,
            "outcomes": belief.outcomes,
            "last": belief.last,
            "pieces": len(evidence),
            "last_seq": max(own, known.last_seq if known else 0),
        }

    def _with_heirs(self, subjects: Iterable[UUID]) -> set[UUID]:
        """The subjects and, transitively, the versions that their items were merged into."""
        affected: set[UUID] = set()
        frontier = set(subjects)
        while frontier:
            affected |= frontier
            heirs: set[UUID] = set()
            for ids in chunks(frontier):
                query = (
                    select(ITEM.c.merged_into)
                    .join_from(VERSION, ITEM, _ITS_ITEM)
                    .where(
                        VERSION.c.tenant_id == self._tenant,
                        VERSION.c.id.in_(ids),
                        ITEM.c.merged_into.is_not(None),
                    )
                )
                heirs.update(self._connection.scalars(query))
            frontier = heirs - affected
        return affected

    def _merged_into(self, versions: set[UUID]) -> dict[UUID, list[UUID]]:
        """For each version in the lineages of these, the versions of items merged into it."""
        children: dict[UUID, list[UUID]] = defaultdict(list)
        seen: set[UUID] = set()
        frontier = set(versions)
        while frontier:
            seen |= frontier
            found: set[UUID] = set()
            for ids in chunks(frontier):
                query = (
                    select(ITEM.c.merged_into, VERSION.c.id)
                    .join_from(ITEM, VERSION, _ITS_ITEM)
                    .where(ITEM.c.tenant_id == self._tenant, ITEM.c.merged_into.in_(ids))
                )
                for parent, child in self._connection.execute(query):
                    children[parent].append(child)
                    found.add(child)
            frontier = found - seen
        return children

    def _evidence(self, subjects: set[UUID]) -> dict[UUID, list[Evidence]]:
        found: dict[UUID, list[Evidence]] = defaultdict(list)
        for ids in chunks(subjects):
            query = select(*EVIDENCE_COLUMNS).where(
                EVIDENCE.c.tenant_id == self._tenant, EVIDENCE.c.subject.in_(ids)
            )
            rows = self._connection.execute(query).all()
            names = self._namespaces.resolve(self._connection, (row[1] for row in rows))
            for row in rows:
                piece = to_evidence(row, names)
                found[piece.subject].append(piece)
        return found

    def _stored(self, subjects: Iterable[UUID]) -> dict[Place, _Stored]:
        found: dict[Place, _Stored] = {}
        for ids in chunks(subjects):
            query = select(
                BELIEF.c.subject, BELIEF.c.context, BELIEF.c.namespace_id, BELIEF.c.last_seq
            ).where(BELIEF.c.tenant_id == self._tenant, BELIEF.c.subject.in_(ids))
            for subject, context, namespace_id, last_seq in self._connection.execute(query):
                found[Place(subject, context)] = _Stored(namespace_id, last_seq)
        return found

    def _homes(self, versions: set[UUID]) -> dict[UUID, int]:
        """The namespace of each version that is there: a belief is seen where its version is."""
        found: dict[UUID, int] = {}
        for ids in chunks(versions):
            query = select(VERSION.c.id, VERSION.c.namespace_id).where(
                VERSION.c.tenant_id == self._tenant, VERSION.c.id.in_(ids)
            )
            for version, namespace_id in self._connection.execute(query):
                found[version] = namespace_id
        return found

    def _write(self, inserts: list[dict[str, Any]], updates: list[dict[str, Any]]) -> None:
        if inserts:
            rows = [row | {"tenant_id": self._tenant} for row in inserts]
            self._connection.execute(insert(BELIEF), rows)
        if updates:
            which = and_(
                BELIEF.c.tenant_id == self._tenant,
                BELIEF.c.subject == bindparam("of_subject"),
                BELIEF.c.context == bindparam("of_context"),
            )
            self._connection.execute(update(BELIEF).where(which), updates)


def _lineage(version: UUID, children: Mapping[UUID, list[UUID]]) -> list[UUID]:
    """The version and all below it, each once, even where merges form a ring."""
    found: dict[UUID, None] = {}
    frontier = [version]
    while frontier:
        member = frontier.pop()
        if member not in found:
            found[member] = None
            frontier += children.get(member, ())
    return list(found)
