"""Reading what a retrieve finds without the vector index, within a caller's scope."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from memserver.domain.items import Status
from memserver.domain.ports.arms import Linked, Located
from memserver.domain.scope import Scope
from memserver.storage.sql.reach import visible
from memserver.storage.sql.tables import ITEM, VERSION
from memserver.storage.sql.view import View, chunks

LOOKED_AT = 8
"""Items that are looked at for each one asked for: of other kinds, or no longer active."""


class ArmReads(View):
    def newest(
        self, scope: Scope, namespaces: Sequence[int], kinds: Sequence[str], limit: int
    ) -> tuple[Located, ...]:
        last: list[tuple[int, UUID, str, str, UUID]] = []
        for namespace_id in dict.fromkeys(namespaces):
            # One at a time, so that each is read from its end and no further.
            query = (
                select(ITEM.c.position, ITEM.c.id, ITEM.c.kind, ITEM.c.status, ITEM.c.head)
                .where(
                    ITEM.c.namespace_id == namespace_id,
                    visible(scope, ITEM.c.tenant_id, ITEM.c.namespace_id),
                )
                .order_by(ITEM.c.position.desc(), ITEM.c.id.desc())
                .limit(LOOKED_AT * limit)
            )
            last += [tuple(row) for row in self._all(query)]
        wanted = [
            Located(head, item)
            for _, item, kind, status, head in sorted(last, reverse=True)
            if kind in kinds and status == Status.ACTIVE.value
        ][:limit]
        began = {
            row.id: row.valid_from
            for row in self._all(
                select(VERSION.c.id, VERSION.c.valid_from).where(
                    VERSION.c.id.in_([one.version for one in wanted]),
                    visible(scope, VERSION.c.tenant_id, VERSION.c.namespace_id),
                )
            )
        }
        # The sort is stable, so that what began at one time stays in the order of storing.
        return tuple(sorted(wanted, key=lambda one: began[one.version], reverse=True))

    def linked(
        self, scope: Scope, namespaces: Sequence[int], names: Sequence[str], limit: int
    ) -> tuple[Linked, ...]:
        found: list[tuple[int, Linked]] = []
        for some in chunks(names):
            query = (
                select(
                    VERSION.c.position,
                    VERSION.c.id,
                    VERSION.c.item_id,
                    VERSION.c.entity,
                    VERSION.c.body,
                )
                .where(
                    VERSION.c.namespace_id.in_(namespaces),
                    VERSION.c.entity.in_(some),
                    visible(scope, VERSION.c.tenant_id, VERSION.c.namespace_id),
                )
                .order_by(VERSION.c.position.desc(), VERSION.c.id.desc())
                .limit(LOOKED_AT * limit)
            )
            found += [
                (row.position, Linked(row.id, row.item_id, row.entity, row.body["key"]))
                for row in self._all(query)
            ]
        found.sort(reverse=True)
        heads: set[UUID] = set()
        for some_items in chunks(fact.item for _, fact in found):
            active = select(ITEM.c.head).where(
                ITEM.c.id.in_(some_items),
                ITEM.c.status == Status.ACTIVE.value,
                visible(scope, ITEM.c.tenant_id, ITEM.c.namespace_id),
            )
            heads.update(row.head for row in self._all(active))
        return tuple(fact for _, fact in found if fact.version in heads)[:limit]
