"""The vector index on a Qdrant server or cluster, which several API processes can share."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from memserver.domain.errors import InvalidPoint, Unavailable, WrongDimension
from memserver.domain.ports import DocumentKey, Filter, Hit, Leg, Point, Span, SparseVector
from memserver.storage.index.best_windows import Fetch, search_documents
from memserver.storage.index.checks import CHUNK, PAGE, check_keys, check_leg, check_points
from memserver.storage.index.payload import (
    CLOSED,
    CREATED,
    DENSE,
    DOCUMENT,
    IN_KEYS,
    IN_REPLIES,
    KEYWORDS,
    KIND,
    NAMESPACE,
    RECORDED,
    SPARSE,
    STATUS,
    TASK_TYPE,
    TENANT,
    TIMES,
    VALID_FROM,
    VALID_TO,
    VIEW,
    by_tenant,
    hit_of,
    key_of,
    namespace_word,
    payload_of,
)

COLLECTION = "memserver"
SERVER_FAULT = 500
REFUSED = (400, 422)


class ServerFailed(Unavailable):
    code = "index_server_failed"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The Qdrant server does not answer as it should: {reason}")


class ServerRefused(InvalidPoint):
    code = "index_server_refused"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The Qdrant server refused this: {reason}")


class QdrantIndex:
    """A `VectorIndex` in one collection, which is created if need be. Raises `WrongDimension`
    where it exists with another one; `empty` throws away what is there, for an offline rebuild.
    Takes ownership of `client`, which must not be its local mode where threads share it.
    """

    def __init__(
        self,
        client: QdrantClient,
        *,
        dimension: int,
        collection: str = COLLECTION,
        empty: bool = False,
    ) -> None:
        self._client = client
        self._collection = collection
        self._dimension = dimension
        self._resets: tuple[str, ...] = ()
        with _server():
            there = client.collection_exists(collection)
            if there:
                self._check_dimension()
            earlier = there and self._is_of_an_earlier_form()
            if there and (empty or earlier):
                client.delete_collection(collection)
                there = False
            if not there:
                self._create()
                self._resets = (
                    "the collection was of an earlier form" if earlier else "the collection is new",
                )

    @property
    def resets(self) -> tuple[str, ...]:
        return self._resets

    def upsert(self, points: Sequence[Point]) -> None:
        check_points(points, self._dimension)
        for start in range(0, len(points), CHUNK):
            chunk = [_point(point) for point in points[start : start + CHUNK]]
            with _server():
                self._client.upsert(self._collection, points=chunk, wait=True)

    def delete_documents(
        self, documents: Sequence[DocumentKey], *, keep: Sequence[UUID] = ()
    ) -> None:
        check_keys(documents, keep)
        kept = models.HasIdCondition(has_id=[str(one) for one in keep])
        for tenant, ids in by_tenant(documents, CHUNK):
            where = models.Filter(
                must=[_any_of(TENANT, [tenant]), _any_of(DOCUMENT, ids)],
                must_not=[kept] if keep else None,
            )
            with _server():
                self._client.delete(
                    self._collection, models.FilterSelector(filter=where), wait=True
                )

    def search(self, legs: Sequence[Leg]) -> list[list[Hit]]:
        for leg in legs:
            check_leg(leg, self._dimension)
        return search_documents(legs, self._fetch)

    def documents(self) -> set[DocumentKey]:
        found: set[DocumentKey] = set()
        offset = None
        while True:
            with _server():
                records, offset = self._client.scroll(
                    self._collection, limit=PAGE, offset=offset, with_payload=IN_KEYS
                )
            found.update(key_of(record.payload) for record in records)
            if offset is None:
                return found

    def count(self) -> int:
        with _server():
            return self._client.count(self._collection, exact=True).count

    def flush(self) -> None:
        """Nothing to do: the server has logged what it acknowledged."""

    def clear(self) -> None:
        with _server():
            self._client.delete_collection(self._collection)
            self._create()

    def close(self) -> None:
        self._client.close()

    def _create(self) -> None:
        client, name = self._client, self._collection
        client.create_collection(
            name,
            vectors_config={
                DENSE: models.VectorParams(size=self._dimension, distance=models.Distance.COSINE)
            },
            sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
        keyword = models.KeywordIndexType.KEYWORD
        indexes: dict[str, models.KeywordIndexParams | models.IntegerIndexParams] = {
            NAMESPACE: models.KeywordIndexParams(type=keyword, is_tenant=True),
            **{key: models.KeywordIndexParams(type=keyword, enable_hnsw=False) for key in KEYWORDS},
            **{
                key: models.IntegerIndexParams(
                    type=models.IntegerIndexType.INTEGER,
                    lookup=False,
                    range=True,
                    enable_hnsw=False,
                )
                for key in TIMES
            },
        }
        for key, schema in indexes.items():
            client.create_payload_index(name, key, schema, wait=True)

    def _check_dimension(self) -> None:
        vectors = self._client.get_collection(self._collection).config.params.vectors
        dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
        if dense is None or dense.size != self._dimension:
            raise WrongDimension(0 if dense is None else dense.size, self._dimension)

    def _is_of_an_earlier_form(self) -> bool:
        """Whether its points lack what filters go by now: they must be made again from SQL. The
        client's local mode keeps no schema to tell by."""
        schema = self._client.get_collection(self._collection).payload_schema
        return bool(schema) and not {NAMESPACE, *TIMES, *KEYWORDS} <= set(schema)

    def _fetch(self, asked: list[Fetch]) -> list[list[Hit]]:
        with _server():
            answers = self._client.query_batch_points(
                self._collection, requests=[_query(fetch) for fetch in asked]
            )
        return [[hit_of(point.payload, point.score) for point in one.points] for one in answers]


