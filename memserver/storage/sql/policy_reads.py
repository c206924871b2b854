"""Reading policies, what they serve, and how their runs turned out."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import and_, exists, or_, select

from memserver.domain.evidence import Event
from memserver.domain.policies import Policy, PolicyRole, PolicyState, ScoredRun, exploration_id
from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.ports.store import Serving
from memserver.domain.scope import Namespace, Scope
from memserver.domain.trajectories import OutcomeSource
from memserver.storage.sql import cursors
from memserver.storage.sql.policy_rows import (
    EXPLORATION_COLUMNS,
    POLICY_COLUMNS,
    to_exploration,
    to_policy,
)
from memserver.storage.sql.reach import Condition, visible
from memserver.storage.sql.tables import (
    DECISION,
    EVIDENCE,
    EXPLORATION,
    POLICY,
    POLICY_WEIGHTS,
    TRAJECTORY,
)
from memserver.storage.sql.view import View, chunks

_IN_USE = (PolicyState.SHADOW.value, PolicyState.CANARY.value, PolicyState.ACTIVE.value)
_WATCHED = (PolicyState.CANARY.value, PolicyState.ACTIVE.value)
_OF_ITSELF = OutcomeSource.AGENT.value
"""What an agent says of itself moves beliefs, and no policy."""


class PolicyReads(View):
    def policy(self, scope: Scope, policy_id: UUID) -> Policy | None:
        row = self._first(
            select(*POLICY_COLUMNS).where(
                POLICY.c.id == policy_id,
                visible(scope, POLICY.c.tenant_id, POLICY.c.namespace_id),
            )
        )
        return None if row is None else to_policy(row, self._names([row[1]]))

    def policies(self, scope: Scope, namespaces: Sequence[int], page: PageRequest) -> Page[Policy]:
        conditions = [
            POLICY.c.namespace_id.in_(namespaces),
            visible(scope, POLICY.c.tenant_id, POLICY.c.namespace_id),
        ]
        if page.cursor is not None:
            at, last = cursors.decode(page.cursor, "policies", datetime, UUID)
            when = POLICY.c.created_at
            conditions.append(or_(when < at, and_(when == at, POLICY.c.id < last)))
        rows = self._all(
            select(*POLICY_COLUMNS)
            .where(*conditions)
            .order_by(POLICY.c.created_at.desc(), POLICY.c.id.desc())
            .limit(page.limit + 1)
        )
        names = self._names(row[1] for row in rows)
        return cursors.page(
            [to_policy(row, names) for row in rows],
            page,
            lambda policy: cursors.encode("policies", policy.created_at, policy.id),
        )

    def serving(self, namespace: Namespace, role: PolicyRole) -> Serving:
        rows = self._all(
            select(*POLICY_COLUMNS)
            .where(
                POLICY.c.namespace_id == namespace.id,
                POLICY.c.role == role.value,
                POLICY.c.state.in_(_IN_USE),
            )
            .order_by(POLICY.c.created_at.desc(), POLICY.c.id.desc())
        )
        settings = self._first(
            select(*EXPLORATION_COLUMNS).where(
                EXPLORATION.c.id == exploration_id(namespace, role),
                EXPLORATION.c.tenant_id == namespace.tenant,
            )
        )
        names = {namespace.id: namespace}
        return Serving(
            policies=tuple(to_policy(row, names) for row in rows),
            exploration=None if settings is None else to_exploration(settings, names),
        )

    def policy_weights(self, weights_hash: str) -> bytes | None:
        found = self._connection.scalar(
            select(POLICY_WEIGHTS.c.data).where(POLICY_WEIGHTS.c.hash == weights_hash)
        )
        return None if found is None else bytes(found)

    def scored_runs(
        self, namespace: Namespace, *, since: datetime, limit: int
    ) -> tuple[ScoredRun, ...]:
        """As the port says: runs by their outcome, retrieves without a run by the newest
        feedback on them that stands."""
        found = {
            scored.unit: scored
            for scored in (
                *self._told_of_retrieves(namespace, since, limit),
                *self._scored_by_run(namespace, since, limit),
            )
        }
        in_order = sorted(found.values(), key=lambda scored: (scored.at, scored.unit))
        return tuple(in_order[-limit:])

    def _scored_by_run(self, namespace: Namespace, since: datetime, limit: int) -> list[ScoredRun]:
        """A run stands by its first decision, so that many retrieves do not crowd out others."""
        earlier = DECISION.alias()
        begun_before = select(earlier.c.id).where(
            earlier.c.trajectory_id == DECISION.c.trajectory_id,
            earlier.c.tenant_id == DECISION.c.tenant_id,
            # Not by index: SQLite would walk through the namespace for each of its decisions.
            earlier.c.namespace_id + 0 == DECISION.c.namespace_id,
            earlier.c.asked_by.is_not_distinct_from(DECISION.c.asked_by),
            earlier.c.created_at >= since,
            or_(
                earlier.c.created_at < DECISION.c.created_at,
                and_(
                    earlier.c.created_at == DECISION.c.created_at,
                    earlier.c.id < DECISION.c.id,
                ),
            ),
        )
        rows = self._all(
            select(
                DECISION.c.policy,
                TRAJECTORY.c.id,
                TRAJECTORY.c.outcome,
                DECISION.c.created_at,
                DECISION.c.explored,
            )
            .join_from(
                DECISION,
                TRAJECTORY,
                and_(
                    TRAJECTORY.c.id == DECISION.c.trajectory_id,
                    TRAJECTORY.c.tenant_id == DECISION.c.tenant_id,
                ),
            )
            .where(
                DECISION.c.namespace_id == namespace.id,
                DECISION.c.created_at >= since,
                TRAJECTORY.c.sender.is_not_distinct_from(DECISION.c.asked_by),
                TRAJECTORY.c.success.is_not(None),
                TRAJECTORY.c.outcome["source"].as_string() != _OF_ITSELF,
                ~begun_before.exists(),
            )
            .order_by(DECISION.c.created_at.desc(), TRAJECTORY.c.id.desc())
            .limit(limit)
        )
        return [
            ScoredRun(policy, unit, outcome["score"], at, explored)
            for policy, unit, outcome, at, explored in rows
        ]

    def _told_of_retrieves(
        self, namespace: Namespace, since: datetime, limit: int
    ) -> list[ScoredRun]:
        """Feedback is a piece of evidence for each version that was packed, of which any says
        how the retrieve turned out. It lies in the first namespace of the retrieve that its
        sender may write: who may write only another one does not judge this one's policies."""
        told = and_(
            EVIDENCE.c.cause == DECISION.c.id,
            EVIDENCE.c.tenant_id == DECISION.c.tenant_id,
            EVIDENCE.c.namespace_id == DECISION.c.namespace_id,
            *_standing(),
        )
        retrieves = self._all(
            select(DECISION.c.policy, DECISION.c.id, DECISION.c.created_at, DECISION.c.explored)
            .where(
                DECISION.c.namespace_id == namespace.id,
                DECISION.c.created_at >= since,
                DECISION.c.trajectory_id.is_(None),
                exists().where(told),
            )
            .order_by(DECISION.c.created_at.desc(), DECISION.c.id.desc())
            .limit(limit)
        )
        scores: dict[UUID, float] = {}
        for some in chunks(row.id for row in retrieves):
            oldest_first = (
                select(EVIDENCE.c.cause, EVIDENCE.c.value)
                .where(
                    EVIDENCE.c.cause.in_(some),
                    EVIDENCE.c.tenant_id == namespace.tenant,
                    EVIDENCE.c.namespace_id == namespace.id,
                    *_standing(),
                )
                .order_by(EVIDENCE.c.position)
            )
            scores |= dict(self._all(oldest_first))
        return [
            ScoredRun(policy, unit, scores[unit], at, explored)
            for policy, unit, at, explored in retrieves
        ]

    def namespaces_with_policies(self) -> tuple[Namespace, ...]:
        ids = self._all(
            select(POLICY.c.namespace_id).where(POLICY.c.state.in_(_WATCHED)).distinct()
        )
        names = self._names(row.namespace_id for row in ids)
        return tuple(names[number] for number in sorted(names))


def _standing() -> tuple[Condition, ...]:
    """Whether a piece of evidence is an outcome that nothing has taken back, told by another than
    the agent."""
    retraction = EVIDENCE.alias()
    taken_back = select(retraction.c.id).where(
        retraction.c.retracts == EVIDENCE.c.id,
        retraction.c.tenant_id == EVIDENCE.c.tenant_id,
    )
    return (
        EVIDENCE.c.event == Event.OUTCOME.value,
        EVIDENCE.c.source != _OF_ITSELF,
        ~taken_back.exists(),
    )
