"""What the index knows that a candidate resembles, asked before the transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.items import Kind, Status, render
from memserver.domain.ports import Encoder, Filter, Hit, Leg, SparseEncoder, VectorIndex
from memserver.domain.scope import Namespace
from memserver.services.version_vectors import STORED_AS, vector_name
from memserver.services.writing.candidates import Candidate, Sort

Vector = npt.NDArray[np.float32]

DEPTH = 8
LEGS_TOGETHER = 64
ENCODED_TOGETHER = 32


@dataclass(frozen=True, slots=True)
class Likeness:
    """How near an item's point is: cosine and BM25, 0 where that search did not find it."""

    cosine: float = 0.0
    sparse: float = 0.0


class Named(NamedTuple):
    """A vector as SQL keeps it: under its name, as float32."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Found:
    """Likenesses by item, and the vector of its first window, for each text that was searched."""

    near: dict[str, dict[UUID, Likeness]] = field(default_factory=dict)
    vectors: dict[str, Named] = field(default_factory=dict)

    def of(self, candidate: Candidate) -> dict[UUID, Likeness]:
        return self.near.get(text_of(candidate), {})


class Searching:
    def __init__(self, index: VectorIndex, encoder: Encoder, sparse: SparseEncoder) -> None:
        self._index = index
        self._encoder = encoder
        self._sparse = sparse

    def near(self, namespace: Namespace, candidates: Sequence[Candidate]) -> Found:
        """Items of the candidates' kinds in this one namespace."""
        wanted = {text_of(one): one.kind for one in candidates}
        return self._search(namespace, {text: (kind,) for text, kind in wanted.items()})

    def like(self, namespace: Namespace, texts: Sequence[str]) -> Found:
        """Items of any kind."""
        return self._search(namespace, dict.fromkeys(texts, ()))

    def _search(self, namespace: Namespace, wanted: dict[str, tuple[Kind, ...]]) -> Found:
        if not wanted:
            return Found()
        windows = {text: self._encoder.windows(text)[0] for text in wanted}
        vectors = self._encoded(list(dict.fromkeys(windows.values())))
        legs: list[Leg] = []
        owners: list[tuple[str, bool]] = []
        for text, kinds in wanted.items():
            where = Filter(
                namespace_ids=(namespace.id,),
                kinds=tuple(kind.value for kind in kinds),
                statuses=(Status.ACTIVE.value,),
            )
            legs.append(Leg(where, DEPTH, dense=vectors[windows[text]]))
            owners.append((text, True))
            terms = self._sparse.query(windows[text])
            if terms.indices:
                legs.append(Leg(where, DEPTH, sparse=terms))
                owners.append((text, False))
        near: dict[str, dict[UUID, Likeness]] = {text: {} for text in wanted}
        for start in range(0, len(legs), LEGS_TOGETHER):
            hits = self._index.search(tuple(legs[start : start + LEGS_TOGETHER]))
            for (text, dense), some in zip(owners[start:], hits, strict=False):
                _note(near[text], some, dense=dense)
        named = {
            text: Named(vector_name(window), vectors[window].tobytes())
            for text, window in windows.items()
        }
        return Found(near, named)

    def _encoded(self, windows: Sequence[str]) -> dict[str, Vector]:
        made: dict[str, Vector] = {}
        for start in range(0, len(windows), ENCODED_TOGETHER):
            some = windows[start : start + ENCODED_TOGETHER]
            for text, row in zip(some, self._encoder.encode(some), strict=True):
                made[text] = np.ascontiguousarray(row, STORED_AS)
        return made


def text_of(candidate: Candidate) -> str:
    """As the index will hold it; of a retraction, what was said."""
    if candidate.sort is Sort.RETRACTION:
        return candidate.text
    return render(candidate.title, candidate.body)


def _note(near: dict[UUID, Likeness], hits: Sequence[Hit], *, dense: bool) -> None:
    for hit in hits:
        known = near.get(hit.item, Likeness())
        near[hit.item] = (
            Likeness(hit.score, known.sparse) if dense else Likeness(known.cosine, hit.score)
        )
