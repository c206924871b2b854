"""Entities and the facts that link them."""

from typing import Annotated

from fastapi import APIRouter, Query

from memserver.api import shaping
from memserver.api.call import CallDep
from memserver.api.queries import AroundQuery, EntityQuery
from memserver.domain.items import FactBody
from memserver.services.entities import Counted, Link
from memserver.wire.base import Page
from memserver.wire.entities import Entity, FactLink, Surroundings

router = APIRouter(tags=["entities"])


@router.get("/entities")
async def list_entities(query: Annotated[EntityQuery, Query()], call: CallDep) -> Page[Entity]:
    """What the present facts of a namespace are about, in order of their names."""

    def read() -> Page[Entity]:
        namespaces = call.services.access.readable(call.scope, [query.namespace])
        page = call.page(query.limit, query.cursor)
        return shaping.page(call.services.entities.list(call.scope, namespaces, page), _entity)

    return await call.read(read)


@router.get("/entities/around")
async def around(query: Annotated[AroundQuery, Query()], call: CallDep) -> Surroundings:
    """What is known of one entity, and of the entities that its facts lead to."""

    def read() -> Surroundings:
        namespace = call.services.access.readable_one(call.scope, query.namespace)
        found = call.services.entities.around(call.scope, namespace, query.entity, hops=query.hops)
        return Surroundings(links=[_link(link) for link in found.links], cut=found.cut)

    return await call.read(read)


def _entity(of: Counted) -> Entity:
    return Entity(namespace=of.namespace.path, name=of.name, facts=of.facts)


def _link(of: Link) -> FactLink:
    version = of.entry.version
    assert isinstance(version.body, FactBody)
    return FactLink(
        id=version.item_id,
        version_id=version.id,
        entity=version.body.entity,
        key=version.body.key,
        value=version.body.value,
        valid_from=version.valid_from,
        hop=of.hop,
        leads_to=of.leads_to,
    )
