"""From documents to points: windows, vectors that are kept in SQL, and what cannot be indexed."""

import logging
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

import numpy as np
import numpy.typing as npt

from memserver.domain.errors import Invalid
from memserver.domain.ports import (
    Document,
    DocumentKey,
    Encoder,
    Point,
    SparseEncoder,
    Store,
    VectorIndex,
    View,
)
from memserver.domain.ports.store import PAST
from memserver.services.version_vectors import STORED_AS, vector_name

log = logging.getLogger(__name__)

DOCUMENTS_TOGETHER = 256
CHARACTERS_TOGETHER = 1_000_000
ENCODED_TOGETHER = 32
HELD_AT_MOST = 65_536
"""Past documents of which it is remembered how the index holds them."""

# What one document can be to blame for. Anything else (a model that does not answer, a full
# disk) is no reason to leave a document out, and is tried again.
ABOUT_THE_DOCUMENT = (Invalid, ValueError, TypeError, LookupError)

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Window:
    """One piece of one view of a document. `hash` names its vector in SQL."""

    document: Document
    view: View
    number: int
    text: str
    hash: str


class Projection:
    """Makes the index hold what documents say. Used by one thread at a time.

    A document that alone cannot be indexed is left out and listed in `skipped` with the
    position at which that was found; it is tried again when a later change touches it.
    """

    def __init__(
        self, store: Store, index: VectorIndex, encoder: Encoder, sparse: SparseEncoder
    ) -> None:
        self._store = store
        self._index = index
        self._encoder = encoder
        self._sparse = sparse
        self.skipped: dict[DocumentKey, int] = {}
        self._held: OrderedDict[DocumentKey, int] = OrderedDict()
        self._resets = len(index.resets)

    def put(self, documents: Sequence[Document], *, position: int) -> None:
        """Live documents are searchable on return, the others are gone. A live one that was
        there before stays searchable in between, and so does an item whose version is replaced.
        Raises what is no document's fault."""
        if len(self._index.resets) != self._resets:
            self._held.clear()
            self._resets = len(self._index.resets)
        # What holds goes before what held: there is no moment at which neither does.
        live = sorted((one for one in documents if one.live), key=lambda one: one.status == PAST)
        gone = [document for document in documents if not document.live]
        replaced = {document.item for document in live}
        self._remove([document for document in gone if document.item not in replaced])
        due = [one for one in live if self._is_due(one, position) and not self._is_held(one)]
        for group in _groups(due):
            self._put_group(group, position)
        self._remove([document for document in gone if document.item in replaced])

    def forget(self) -> None:
        """Forgets what was left out and what the index holds: everything is put again."""
        self.skipped.clear()
        self._held.clear()

    def _remove(self, documents: Sequence[Document]) -> None:
        keys = [key_of(document) for document in documents]
        if keys:
            self._index.delete_documents(keys)
        for key in keys:
            self.skipped.pop(key, None)
            self._held.pop(key, None)

    def _is_held(self, document: Document) -> bool:
        """Whether this is in the index as it is: an item's new version must not cost more for
        every version that it ever had."""
        return self._held.get(key_of(document)) == hash(document)

    def _is_due(self, document: Document, position: int) -> bool:
        skipped_at = self.skipped.get(key_of(document))
        return skipped_at is None or position > skipped_at

    def _put_group(self, group: Sequence[Document], position: int) -> None:
        try:
            self._put_together(group)
        except ABOUT_THE_DOCUMENT as error:
            if len(group) == 1:
                self._skip(group[0], position, error)
                return
            for document in group:
                self._put_group([document], position)

    def _put_together(self, group: Sequence[Document]) -> None:
        windows = self._windows(group)
        known = self._known_vectors(windows)
        made = self._encode(windows, known)
        points = [self._point(window, (known | made)[window.hash]) for window in windows]
        self._index.upsert(points)
        # Afterwards, so that there is no moment at which a document cannot be found.
        keys = [key_of(document) for document in group]
        self._index.delete_documents(keys, keep=[point.id for point in points])
        if made:
            self._keep_vectors(made)
        for key in keys:
            self.skipped.pop(key, None)
        self._held.update((key_of(one), hash(one)) for one in group if one.status == PAST)
        while len(self._held) > HELD_AT_MOST:
            self._held.popitem(last=False)

    def _windows(self, group: Sequence[Document]) -> list[Window]:
        return [
            Window(document, view, number, text, vector_name(text))
            for document in group
            for view, words in _views(document).items()
            for number, text in enumerate(self._encoder.windows(words))
        ]

    def _known_vectors(self, windows: Sequence[Window]) -> dict[str, Vector]:
        wanted = list(dict.fromkeys(window.hash for window in windows))
        with self._store.reading() as reader:
            kept = reader.vectors(wanted, self._encoder.fingerprint)
        size = self._encoder.dimension * STORED_AS.itemsize
        return {
            name: np.frombuffer(raw, STORED_AS) for name, raw in kept.items() if len(raw) == size
        }

    def _encode(self, windows: Sequence[Window], known: dict[str, Vector]) -> dict[str, Vector]:
        texts = {window.hash: window.text for window in windows if window.hash not in known}
        # A model pads what it encodes together to the longest text: alike goes with alike.
        by_length = sorted(texts, key=lambda name: len(texts[name]))
        made: dict[str, Vector] = {}
        for start in range(0, len(texts), ENCODED_TOGETHER):
            names = by_length[start : start + ENCODED_TOGETHER]
            rows = self._encoder.encode([texts[name] for name in names])
            made.update(zip(names, rows, strict=True))
        return made

    def _keep_vectors(self, made: dict[str, Vector]) -> None:
        fingerprint = self._encoder.fingerprint
        raw = {name: np.ascontiguousarray(v, STORED_AS).tobytes() for name, v in made.items()}
        self._store.write(lambda tx: tx.put_vectors(fingerprint, raw))

    def _point(self, window: Window, dense: Vector) -> Point:
        document = window.document
        return Point(
            id=point_id(key_of(document), window.number, view=window.view),
            tenant=document.tenant,
            document=document.id,
            item=document.item,
            namespace_id=document.namespace_id,
            kind=document.kind,
            status=document.status,
            task_type=document.task_type,
            created=document.created,
            dense=dense,
            sparse=self._sparse.document(window.text),
            view=window.view,
            valid_from=document.valid_from,
            valid_to=document.valid_to,
            recorded=document.recorded,
            closed=document.closed,
        )

    def _skip(self, document: Document, position: int, error: Exception) -> None:
        key = key_of(document)
        # Never the content, which may be in the error's text as well.
        log.error("Document %s cannot be indexed (%s).", document.id, type(error).__name__)
        self._index.delete_documents([key])
        self._held.pop(key, None)
        self.skipped[key] = position


def key_of(document: Document) -> DocumentKey:
    return DocumentKey(document.tenant, document.id)


def point_id(key: DocumentKey, window: int, *, view: View = View.OWN) -> UUID:
    place = f"{window}" if view is View.OWN else f"{view.value}/{window}"
    return uuid5(key.tenant, f"{key.document}/{place}")


def _views(document: Document) -> dict[View, str]:
    own = {View.OWN: document.text}
    return own | {View.CONTEXT: document.context} if document.context else own


def _groups(documents: Sequence[Document]) -> Iterator[list[Document]]:
    """Documents in their order, a bounded number and amount of text at a time."""
    group: list[Document] = []
    size = 0
    for document in documents:
        length = len(document.text) + len(document.context)
        full = len(group) == DOCUMENTS_TOGETHER or size + length > CHARACTERS_TOGETHER
        if group and full:
            yield group
            group, size = [], 0
        group.append(document)
        size += length
    if group:
        yield group
