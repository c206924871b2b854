"""What those ask of the store who tend a library: what outcomes say, and how fast it changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from memserver.domain.evidence import Evidence
from memserver.domain.items import Kind
from memserver.domain.scope import Namespace, Scope


@dataclass(frozen=True, slots=True)
class LibraryChange:
    """One change as a library sees it: how many runs came with it, and which items it brought,
    rewrote, took out or brought back."""

    position: int
    runs: int
    items: frozenset[UUID]


class LibraryReader(Protocol):
    def lineage_evidence(
        self, scope: Scope, versions: Sequence[UUID]
    ) -> dict[UUID, tuple[Evidence, ...]]:
        """What the belief of each visible version is folded from: its own evidence and that of
        every version of what was merged into it, in whichever namespaces the runs were."""

    def library_changes(
        self, namespace: Namespace, kinds: Sequence[Kind], limit: int
    ) -> tuple[LibraryChange, ...]:
        """The newest `limit` rows of the log that bear on runs of the namespace or on its items of
        these kinds, as changes, oldest first."""
