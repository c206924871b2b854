"""Writing goals to practise on: plain rows, beside the change log."""

from collections.abc import Sequence

from sqlalchemy import insert, select, update

from memserver.domain.practice import PracticeGoal
from memserver.storage.sql.practice_rows import practice_row
from memserver.storage.sql.reach import Condition
from memserver.storage.sql.tables import PRACTICE_GOAL
from memserver.storage.sql.view import View


class PracticeWrites(View):
    def add_practice_goals(self, goals: Sequence[PracticeGoal]) -> tuple[PracticeGoal, ...]:
        new = [goal for goal in goals if not self._has(goal)]
        if new:
            self._connection.execute(insert(PRACTICE_GOAL), [practice_row(goal) for goal in new])
        return tuple(new)

    def put_practice_goal(self, goal: PracticeGoal) -> PracticeGoal:
        self._connection.execute(
            update(PRACTICE_GOAL).where(_which(goal)).values(practice_row(goal))
        )
        return goal

    def _has(self, goal: PracticeGoal) -> bool:
        return self._first(select(PRACTICE_GOAL.c.id).where(_which(goal))) is not None


def _which(goal: PracticeGoal) -> Condition:
    return (PRACTICE_GOAL.c.id == goal.id) & (PRACTICE_GOAL.c.tenant_id == goal.namespace.tenant)
