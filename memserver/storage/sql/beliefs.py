"""Beliefs: derived rows, folded again from the evidence whenever it, or a lineage, changes.

The lineage of a version is itself and, transitively, the versions of every item that was merged
into it. Evidence of any of them counts for it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, and_, bindparam, insert, select, update

from memserver.domain.evidence import Belief, Evidence, fold
from memserver.storage.sql.content import BELIEF_COLUMNS, EVIDENCE_COLUMNS, to_evidence
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
    """A belief's row. `pieces` counts the evidence folded into it."""

    belief: Belief
    namespace_id: int
    pieces: int
    last_seq: int

    def plus(self, evidence: Sequence[Evidence]) -> "_Stored":
        """With evidence that follows, in its order, on all that was folded before."""
        belief = self.belief
        for piece in evidence:
            belief = belief.plus(fold(belief.subject, belief.context, [piece]))
        pieces = self.pieces + len(evidence)
        return replace(self, belief=belief, pieces=pieces, last_seq=evidence[-1].seq)


class Beliefs:
    """The beliefs of one tenant, within one writing transaction."""

    def __init__(self, connection: Connection, *, namespaces: NamespaceCache, tenant: UUID) -> None:
        self._connection = connection
        self._namespaces = namespaces
        self._tenant = tenant

    def last_seqs(self, subjects: Iterable[UUID]) -> dict[Place, int]:
        """The highest place that was ever given among the evidence of each belief."""
        return {place: stored.last_seq for place, stored in self._stored(subjects).items()}

    def append(self, evidence: Sequence[Evidence]) -> None:
        """Folds in new evidence, which is stored and takes nothing back. Where it is simply the
        last of its order, it is added to what is believed, which is the same as folding all of
        it again; a version that thousands of runs have used would make that slow."""
        new: dict[UUID, list[Evidence]] = defaultdict(list)
        for piece in evidence:
            new[piece.subject].append(piece)
        versions = self._with_heirs(new)
        lineages = self._lineages(versions.keys())
        taken_back = self._taken_back(evidence)
        alone = {
            subject
            for subject, pieces in new.items()
            if lineages[subject] == [subject]
            and not any(piece.id in taken_back for piece in pieces)
        }
        stored = self._stored(alone)
        after: dict[Place, _Stored] = {}
        for subject in alone:
            by_context: dict[str, list[Evidence]] = defaultdict(list)
            for piece in new[subject]:
                by_context[piece.context].append(piece)
            for context, pieces in by_context.items():
                pieces.sort(key=lambda piece: piece.seq)
                place = Place(subject, context)
                home = versions[subject] or pieces[0].namespace.id
                before = stored.get(place) or _Stored(Belief(subject, context), home, 0, 0)
                after[place] = before.plus(pieces)
        self._write(stored, after)
        self._refold({subject: versions[subject] for subject in versions.keys() - alone})

    def refold(self, subjects: Iterable[UUID]) -> None:
        """Folds anew what is believed of these versions and of all that stand for them."""
        self._refold(self._with_heirs(subjects))

    def _refold(self, versions: Mapping[UUID, int | None]) -> None:
        """`versions` says in which namespace each is, if it is there."""
        lineages = self._lineages(versions.keys())
        evidence = self._evidence({one for lineage in lineages.values() for one in lineage})
        stored = self._stored(versions)
        after: dict[Place, _Stored] = {}
        for subject, lineage in lineages.items():
            by_context: dict[str, list[Evidence]] = defaultdict(list)
            for place in stored:
                if place.subject == subject:
                    by_context[place.context] = []
            for member in lineage:
                for piece in evidence.get(member, ()):
                    by_context[piece.context].append(piece)
            for context, pieces in by_context.items():
                place = Place(subject, context)
                before = stored.get(place)
                own = (piece.seq for piece in pieces if piece.subject == subject)
                # A belief is seen where its version is, wherever the runs behind it were.
                home = before.namespace_id if before else pieces[0].namespace.id
                after[place] = _Stored(
                    fold(subject, context, pieces),
                    versions[subject] or home,
                    len(pieces),
                    max([*own, before.last_seq if before else 0]),
                )
        self._write(stored, after)

    def _with_heirs(self, subjects: Iterable[UUID]) -> dict[UUID, int | None]:
        """The subjects and, transitively, the versions that their items were merged into; each
        with its namespace, None where there is no such version."""
        found: dict[UUID, int | None] = {}
        frontier = set(subjects)
        while frontier:
            found |= dict.fromkeys(frontier)
            heirs: set[UUID] = set()
            for ids in chunks(frontier):
                query = (
                    select(VERSION.c.id, VERSION.c.namespace_id, ITEM.c.merged_into)
                    .join_from(VERSION, ITEM, _ITS_ITEM)
                    .where(VERSION.c.tenant_id == self._tenant, VERSION.c.id.in_(ids))
                )
                for version, namespace_id, merged_into in self._connection.execute(query):
                    found[version] = namespace_id
                    if merged_into is not None:
                        heirs.add(merged_into)
            frontier = heirs - found.keys()
        return found

    def _lineages(self, versions: Iterable[UUID]) -> dict[UUID, list[UUID]]:
        wanted = set(versions)
        children = self._merged_into(wanted)
        return {version: _lineage(version, children) for version in wanted}

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

    def _taken_back(self, evidence: Sequence[Evidence]) -> set[UUID | None]:
        """Which of these pieces a retraction has named before they came."""
        found: set[UUID | None] = set()
        for ids in chunks(piece.id for piece in evidence):
            query = select(EVIDENCE.c.retracts).where(
                EVIDENCE.c.retracts.in_(ids), EVIDENCE.c.tenant_id == self._tenant
            )
            found.update(self._connection.scalars(query))
        return found

    def _stored(self, subjects: Iterable[UUID]) -> dict[Place, _Stored]:
        found: dict[Place, _Stored] = {}
        for ids in chunks(subjects):
            query = select(
                *BELIEF_COLUMNS, BELIEF.c.namespace_id, BELIEF.c.pieces, BELIEF.c.last_seq
            ).where(BELIEF.c.subject.in_(ids), BELIEF.c.tenant_id == self._tenant)
            for *cells, namespace_id, pieces, last_seq in self._connection.execute(query):
                belief = Belief(*cells)
                place = Place(belief.subject, belief.context)
                found[place] = _Stored(belief, namespace_id, pieces, last_seq)
        return found

    def _write(self, stored: Mapping[Place, _Stored], after: Mapping[Place, _Stored]) -> None:
        inserts: list[dict[str, Any]] = []
        updates: list[dict[str, Any]] = []
        for place, row in after.items():
            cells = {
                "successes": row.belief.successes,
                "failures": row.belief.failures,
                "outcomes": row.belief.outcomes,
                "last": row.belief.last,
                "mentions": row.belief.mentions,
                "namespace_id": row.namespace_id,
                "pieces": row.pieces,
                "last_seq": row.last_seq,
            }
            if place in stored:
                names = {"of_subject": place.subject, "of_context": place.context}
                updates.append(cells | names)
            else:
                names = {"subject": place.subject, "context": place.context}
                inserts.append(cells | names | {"tenant_id": self._tenant})
        if inserts:
            self._connection.execute(insert(BELIEF), inserts)
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
