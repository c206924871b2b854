"""Goals to practise on to rows and back."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import Column

from memserver.domain.practice import PracticeGoal, PracticeState, Refusal, Why
from memserver.domain.trajectories import Task
from memserver.storage.sql.tables import PRACTICE_GOAL
from memserver.storage.sql.view import Cells, Names

PRACTICE_COLUMNS: tuple[Column[Any], ...] = tuple(
    PRACTICE_GOAL.c[name]
    for name in (
        "id",
        "namespace_id",
        "goal",
        "task_type",
        "environment",
        "template",
        "slots",
        "why",
        "state",
        "refusal",
        "reason",
        "created_at",
        "decided_at",
        "trajectory",
        "sent_hash",
    )
)


def practice_row(goal: PracticeGoal) -> dict[str, Any]:
    why = asdict(goal.why)
    return {
        "id": goal.id,
        "tenant_id": goal.namespace.tenant,
        "namespace_id": goal.namespace.id,
        "goal": goal.task.goal,
        "task_type": goal.task.type,
        "environment": goal.task.environment,
        "template": goal.template,
        "slots": dict(goal.values),
        "why": {**why, "coverage": list(goal.why.coverage)},
        "state": goal.state.value,
        "refusal": None if goal.refusal is None else goal.refusal.value,
        "reason": goal.reason,
        "created_at": goal.created_at,
        "decided_at": goal.decided_at,
        "trajectory": goal.trajectory,
        "sent_hash": goal.sent_hash,
    }


def to_practice_goal(cells: Cells, names: Names) -> PracticeGoal:
    """From cells in the order of `PRACTICE_COLUMNS`."""
    (
        row_id,
        namespace_id,
        goal,
        task_type,
        environment,
        template,
        slots,
        why,
        state,
        refusal,
        reason,
        created_at,
        decided_at,
        trajectory,
        sent_hash,
    ) = cells
    return PracticeGoal(
        id=row_id,
        namespace=names[namespace_id],
        task=Task(goal, task_type, environment),
        template=template,
        values=slots,
        why=Why(**{**why, "coverage": tuple(why["coverage"])}),
        created_at=created_at,
        state=PracticeState(state),
        refusal=None if refusal is None else Refusal(refusal),
        reason=reason,
        decided_at=decided_at,
        trajectory=trajectory,
        sent_hash=sent_hash,
    )
