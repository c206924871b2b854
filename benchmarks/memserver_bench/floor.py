"""What retrieve and ingest cannot beat, measured in this process: the encoder alone, and the
encoder with one raw query of the engine.

The one benchmark module that looks into the server: it opens a copy of the server's own index
and embeds with the server's own encoder class, so that both sides do the same work.
"""

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memserver.domain.ports import Filter, Leg
from memserver.services.indexing_rebuild import live_pages
from memserver.storage.encoders import Bm25Encoder, SentenceTransformerEncoder
from memserver.storage.index import EdgeIndex
from memserver.storage.sql import open_store

DEPTH = 50
"""Hits a leg, as the server asks for where a request wants the default of ten items."""
ITEM_KINDS = (
    "skill",
    "principle",
    "hint",
    "case",
    "rule",
    "fact",
    "summary",
    "preference",
    "note",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds that one query took: for its embedding, and for the engine's two searches."""

    embedding: float
    engine: float


class Encoding:
    """The encoder alone, as the server has it."""

    def __init__(self) -> None:
        self.encoder = SentenceTransformerEncoder()

    def seconds(self, texts: Sequence[str]) -> float:
        """How long the texts take, all handed over at once."""
        started = time.perf_counter()
        self.encoder.encode(texts)
        return time.perf_counter() - started

    def texts_of(self, data: Path) -> list[str]:
        """All windows that the server with this data folder embedded. It must not be running."""
        with closing(open_store(f"sqlite:///{_database(data)}", clock=_now)) as store:
            return [
                window
                for page in live_pages(store)
                for document in page
                for window in self.encoder.windows(document.text)
            ]


class Floor:
    """Embeds a query and searches the copy of an index with it: dense and sparse in one batch,
    with the filters that the server's own search carries."""

    def __init__(self, encoding: Encoding, index: Path, namespaces: dict[str, int]) -> None:
        self._encoder = encoding.encoder
        self._sparse = Bm25Encoder()
        self._index = EdgeIndex(index, dimension=self._encoder.dimension)
        self._namespaces = namespaces

    def ask(self, query: str, namespace: str) -> Cost:
        started = time.perf_counter()
        vector = self._encoder.encode_query(query)
        embedded = time.perf_counter()
        where = Filter((self._namespaces[namespace],), kinds=ITEM_KINDS, statuses=("active",))
        legs = [Leg(where, DEPTH, dense=vector)]
        terms = self._sparse.query(query)
        if terms.indices:
            legs.append(Leg(where, DEPTH, sparse=terms))
        self._index.search(legs)
        return Cost(embedded - started, time.perf_counter() - embedded)

    def close(self) -> None:
        self._index.close()


def namespace_numbers(data: Path) -> dict[str, int]:
    """The numbers that stand for namespaces in the index, by path."""
    with closing(sqlite3.connect(_database(data))) as database:
        return dict(database.execute("SELECT path, id FROM namespace").fetchall())


def _database(data: Path) -> Path:
    return data.absolute() / "memserver.db"


def _now() -> datetime:
    return datetime.now(UTC)
