"""The embedded vector index: Qdrant Edge behind one thread, for one process.

It scans, which is fast enough to about 100,000 points in the scope of one query. `optimize()` is
never called here: it stops the whole process for seconds. Past that size use a Qdrant server.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import qdrant_edge as engine

from memserver.domain.ports import DocumentKey, Filter, Hit, Leg, Point, Span, SparseVector
from memserver.storage.index.best_windows import Fetch, search_documents
from memserver.storage.index.checks import CHUNK, PAGE, check_keys, check_leg, check_points
from memserver.storage.index.edge_shard import RebuildableShard
from memserver.storage.index.engine_thread import EngineThread
from memserver.storage.index.folder_lock import FolderLock
from memserver.storage.index.payload import (
    CLOSED,
    CREATED,
    DENSE,
    DOCUMENT,
    IN_KEYS,
    IN_REPLIES,
    KIND,
    NAMESPACE,
    RECORDED,
    SPARSE,
    STATUS,
    TASK_TYPE,
    TENANT,
    VALID_FROM,
    VALID_TO,
    VIEW,
    by_tenant,
    hit_of,
    key_of,
    namespace_word,
    payload_of,
)

T = TypeVar("T")
PointId = int | UUID | str


class EdgeIndex:
    """A `VectorIndex` in the folder `path`, which is created if need be. Raises `DataInUse`
    where another process has it. `empty` throws away what is there, for an offline rebuild.

    `reads` and `writes` bound the queue of the engine's thread; past them it is `Busy`.
    """

    def __init__(
        self,
        path: Path,
        *,
        dimension: int,
        empty: bool = False,
        reads: int = 256,
        writes: int = 64,
    ) -> None:
        self._dimension = dimension
        self._lock = FolderLock(path)
        self._thread = EngineThread(reads=reads, writes=writes)
        try:
            self._shard = self._thread.write(
                lambda: RebuildableShard(path, dimension=dimension, empty=empty)
            )
        except BaseException:
            self._thread.close(lambda: None)
            self._lock.release()
            raise

    @property
    def alive(self) -> bool:
        """Whether the engine's thread still runs."""
        return self._thread.alive

    @property
    def resets(self) -> tuple[str, ...]:
        return tuple(self._shard.resets)

    def upsert(self, points: Sequence[Point]) -> None:
        check_points(points, self._dimension)
        for chunk in _chunks(points, CHUNK):
            self._thread.write(self._upsert(chunk))

    def delete_documents(
        self, documents: Sequence[DocumentKey], *, keep: Sequence[UUID] = ()
    ) -> None:
        check_keys(documents, keep)
        kept: list[engine.ConditionType] = [engine.HasIdCondition(set(keep))]
        for tenant, ids in by_tenant(documents, CHUNK):
            where = engine.Filter(
                must=[_any_of(TENANT, [tenant]), _any_of(DOCUMENT, ids)],
                must_not=kept if keep else None,
            )
            self._thread.write(self._write(engine.UpdateOperation.delete_points_by_filter(where)))

    def search(self, legs: Sequence[Leg]) -> list[list[Hit]]:
        for leg in legs:
            check_leg(leg, self._dimension)
        return search_documents(legs, self._fetch)

    def documents(self) -> set[DocumentKey]:
        found: set[DocumentKey] = set()
        offset: PointId | None = None
        while True:
            records, offset = self._page(offset)
            found.update(key_of(record.payload) for record in records)
            if offset is None:
                return found

    def count(self) -> int:
        return self._read(lambda shard: shard.count(engine.CountRequest(exact=True)))

    def flush(self) -> None:
        """Also survives a power cut; what `upsert` applied survives the process by itself."""
        self._thread.write(lambda: self._shard.read(lambda shard: shard.flush()))

    def clear(self) -> None:
        self._thread.write(lambda: self._shard.clear())

    def close(self) -> None:
        """Flushes, and lets another process have the folder. May be called again."""
        try:
            self._thread.close(lambda: self._shard.close())
        finally:
            self._lock.release()

    def _page(self, offset: PointId | None) -> tuple[list[engine.Record], PointId | None]:
        request = engine.ScrollRequest(
            offset=offset, limit=PAGE, with_payload=IN_KEYS, with_vector=False
        )
        return self._read(lambda shard: shard.scroll(request))

    def _fetch(self, asked: list[Fetch]) -> list[list[Hit]]:
        request = engine.QueryBatchRequest([_query(fetch) for fetch in asked])
        answers = self._read(lambda shard: shard.query_batch(request))
        return [[hit_of(point.payload, point.score) for point in points] for points in answers]

    def _upsert(self, points: Sequence[Point]) -> Callable[[], None]:
        made = [
            engine.Point(
                id=point.id,
                vector={DENSE: point.dense.tolist(), SPARSE: _sparse(point.sparse)},
                payload=payload_of(point),
            )
            for point in points
        ]
        return self._write(
            engine.UpdateOperation.upsert_points(made),
            undo=engine.UpdateOperation.delete_points([point.id for point in points]),
        )

    def _write(
        self, operation: engine.UpdateOperation, undo: engine.UpdateOperation | None = None
    ) -> Callable[[], None]:
        return lambda: self._shard.write(operation, undo=undo)

    def _read(self, call: Callable[[engine.EdgeShard], T]) -> T:
        return self._thread.read(lambda: self._shard.read(call))


