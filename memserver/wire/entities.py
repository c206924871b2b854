"""The graph that facts make."""

from uuid import UUID

from pydantic import AwareDatetime

from memserver.wire.base import Model


class Entity(Model):
    """What facts are about, in normal form (white space and case do not matter)."""

    namespace: str
    name: str
    facts: int


class FactLink(Model):
    """A fact as an edge from its entity over its key to its value. `leads_to` names the entity
    that the value is, where something is known of it; `hop` counts from 1."""

    id: UUID
    version_id: UUID
    entity: str
    key: str
    value: str
    valid_from: AwareDatetime
    hop: int
    leads_to: str | None


class Surroundings(Model):
    """What is reached from one entity, nearest first; `cut` says that there was more."""

    links: list[FactLink]
    cut: bool
