"""Reading goals to practise on, within a caller's scope."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, and_, or_, select

from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.ports.practice import PracticeFilter
from memserver.domain.practice import PracticeGoal
from memserver.domain.scope import Scope
from memserver.storage.sql import cursors
from memserver.storage.sql.practice_rows import PRACTICE_COLUMNS, to_practice_goal
from memserver.storage.sql.reach import visible
from memserver.storage.sql.tables import PRACTICE_GOAL
from memserver.storage.sql.view import View


class PracticeReads(View):
    def practice_goal(self, scope: Scope, goal_id: UUID) -> PracticeGoal | None:
        row = self._first(_seen(scope).where(PRACTICE_GOAL.c.id == goal_id))
        return None if row is None else self._goals([row])[0]

    def practice_goals(
        self, scope: Scope, where: PracticeFilter, page: PageRequest
    ) -> Page[PracticeGoal]:
        query = _seen(scope).where(PRACTICE_GOAL.c.namespace_id.in_(where.namespaces))
        if where.state is not None:
            query = query.where(PRACTICE_GOAL.c.state == where.state.value)
        at, row_id = PRACTICE_GOAL.c.created_at, PRACTICE_GOAL.c.id
        if page.cursor is not None:
            after, after_id = cursors.decode(page.cursor, "practice", datetime, UUID)
            query = query.where(or_(at > after, and_(at == after, row_id > after_id)))
        rows = self._all(query.order_by(at, row_id).limit(page.limit + 1))
        return cursors.page(
            self._goals(rows),
            page,
            lambda one: cursors.encode("practice", one.created_at, one.id),
        )

    def _goals(self, rows: Sequence[Any]) -> list[PracticeGoal]:
        names = self._names(row.namespace_id for row in rows)
        return [to_practice_goal(row, names) for row in rows]


def _seen(scope: Scope) -> Select[Any]:
    return select(*PRACTICE_COLUMNS).where(
        visible(scope, PRACTICE_GOAL.c.tenant_id, PRACTICE_GOAL.c.namespace_id)
    )
