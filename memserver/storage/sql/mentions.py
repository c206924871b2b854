"""Plain rows that name something erased: replies that were kept for retries, reports and reasons of
operations. They quote what they name, so they go."""

import re
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, and_, delete, select, update

from memserver.domain.operations import TERMINAL
from memserver.storage.sql.tables import IDEMPOTENCY, OPERATION
from memserver.storage.sql.types import to_json

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ROWS_TOGETHER = 500


class Mentions:
    """Of these ids, among the rows of one tenant."""

    def __init__(self, connection: Connection, tenant: UUID, ids: Iterable[UUID]) -> None:
        self._connection = connection
        self._tenant = tenant
        self._names = frozenset(map(str, ids))

    def forget_replies(self) -> int:
        query = (
            select(IDEMPOTENCY.c.route, IDEMPOTENCY.c.key, IDEMPOTENCY.c.body)
            .where(IDEMPOTENCY.c.tenant_id == self._tenant)
            .execution_options(yield_per=_ROWS_TOGETHER)
        )
        gone = [
            (route, key)
            for route, key, body in self._connection.execute(query)
            if self._mentions(body) or self._mentions(route)
        ]
        for route, key in gone:
            which = and_(
                IDEMPOTENCY.c.tenant_id == self._tenant,
                IDEMPOTENCY.c.route == route,
                IDEMPOTENCY.c.key == key,
            )
            self._connection.execute(delete(IDEMPOTENCY).where(which))
        return len(gone)

    def forget_reports(self, *, besides: UUID | None) -> int:
        """Those of operations that have ended; a plan whose report went cannot be applied. One
        that has not will write its report after this, from what is there then."""
        query = (
            select(OPERATION.c.id, OPERATION.c.params, OPERATION.c.report, OPERATION.c.error)
            .where(
                OPERATION.c.tenant_id == self._tenant,
                OPERATION.c.state.in_([state.value for state in TERMINAL]),
            )
            .execution_options(yield_per=_ROWS_TOGETHER)
        )
        named = [
            row.id
            for row in self._connection.execute(query)
            if row.id != besides
            and any(self._mentions(part) for part in (row.params, row.report, row.error))
        ]
        for row_id in named:
            self._connection.execute(
                update(OPERATION).where(OPERATION.c.id == row_id).values(report=None, error=None)
            )
        return len(named)

    def _mentions(self, value: Any) -> bool:
        if value is None:
            return False
        text = value if isinstance(value, str) else to_json(value)
        return not self._names.isdisjoint(_ID.findall(text))
