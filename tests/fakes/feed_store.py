"""A store in memory with only what the indexer needs: documents, the feed, marks, vectors."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

from memserver.domain.changes import RowRef, Table
from memserver.domain.ports import Document, DocumentKey, FeedEntry

T = TypeVar("T")
TENANT = UUID(int=0xA)


def document(
    number: int,
    text: str = "",
    *,
    tenant: UUID = TENANT,
    namespace_id: int = 1,
    kind: str = "skill",
    live: bool = True,
    context: str = "",
) -> Document:
    """A document whose id, item and time follow from `number`."""
    return Document(
        id=UUID(int=number),
        item=UUID(int=1_000_000 + number),
        tenant=tenant,
        namespace_id=namespace_id,
        kind=kind,
        status="active",
        task_type="",
        created=1_700_000_000 + number,
        text=text or f"document number {number}",
        live=live,
        context=context,
    )


class FeedStore:
    """Transactions one after another. `put` and `remove` stand for changes; what is set as
    `fails` is raised by the next calls, once each."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.live: dict[DocumentKey, Document] = {}
        self.log: list[FeedEntry] = []
        self.marks: dict[str, tuple[int, str]] = {}
        self.marked: list[int] = []
        self.kept: dict[tuple[str, str], bytes] = {}
        self.fails: list[Exception] = []

    def put(self, *documents: Document) -> int:
        """One change that leaves these documents; its position."""
        with self._lock:
            for one in documents:
                self.live[DocumentKey(one.tenant, one.id)] = one
            return self._append(documents)

    def remove(self, *documents: Document) -> int:
        with self._lock:
            for one in documents:
                del self.live[DocumentKey(one.tenant, one.id)]
            return self._append(documents)

    def _append(self, documents: Sequence[Document]) -> int:
        refs = tuple(RowRef(_table(one), one.id) for one in documents)
        self.log.append(FeedEntry(len(self.log) + 1, documents[0].tenant, refs))
        return len(self.log)

    @contextmanager
    def reading(self) -> Iterator[Any]:
        with self._lock:
            if self.fails:
                raise self.fails.pop(0)
            yield self

    def write(self, work: Callable[[Any], T]) -> T:
        with self.reading():
            return work(self)

    def feed(self, after: int, limit: int) -> tuple[FeedEntry, ...]:
        return tuple(self.log[after : after + limit])

    def head_position(self) -> int:
        return len(self.log)

    def documents(self, tenant: UUID, refs: Sequence[RowRef]) -> tuple[Document, ...]:
        gone = replace(document(1, live=False), tenant=tenant)
        return tuple(
            self.live.get(DocumentKey(tenant, ref.id), replace(gone, id=ref.id)) for ref in refs
        )

    def live_documents(self, after: tuple[str, UUID] | None, limit: int) -> tuple[Document, ...]:
        rows = sorted((one for one in self.live.values() if one.live), key=lambda one: _cursor(one))
        return tuple([one for one in rows if after is None or _cursor(one) > after][:limit])

    def vectors(self, hashes: Sequence[str], fingerprint: str) -> dict[str, bytes]:
        return {
            name: self.kept[fingerprint, name]
            for name in hashes
            if (fingerprint, name) in self.kept
        }

    def put_vectors(self, fingerprint: str, vectors: dict[str, bytes]) -> None:
        self.kept.update({(fingerprint, name): raw for name, raw in vectors.items()})

    def mark(self, name: str) -> tuple[int, str] | None:
        return self.marks.get(name)

    def set_mark(self, name: str, position: int, fingerprint: str) -> None:
        self.marks[name] = (position, fingerprint)
        self.marked.append(position)


def _table(one: Document) -> Table:
    return Table.TRAJECTORY if one.kind == "trajectory" else Table.VERSION


def _cursor(one: Document) -> tuple[str, UUID]:
    return (_table(one).value, one.id)
