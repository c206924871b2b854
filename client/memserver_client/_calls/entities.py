"""Entities and the facts that link them."""

from memserver.wire.base import Page
from memserver.wire.entities import Entity, Surroundings
from memserver_client._call import Call, Listing, read


def entities(*, namespace: str) -> Listing[Entity]:
    """What the present facts of a namespace are about."""
    return Listing(path="/v1/entities", page=Page[Entity], params={"namespace": namespace})


def around(entity: str, *, namespace: str, hops: int = 1) -> Call[Surroundings]:
    """What is known of an entity and, further on, of those that its facts lead to."""
    params: dict[str, str | int | bool | None] = {
        "namespace": namespace,
        "entity": entity,
        "hops": hops,
    }
    return read("/v1/entities/around", Surroundings, params)
