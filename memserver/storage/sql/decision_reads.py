"""Reading the log of decisions, and the runs that came of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, or_, select

from memserver.domain.decisions import Decision
from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.ports.store import DecisionFilter, RunBrief
from memserver.domain.scope import Scope
from memserver.domain.trajectories import Outcome, OutcomeSource, Task
from memserver.storage.sql import cursors
from memserver.storage.sql.reach import visible
from memserver.storage.sql.records import DECISION_COLUMNS, namespaces_of, to_decision
from memserver.storage.sql.tables import DECISION, TRAJECTORY
from memserver.storage.sql.view import Cells, View, chunks

_BRIEF = (
    TRAJECTORY.c.id,
    TRAJECTORY.c.goal,
    TRAJECTORY.c.task_type,
    TRAJECTORY.c.environment,
    TRAJECTORY.c.template_id,
    TRAJECTORY.c.outcome,
    TRAJECTORY.c.used,
    TRAJECTORY.c.sender,
    TRAJECTORY.c.agent,
)
_OLDEST, _NEWEST = "decisions", "decisions, newest first"


class DecisionReads(View):
    def decision(self, scope: Scope, decision_id: UUID) -> Decision | None:
        query = select(*DECISION_COLUMNS).where(DECISION.c.id == decision_id)
        return next(iter(self._decisions(scope, query)), None)

    def decisions_of_trajectory(self, scope: Scope, trajectory_id: UUID) -> tuple[Decision, ...]:
        """Oldest first."""
        query = select(*DECISION_COLUMNS).where(DECISION.c.trajectory_id == trajectory_id)
        return self._decisions(scope, query)

    def decisions(
        self, scope: Scope, where: DecisionFilter, page: PageRequest, *, newest_first: bool = False
    ) -> Page[Decision]:
        """As the port says. Pages are cut before what is out of reach is left out, so that one
        may hold fewer rows than asked for."""
        name = _NEWEST if newest_first else _OLDEST
        conditions = [
            DECISION.c.namespace_id == where.namespace_id,
            DECISION.c.tenant_id == scope.tenant,
            DECISION.c.verb == where.verb,
        ]
        if where.since is not None:
            conditions.append(DECISION.c.created_at >= where.since)
        if where.explored is not None:
            conditions.append(DECISION.c.explored.is_(where.explored))
        if page.cursor is not None:
            at, last = cursors.decode(page.cursor, name, datetime, UUID)
            when, which = DECISION.c.created_at, DECISION.c.id
            # The bound on the time alone is what lets the index start where the page before ended.
            if newest_first:
                conditions += [when <= at, or_(when < at, which < last)]
            else:
                conditions += [when >= at, or_(when > at, which > last)]
        order = [DECISION.c.created_at, DECISION.c.id]
        rows = self._all(
            select(*DECISION_COLUMNS)
            .where(*conditions)
            .order_by(*([one.desc() for one in order] if newest_first else order))
            .limit(page.limit + 1)
        )
        found = cursors.page(
            list(self._loaded(rows)),
            page,
            lambda decision: cursors.encode(name, decision.created_at, decision.id),
        )
        reached = tuple(
            decision
            for decision in found.rows
            if all(scope.may_read(namespace.path) for namespace in decision.namespaces)
        )
        return Page(reached, found.next_cursor)

    def runs_in_brief(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, RunBrief]:
        found: dict[UUID, RunBrief] = {}
        for some in chunks(ids):
            query = select(*_BRIEF).where(
                TRAJECTORY.c.id.in_(some),
                visible(scope, TRAJECTORY.c.tenant_id, TRAJECTORY.c.namespace_id),
            )
            found |= {row[0]: _brief(row) for row in self._all(query)}
        return found

    def _decisions(self, scope: Scope, query: Select[Any]) -> tuple[Decision, ...]:
        """Those of which at least one namespace is within reach. A decision names several
        namespaces in one column, so they are compared here and not in SQL; the tenant is not."""
        rows = self._all(
            query.where(DECISION.c.tenant_id == scope.tenant).order_by(
                DECISION.c.created_at, DECISION.c.id
            )
        )
        return tuple(
            decision
            for decision in self._loaded(rows)
            if any(scope.may_read(namespace.path) for namespace in decision.namespaces)
        )

    def _loaded(self, rows: Sequence[Cells]) -> tuple[Decision, ...]:
        names = self._names(number for row in rows for number in namespaces_of(row))
        return tuple(to_decision(row, names) for row in rows)


def _brief(row: Cells) -> RunBrief:
    row_id, goal, task_type, environment, template_id, outcome, used, sender, agent = row
    return RunBrief(
        id=row_id,
        task=Task(goal, task_type, environment, template_id),
        outcome=None
        if outcome is None
        else Outcome(
            outcome["score"], outcome["success"], OutcomeSource(outcome["source"]), outcome["cost"]
        ),
        used=None if used is None else tuple(UUID(version) for version in used),
        sender=sender,
        agent=agent,
    )
