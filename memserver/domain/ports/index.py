"""The vector index: a projection of the change log that can be thrown away and rebuilt."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.ports.encoder import SparseVector

NEVER = 253_402_300_800
"""The first second of the year 10000, which stands for an end that is not known."""


@dataclass(frozen=True, slots=True, order=True)
class DocumentKey:
    """Names one document (an item version or a trajectory). Callers may choose ids, and an id is
    unique only within its tenant, so neither says enough alone."""

    tenant: UUID
    document: UUID


class View(StrEnum):
    """What of a document a point shows: its own text, or the words that were said around it.
    A search sees one view, and how rare a word is counts within it."""

    OWN = "own"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Point:
    """One window of one view of one document (an item version or a trajectory).

    `id` derives from tenant, document, view and window. No text, beliefs or counters: only what
    filters need. All times are Unix seconds: it holds in [`valid_from`, `valid_to`), is known since
    `recorded`, and its end since `closed`.
    """

    id: UUID
    tenant: UUID
    document: UUID
    item: UUID
    namespace_id: int
    kind: str
    status: str
    task_type: str
    created: int
    dense: npt.NDArray[np.float32] = field(repr=False, compare=False)
    sparse: SparseVector = field(repr=False, compare=False)
    view: View = View.OWN
    valid_from: int = 0
    valid_to: int = NEVER
    recorded: int = 0
    closed: int = NEVER


@dataclass(frozen=True, slots=True)
class Span:
    """Whole seconds of valid time, both ends included: what held at some time in them, by what was
    recorded up to `known` (None: by all). Not exact by itself: what begins, ends or was recorded
    within an outermost second is found, and so is what was given another end after `known`."""

    first: int
    last: int
    known: int | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search is confined to. Fails closed: no namespaces means no hits; empty `kinds`,
    `statuses` or `task_types` means any; times are [from, to), None means no condition."""

    namespace_ids: tuple[int, ...]
    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    task_types: tuple[str, ...] = ()
    created_from: int | None = None
    created_to: int | None = None
    view: View = View.OWN
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Leg:
    """One search: exactly one of `dense` (shape [dimension]) and `sparse` is set."""

    filter: Filter
    limit: int
    dense: npt.NDArray[np.float32] | None = field(default=None, compare=False)
    sparse: SparseVector | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A document found by a leg, with its best window's score (cosine, or BM25)."""

    document: UUID
    item: UUID
    score: float


class VectorIndex(Protocol):
    """Safe for use by many threads. Every method raises `InvalidPoint`, `WrongDimension` or
    `NotFinite` before the engine sees anything wrong, and `Busy` when its queue is full."""

    @property
    def resets(self) -> tuple[str, ...]:
        """Why the index holds nothing of what it held before, once for each time that this
        happened since it was opened: it is new, or could not be loaded. It must then be built
        again."""

    def upsert(self, points: Sequence[Point]) -> None:
        """All or none visible as a whole chunk of at most 256 is applied; searchable on return."""

    def delete_documents(
        self, documents: Sequence[DocumentKey], *, keep: Sequence[UUID] = ()
    ) -> None:
        """Removes every window of every view of these documents, except the points named in
        `keep`; unknown ones are fine."""

    def search(self, legs: Sequence[Leg]) -> list[list[Hit]]:
        """Hits a leg, best first, one a document, ties by document id. One round trip."""

    def documents(self) -> set[DocumentKey]:
        """Every document in the index, by paging; for audits and rebuilds."""

    def count(self) -> int:
        """Points in the index."""

    def flush(self) -> None:
        """Returns once all that was applied survives a crash of the process."""

    def clear(self) -> None:
        """Empties the index."""

    def close(self) -> None: ...
