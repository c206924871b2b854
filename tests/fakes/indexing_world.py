"""An indexer over fakes of the store, the index and the encoder, and how to wait for it."""

import time
from collections.abc import Callable

from memserver.domain.ports import Document, DocumentKey
from memserver.services.indexing import Indexer
from memserver.storage.encoders import Bm25Encoder
from tests.fakes.encoder import HashEncoder
from tests.fakes.feed_store import FeedStore
from tests.fakes.index import MemoryIndex

SOON_S = 10.0


class World:
    """A store, an index and an encoder with an indexer between them, to be started."""

    def __init__(self) -> None:
        self.store = FeedStore()
        self.index = MemoryIndex()
        self.encoder = HashEncoder()
        self.indexers: list[Indexer] = []

    def start(self, *, flush_every_s: float = 0.0) -> Indexer:
        indexer = Indexer(
            self.store,
            self.index,
            self.encoder,
            Bm25Encoder(),
            flush_every_s=flush_every_s,
            poll_every_s=0.01,
            retry_s=(0.001, 0.01),
        )
        self.indexers.append(indexer)
        indexer.start()
        return indexer

    def restart(self) -> Indexer:
        self.indexers[-1].stop()
        self.index.resets = ()
        return self.start()

    @property
    def indexed(self) -> set[DocumentKey]:
        return self.index.documents()


def key(one: Document) -> DocumentKey:
    return DocumentKey(one.tenant, one.id)


def reach(indexer: Indexer, position: int) -> None:
    indexer.wake()
    indexer.reached(position).result(SOON_S)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON_S
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.005)
