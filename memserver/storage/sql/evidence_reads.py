"""Reading what is known of item versions: evidence, beliefs, and the decisions behind it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Select, select

from memserver.domain.decisions import Decision
from memserver.domain.evidence import Belief, Evidence
from memserver.domain.scope import Scope
from memserver.storage.sql.content import BELIEF_COLUMNS, EVIDENCE_COLUMNS, to_evidence
from memserver.storage.sql.reach import visible
from memserver.storage.sql.records import DECISION_COLUMNS, namespaces_of, to_decision
from memserver.storage.sql.tables import BELIEF, DECISION, EVIDENCE
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

    def _evidence(self, scope: Scope, query: Select[Any]) -> tuple[Evidence, ...]:
        rows = self._all(
            query.where(visible(scope, EVIDENCE.c.tenant_id, EVIDENCE.c.namespace_id)).order_by(
                EVIDENCE.c.position, EVIDENCE.c.recorded_at, EVIDENCE.c.seq, EVIDENCE.c.id
            )
        )
        names = self._names(row[1] for row in rows)
        return tuple(to_evidence(row, names) for row in rows)

    def decision(self, scope: Scope, decision_id: UUID) -> Decision | None:
        query = select(*DECISION_COLUMNS).where(DECISION.c.id == decision_id)
        return next(iter(self._decisions(scope, query)), None)

    def decisions_of_trajectory(self, scope: Scope, trajectory_id: UUID) -> tuple[Decision, ...]:
        """Oldest first."""
        query = select(*DECISION_COLUMNS).where(DECISION.c.trajectory_id == trajectory_id)
        return self._decisions(scope, query)

    def _decisions(self, scope: Scope, query: Select[Any]) -> tuple[Decision, ...]:
        """Those of which at least one namespace is within reach. A decision names several
        namespaces in one column, so they are compared here and not in SQL; the tenant is not."""
        rows = self._all(
            query.where(DECISION.c.tenant_id == scope.tenant).order_by(
                DECISION.c.created_at, DECISION.c.id
            )
        )
        names = self._names(number for row in rows for number in namespaces_of(row))
        decisions = [to_decision(row, names) for row in rows]
        return tuple(
            decision
            for decision in decisions
            if any(scope.may_read(namespace.path) for namespace in decision.namespaces)
        )
