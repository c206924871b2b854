"""What those ask of the store who keep banks small and in order, of their own accord."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memserver.domain.items import Item
from memserver.domain.operations import Operation
from memserver.domain.scope import Namespace


@dataclass(frozen=True, slots=True)
class Written:
    """Changes that users made to a namespace's memory: how many, and when the last was made."""

    changes: int
    last: datetime | None


class KeepingReader(Protocol):
    """Not bound to a caller's grants: the server's own work."""

    def expired_items(self, now: datetime, limit: int) -> tuple[Item, ...]:
        """Active items of all tenants whose time has come, those of the earliest first."""

    def active_items(self, namespace: Namespace) -> int:
        """How many there are."""

    def half_lives(self, namespaces: Sequence[int]) -> dict[int, float]:
        """In days, of those of these namespaces that have one."""

    def latest_operation(self, namespace: Namespace, verb: str) -> Operation | None:
        """The one that was asked for last."""

    def first_written(self, namespace: Namespace) -> datetime | None:
        """When something was first written there."""

    def written(self, namespace: Namespace, *, since: datetime | None, limit: int) -> Written:
        """The newest changes, at most `limit`, from `since` on that brought or changed memory:
        consolidation, forgetting, feedback and undo are no writes."""
