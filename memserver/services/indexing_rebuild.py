"""Builds the index again from what SQL says is live, and compares the two."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memserver.domain.changes import Table
from memserver.domain.ports import (
    Document,
    DocumentKey,
    Encoder,
    Readable,
    SparseEncoder,
    Store,
    VectorIndex,
)
from memserver.services.indexing_projection import Projection, key_of

MARK = "index"
PAGE = 256


@dataclass(frozen=True, slots=True)
class Drift:
    """What differs between SQL and index: live documents that the index lacks, and documents
    in the index that are not live."""

    missing: tuple[DocumentKey, ...]
    orphans: tuple[DocumentKey, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.orphans)


def audit(store: Readable, index: VectorIndex) -> Drift:
    """Reads all of both. Exact where nothing is written meanwhile; a change that the indexer
    has yet to follow shows up as a difference."""
    indexed = index.documents()
    live = {key_of(document) for page in live_pages(store) for document in page}
    missing = live - indexed
    if missing:
        missing -= index.documents()
    return Drift(tuple(sorted(missing)), tuple(sorted(indexed - live)))


def live_page(store: Readable, after: Document | None) -> tuple[Document, ...]:
    """The live documents that follow `after`, the last one of the page before; empty at the
    end. Each page is read in a transaction of its own."""
    cursor = None
    if after is not None:
        table = Table.TRAJECTORY if after.kind == Table.TRAJECTORY else Table.VERSION
        cursor = (table.value, after.id)
    with store.reading() as reader:
        return reader.live_documents(cursor, PAGE)


def live_pages(store: Readable) -> Iterator[tuple[Document, ...]]:
    page = live_page(store, None)
    while page:
        yield page
        page = live_page(store, page[-1])


def sweep(store: Store, index: VectorIndex) -> int:
    """Removes documents that are not live, and says how many. To be called by the only thread
    that writes to the index: what comes to live meanwhile it has yet to put there."""
    indexed = index.documents()
    live = {key_of(document) for page in live_pages(store) for document in page}
    orphans = sorted(indexed - live)
    index.delete_documents(orphans)
    return len(orphans)


def reindex_offline(
    store: Store,
    index: VectorIndex,
    encoder: Encoder,
    sparse: SparseEncoder,
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[DocumentKey, ...]:
    """Empties the index and builds it with `encoder`, which may be another than before. No
    server may run. A crash on the way leaves a mark that makes the next start build it again.

    `progress` is told how many documents are done. Returns those that cannot be indexed.
    """
    projection = Projection(store, index, encoder, sparse)
    with store.reading() as reader:
        position = reader.head_position()
    store.write(lambda tx: tx.set_mark(MARK, 0, encoder.fingerprint))
    index.clear()
    done = 0
    for page in live_pages(store):
        projection.put(page, position=position)
        done += len(page)
        progress(done)
    index.flush()
    store.write(lambda tx: tx.set_mark(MARK, position, encoder.fingerprint))
    return tuple(projection.skipped)
