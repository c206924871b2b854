"""What a retrieve finds in SQL and not in the vector index: what is newest, and what is linked to
an entity by name."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from memserver.domain.scope import Scope


class Located(NamedTuple):
    """An item and its head."""

    version: UUID
    item: UUID


class Linked(NamedTuple):
    """A fact and its head, with the normal form of its entity's name, and its key."""

    version: UUID
    item: UUID
    entity: str
    key: str


class ArmReader(Protocol):
    """Active items within the scope's reach, in the namespaces of these ids; none means none."""

    def newest(
        self, scope: Scope, namespaces: Sequence[int], kinds: Sequence[str], limit: int
    ) -> tuple[Located, ...]:
        """The items of these kinds that were stored last, in order of when what they say began to
        hold, the latest first."""

    def linked(
        self, scope: Scope, namespaces: Sequence[int], names: Sequence[str], limit: int
    ) -> tuple[Linked, ...]:
        """The facts about entities with these names, in normal form, that were stored last, the
        latest first."""
