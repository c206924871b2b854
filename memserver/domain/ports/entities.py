"""Entities: what the facts of a namespace are about, and the links that they make."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class Entity:
    """One entity in one namespace: its normal form, and how many facts about it are active and
    hold at present."""

    namespace_id: int
    name: str
    facts: int


class EntityReader(Protocol):
    def entities(self, scope: Scope, namespaces: Sequence[int], page: PageRequest) -> Page[Entity]:
        """What present facts are about, by namespace and normal form."""
