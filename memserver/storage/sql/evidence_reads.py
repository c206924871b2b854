"""Reading what is known of item versions: evidence and the beliefs that follow from it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Select, select

from memserver.domain.evidence import Belief, Evidence
from memserver.domain.scope import Scope
from memserver.storage.sql.content import BELIEF_COLUMNS, EVIDENCE_COLUMNS, to_evidence
from memserver.storage.sql.reach import visible
from memserver.storage.sql.tables import BELIEF, EVIDENCE
from memserver.storage.sql.view import View, chunks


class EvidenceReads(View):
    def beliefs(self, scope: Scope, versions: Sequence[UUID]) -> dict[UUID, tuple[Belief, ...]]:
        found: dict[UUID, tuple[Belief, ...]] = {}
        for some in chunks(versions):
            query = (
                select(*BELIEF_COLUMNS)
                .where(
                    BELIEF.c.subject.in_(some),
                    visible(scope, BELIEF.c.tenant_id, BELIEF.c.namespace_id),
                    BELIEF.c.pieces > 0,
                )
                .order_by(BELIEF.c.subject, BELIEF.c.context)
            )
            for row in self._all(query):
                belief = Belief(*row)
                found[belief.subject] = (*found.get(belief.subject, ()), belief)
        return found

    def evidence(self, scope: Scope, subject: UUID) -> tuple[Evidence, ...]:
        """In the order in which it was recorded."""
        return self._evidence(scope, select(*EVIDENCE_COLUMNS).where(EVIDENCE.c.subject == subject))

    def evidence_of_cause(self, scope: Scope, cause: UUID) -> tuple[Evidence, ...]:
        return self._evidence(scope, select(*EVIDENCE_COLUMNS).where(EVIDENCE.c.cause == cause))

    def evidence_of_causes(
        self, scope: Scope, causes: Sequence[UUID]
    ) -> dict[UUID, tuple[Evidence, ...]]:
        found: dict[UUID, tuple[Evidence, ...]] = {}
        for some in chunks(causes):
            query = select(*EVIDENCE_COLUMNS).where(EVIDENCE.c.cause.in_(some))
            for piece in self._evidence(scope, query):
                if piece.cause is not None:
                    found[piece.cause] = (*found.get(piece.cause, ()), piece)
        return found

    def _evidence(self, scope: Scope, query: Select[Any]) -> tuple[Evidence, ...]:
        rows = self._all(
            query.where(visible(scope, EVIDENCE.c.tenant_id, EVIDENCE.c.namespace_id)).order_by(
                EVIDENCE.c.position, EVIDENCE.c.recorded_at, EVIDENCE.c.seq, EVIDENCE.c.id
            )
        )
        names = self._names(row[1] for row in rows)
        return tuple(to_evidence(row, names) for row in rows)
