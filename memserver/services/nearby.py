"""Items by the words that they were learnt in: those whose context is near a text."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.items import Entry, Kind, Status
from memserver.domain.ports import Encoder, Filter, Leg, Reader, Store, VectorIndex
from memserver.domain.ports.index import View
from memserver.domain.scope import Namespace, Scope

DEPTH = 50
"""Items that are looked at; more near contexts than that say nothing new."""
TEXTS_KEPT = 4_096

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Near:
    """An item's head whose context has this cosine to the text that was asked with."""

    entry: Entry
    similarity: float


class Nearby:
    """The index finds candidates by either view; how near each is, is then measured between the
    two texts themselves, so that a threshold means the same whatever the index holds."""

    def __init__(self, store: Store, index: VectorIndex, encoder: Encoder) -> None:
        self._store = store
        self._index = index
        self._encoder = encoder
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = Lock()

    def find(
        self, scope: Scope, namespaces: Sequence[Namespace], text: str, *, kind: Kind
    ) -> tuple[Near, ...]:
        """Active items of the kind that have a context, nearest first, ties by id. Must not be
        called inside a transaction: a model may be asked for vectors."""
        if not namespaces:
            return ()
        asked = self.vector(text)
        legs = [
            Leg(
                Filter(
                    namespace_ids=tuple(namespace.id for namespace in namespaces),
                    kinds=(kind.value,),
                    statuses=(Status.ACTIVE.value,),
                    view=view,
                ),
                DEPTH,
                dense=asked,
            )
            for view in (View.CONTEXT, View.OWN)
        ]
        found = {hit.item for hits in self._index.search(legs) for hit in hits}
        with self._store.reading() as reader:
            entries = _learnt(reader, scope, sorted(found), kind)
        near = [Near(entry, float(asked @ self.vector(entry.version.context))) for entry in entries]
        return tuple(sorted(near, key=lambda one: (-one.similarity, str(one.entry.item.id))))

    def similarity(self, one: str, other: str) -> float:
        return float(self.vector(one) @ self.vector(other))

    def vector(self, text: str) -> Vector:
        """The text's vector, of its first window where it is long."""
        name = hashlib.sha256(text.encode()).digest()
        with self._lock:
            kept = self._kept.get(name)
            if kept is not None:
                self._kept.move_to_end(name)
                return kept
        made = self._encoder.encode_query(text)
        with self._lock:
            self._kept[name] = made
            while len(self._kept) > TEXTS_KEPT:
                self._kept.popitem(last=False)
        return made

    def forget(self) -> None:
        """Forgets the vectors that it keeps, of texts that may have been taken away since."""
        with self._lock:
            self._kept.clear()


def _learnt(reader: Reader, scope: Scope, ids: Sequence[UUID], kind: Kind) -> list[Entry]:
    """Those that are there still: SQL is the truth."""
    return [
        entry
        for entry in reader.items_by_id(scope, ids).values()
        if entry.item.kind is kind
        and entry.item.status is Status.ACTIVE
        and entry.version.valid_to is None
        and entry.version.context
    ]
