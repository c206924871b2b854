"""Reading for those who keep banks small and in order: the server's own work, of all tenants."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from memserver.domain.changes import Table, Verb
from memserver.domain.items import Item, Status
from memserver.domain.operations import Operation
from memserver.domain.ports.keeping import Written
from memserver.domain.scope import Namespace
from memserver.storage.sql.content import ITEM_COLUMNS, to_item
from memserver.storage.sql.records import OPERATION_COLUMNS, to_operation
from memserver.storage.sql.tables import CHANGE, ITEM, NAMESPACE_SETTINGS, OPERATION, ROW_CHANGE
from memserver.storage.sql.view import View, chunks

WRITES = tuple(
    verb.value
    for verb in Verb
    if verb
    not in (
        Verb.CONSOLIDATE,
        Verb.EVOLVE,
        Verb.UNDO,
        Verb.EVICT,
        Verb.EXPIRE,
        Verb.FEEDBACK,
        Verb.SET_NAMESPACE,
        Verb.EXPLORE,
    )
    and not verb.value.endswith("_policy")
)
"""The verbs of changes that bring or change memory."""
MEMORY = (Table.TRAJECTORY.value, Table.ITEM.value, Table.VERSION.value)


class KeepingReads(View):
    def expired_items(self, now: datetime, limit: int) -> tuple[Item, ...]:
        query = (
            select(*ITEM_COLUMNS)
            .where(ITEM.c.expires_at <= now, ITEM.c.status == Status.ACTIVE.value)
            .order_by(ITEM.c.expires_at, ITEM.c.id)
            .limit(limit)
        )
        rows = self._all(query)
        names = self._names(row.namespace_id for row in rows)
        return tuple(to_item(row, names) for row in rows)

    def active_items(self, namespace: Namespace) -> int:
        count = select(func.count()).where(
            ITEM.c.namespace_id == namespace.id,
            ITEM.c.tenant_id == namespace.tenant,
            ITEM.c.status == Status.ACTIVE.value,
        )
        return int(self._all(count)[0][0])

    def half_lives(self, namespaces: Sequence[int]) -> dict[int, float]:
        found: dict[int, float] = {}
        for some in chunks(namespaces):
            query = select(
                NAMESPACE_SETTINGS.c.namespace_id, NAMESPACE_SETTINGS.c.half_life_days
            ).where(
                NAMESPACE_SETTINGS.c.namespace_id.in_(some),
                NAMESPACE_SETTINGS.c.half_life_days.is_not(None),
            )
            found |= {row.namespace_id: row.half_life_days for row in self._all(query)}
        return found

    def latest_operation(self, namespace: Namespace, verb: str) -> Operation | None:
        row = self._first(
            select(*OPERATION_COLUMNS)
            .where(
                OPERATION.c.tenant_id == namespace.tenant,
                OPERATION.c.namespace_id == namespace.id,
                OPERATION.c.verb == verb,
            )
            .order_by(OPERATION.c.created_at.desc(), OPERATION.c.id.desc())
            .limit(1)
        )
        return None if row is None else to_operation(row, {namespace.id: namespace})

    def first_written(self, namespace: Namespace) -> datetime | None:
        row = self._first(_changes(namespace).order_by(CHANGE.c.position).limit(1))
        return None if row is None else row.created_at

    def written(self, namespace: Namespace, *, since: datetime | None, limit: int) -> Written:
        changes = _changes(namespace)
        if since is not None:
            changes = changes.where(CHANGE.c.created_at >= since)
        rows = self._all(changes.order_by(CHANGE.c.position.desc()).limit(limit))
        return Written(len(rows), rows[0].created_at if rows else None)


def _changes(namespace: Namespace) -> Select[Any]:
    """The namespace's writes; a change of many rows counts once."""
    return (
        select(CHANGE.c.position, CHANGE.c.created_at)
        .join_from(ROW_CHANGE, CHANGE, ROW_CHANGE.c.position == CHANGE.c.position)
        .where(
            ROW_CHANGE.c.namespace_id == namespace.id,
            ROW_CHANGE.c.tenant_id == namespace.tenant,
            ROW_CHANGE.c.table_name.in_(MEMORY),
            CHANGE.c.verb.in_(WRITES),
        )
        .group_by(CHANGE.c.position, CHANGE.c.created_at)
    )