@contextmanager
def _server() -> Iterator[None]:
    """Turns what the client raises into what the port promises."""
    try:
        yield
    except UnexpectedResponse as error:
        status = error.status_code or SERVER_FAULT
        if status in REFUSED:
            raise ServerRefused(f"status {status}") from error
        raise ServerFailed(f"status {status}") from error
    except (ApiException, OSError) as error:
        raise ServerFailed(type(error).__name__) from error


def _point(point: Point) -> models.PointStruct:
    return models.PointStruct(
        id=str(point.id),
        vector={DENSE: point.dense.tolist(), SPARSE: _sparse(point.sparse)},
        payload=payload_of(point),
    )


def _query(fetch: Fetch) -> models.QueryRequest:
    leg = fetch.leg
    query: list[float] | models.SparseVector
    params: models.SearchParams | None = None
    if leg.dense is not None:
        using, query = DENSE, leg.dense.tolist()
    else:
        assert leg.sparse is not None
        using, query = SPARSE, _sparse(leg.sparse)
        # As in the embedded index: a word is rare or not among what the search may see.
        corpus = models.Filter(must=_seen(leg.filter))
        params = models.SearchParams(idf=models.IdfCorpusParams(corpus=corpus))
    return models.QueryRequest(
        query=query,
        using=using,
        filter=_filter(leg.filter),
        limit=fetch.points,
        with_payload=IN_REPLIES,
        params=params,
    )


def _filter(where: Filter) -> models.Filter:
    must = _seen(where)
    for key, words in ((KIND, where.kinds), (TASK_TYPE, where.task_types)):
        if words:
            must.append(_any_of(key, list(words)))
    if where.created_from is not None or where.created_to is not None:
        must.append(_range(CREATED, models.Range(gte=where.created_from, lt=where.created_to)))
    if where.span is not None:
        must.append(_held(where.span))
    return models.Filter(must=must)


def _held(span: Span) -> models.Filter:
    begun = _range(VALID_FROM, models.Range(lte=span.last))
    if span.known is None:
        return models.Filter(must=[begun, _range(VALID_TO, models.Range(gte=span.first))])
    return models.Filter(
        must=[begun, _range(RECORDED, models.Range(lte=span.known))],
        # An end that was written later was not known.
        should=[
            _range(VALID_TO, models.Range(gte=span.first)),
            _range(CLOSED, models.Range(gte=span.known)),
        ],
    )


def _range(key: str, span: models.Range) -> models.FieldCondition:
    return models.FieldCondition(key=key, range=span)


def _seen(where: Filter) -> list[models.Condition]:
    """What a search may see, whatever else it asks for."""
    seen: list[models.Condition] = [_namespaces(where), _view(where)]
    return [*seen, _any_of(STATUS, list(where.statuses))] if where.statuses else seen


def _namespaces(where: Filter) -> models.FieldCondition:
    return _any_of(NAMESPACE, [namespace_word(one) for one in where.namespace_ids])


def _view(where: Filter) -> models.FieldCondition:
    return _any_of(VIEW, [where.view.value])


def _any_of(key: str, words: list[str]) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchAny(any=words))


def _sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))
