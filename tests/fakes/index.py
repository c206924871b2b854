"""A vector index in memory that can be made to fail, to refuse a document and to lose it all."""

import threading
from collections.abc import Sequence
from uuid import UUID

from memserver.domain.errors import InvalidPoint
from memserver.domain.ports import DocumentKey, Hit, Leg, Point


class MemoryIndex:
    """Holds points in a dict. `fails` are raised by the next upserts, once each; an upsert with
    a document of `refused` raises, and with one of `poisonous` also loses everything."""

    def __init__(self, *, resets: tuple[str, ...] = ("the index is new",)) -> None:
        self._lock = threading.Lock()
        self.points: dict[UUID, Point] = {}
        self.resets = resets
        self.fails: list[Exception] = []
        self.refused: set[UUID] = set()
        self.poisonous: set[UUID] = set()
        self.upserts = 0
        self.flushes = 0

    def lose(self) -> None:
        self.points.clear()
        self.resets = (*self.resets, "it was lost")

    def upsert(self, points: Sequence[Point]) -> None:
        with self._lock:
            self.upserts += 1
            if self.fails:
                raise self.fails.pop(0)
            documents = {point.document for point in points}
            if documents & self.poisonous:
                self.lose()
                raise InvalidPoint("the engine panicked")
            if documents & self.refused:
                raise InvalidPoint("refused")
            self.points.update({point.id: point for point in points})

    def delete_documents(
        self, documents: Sequence[DocumentKey], *, keep: Sequence[UUID] = ()
    ) -> None:
        with self._lock:
            for point in list(self.points.values()):
                if _key(point) in documents and point.id not in keep:
                    del self.points[point.id]

    def search(self, legs: Sequence[Leg]) -> list[list[Hit]]:
        raise NotImplementedError("tests of searching use a real index")

    def documents(self) -> set[DocumentKey]:
        with self._lock:
            return {_key(point) for point in self.points.values()}

    def count(self) -> int:
        return len(self.points)

    def flush(self) -> None:
        self.flushes += 1

    def clear(self) -> None:
        self.points.clear()

    def close(self) -> None:
        pass


def _key(point: Point) -> DocumentKey:
    return DocumentKey(point.tenant, point.document)
