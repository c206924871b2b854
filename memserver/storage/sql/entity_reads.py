"""Reading what facts are about."""

from collections.abc import Sequence

from sqlalchemy import and_, func, or_, select

from memserver.domain.items import Status
from memserver.domain.ports.entities import Entity
from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.scope import Scope
from memserver.storage.sql import cursors
from memserver.storage.sql.reach import visible
from memserver.storage.sql.tables import ITEM, VERSION
from memserver.storage.sql.view import View

NAME = "entities"


class EntityReads(View):
    def entities(self, scope: Scope, namespaces: Sequence[int], page: PageRequest) -> Page[Entity]:
        place, name = VERSION.c.namespace_id, VERSION.c.entity
        query = (
            select(place, name, func.count().label("facts"))
            .join_from(
                VERSION, ITEM, and_(ITEM.c.id == VERSION.c.item_id, ITEM.c.head == VERSION.c.id)
            )
            .where(
                place.in_(namespaces),
                name.is_not(None),
                ITEM.c.tenant_id == VERSION.c.tenant_id,
                ITEM.c.status == Status.ACTIVE.value,
                or_(VERSION.c.valid_to.is_(None), VERSION.c.valid_to > self._now()),
                visible(scope, VERSION.c.tenant_id, place),
            )
            .group_by(place, name)
        )
        if page.cursor is not None:
            after, last = cursors.decode(page.cursor, NAME, int, str)
            query = query.where(or_(place > after, and_(place == after, name > last)))
        rows = self._all(query.order_by(place, name).limit(page.limit + 1))
        found = [Entity(namespace_id, entity, facts) for namespace_id, entity, facts in rows]
        return cursors.page(
            found, page, lambda one: cursors.encode(NAME, one.namespace_id, one.name)
        )