def _query(fetch: Fetch) -> engine.QueryRequest:
    leg = fetch.leg
    params: engine.SearchParams | None = None
    if leg.dense is not None:
        query = engine.Query.Nearest(leg.dense.tolist(), using=DENSE)
    else:
        assert leg.sparse is not None
        query = engine.Query.Nearest(_sparse(leg.sparse), using=SPARSE)
        # How rare a word is counts among what the search may see, so that a score tells nothing
        # about other tenants, and does not change with what they store.
        corpus = engine.Filter(must=_seen(leg.filter))
        params = engine.SearchParams(idf=engine.IdfParams(corpus=corpus))
    return engine.QueryRequest(
        query=query,
        filter=_filter(leg.filter),
        limit=fetch.points,
        with_payload=IN_REPLIES,
        params=params,
    )


def _filter(where: Filter) -> engine.Filter:
    must = _seen(where)
    for key, words in ((KIND, where.kinds), (TASK_TYPE, where.task_types)):
        if words:
            must.append(_any_of(key, list(words)))
    if where.created_from is not None or where.created_to is not None:
        must.append(_range(CREATED, engine.RangeFloat(gte=where.created_from, lt=where.created_to)))
    if where.span is not None:
        must.append(_held(where.span))
    return engine.Filter(must=must)


def _held(span: Span) -> engine.Filter:
    begun = _range(VALID_FROM, engine.RangeFloat(lte=span.last))
    if span.known is None:
        return engine.Filter(must=[begun, _range(VALID_TO, engine.RangeFloat(gte=span.first))])
    return engine.Filter(
        must=[begun, _range(RECORDED, engine.RangeFloat(lte=span.known))],
        # An end that was written later was not known.
        should=[
            _range(VALID_TO, engine.RangeFloat(gte=span.first)),
            _range(CLOSED, engine.RangeFloat(gte=span.known)),
        ],
    )


def _range(key: str, span: engine.RangeFloat) -> engine.FieldCondition:
    return engine.FieldCondition(key=key, range=span)


def _seen(where: Filter) -> "list[engine.ConditionType]":
    """What a search may see, whatever else it asks for."""
    seen: list[engine.ConditionType] = [_namespaces(where), _view(where)]
    return [*seen, _any_of(STATUS, list(where.statuses))] if where.statuses else seen


def _namespaces(where: Filter) -> engine.FieldCondition:
    return _any_of(NAMESPACE, [namespace_word(one) for one in where.namespace_ids])


def _view(where: Filter) -> engine.FieldCondition:
    return _any_of(VIEW, [where.view.value])


def _any_of(key: str, words: list[str]) -> engine.FieldCondition:
    return engine.FieldCondition(key=key, match=engine.MatchAny(words))


def _sparse(vector: SparseVector) -> engine.SparseVector:
    return engine.SparseVector(list(vector.indices), list(vector.values))


def _chunks(rows: Sequence[T], size: int) -> list[Sequence[T]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
