"""Encodes concurrent queries together and remembers recent ones: the model dominates a
retrieve's latency, and eight short queries at once cost little more than one."""

import threading
from collections import OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol

import numpy as np
import numpy.typing as npt

from memserver.domain.errors import Busy, Unavailable
from memserver.domain.ports import Encoder

Vector = npt.NDArray[np.float32]


class QueryBatchEncoder(Encoder, Protocol):
    """An encoder that takes several queries in one call."""

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        """Shape [len(texts), dimension]."""


class BatchingEncoder:
    """An `Encoder` around another one. Queries that arrive while the model works are collected
    and encoded together next; a query that finds it idle is encoded at once.

    At most `batch` queries go together, at most `waiting` may wait (`Busy` past that), the
    vectors of the `recent` last different queries are kept. Errors reach every caller whose
    query was in the failed batch. Takes ownership of `inner`.
    """

    def __init__(
        self,
        inner: QueryBatchEncoder,
        *,
        batch: int = 16,
        waiting: int = 256,
        recent: int = 4096,
    ) -> None:
        self._inner = inner
        self._batch = batch
        self._waiting = waiting
        self._recent = recent
        self._cache: OrderedDict[str, Vector] = OrderedDict()
        self._queue: deque[tuple[str, Future[Vector]]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._known = 0
        self._encoded = 0
        self._released = False
        self._thread = threading.Thread(target=self._run, name="encoder-batches", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether queries are encoded; readiness depends on it."""
        return self._thread.is_alive()

    @property
    def fingerprint(self) -> str:
        return self._inner.fingerprint

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    @property
    def counter(self) -> str:
        return self._inner.counter

    @property
    def waiting(self) -> int:
        """Queries that wait for the model."""
        return len(self._queue)

    @property
    def known(self) -> int:
        """Queries so far whose vector was kept from an earlier one."""
        return self._known

    @property
    def encoded(self) -> int:
        """Queries so far that the model had to encode."""
        return self._encoded

    def encode(self, texts: Sequence[str]) -> Vector:
        return self._inner.encode(texts)

    def count_tokens(self, text: str) -> int:
        return self._inner.count_tokens(text)

    def windows(self, text: str) -> tuple[str, ...]:
        return self._inner.windows(text)

    def encode_query(self, text: str) -> Vector:
        """The array is shared with other callers and read-only."""
        with self._changed:
            if self._closed:
                raise _closed()
            known = self._cache.get(text)
            if known is not None:
                self._cache.move_to_end(text)
                self._known += 1
                return known
            if len(self._queue) >= self._waiting:
                raise Busy("The encoder")
            self._encoded += 1
            answer: Future[Vector] = Future()
            self._queue.append((text, answer))
            self._changed.notify()
        return answer.result()

    def close(self) -> None:
        """Fails the queries that wait, ends the thread and closes the inner encoder. May be
        called again."""
        with self._changed:
            if self._released:
                return
            self._released = True
        self._refuse_all()
        self._thread.join()
        self._inner.close()

    def _run(self) -> None:
        try:
            while (taken := self._take()) is not None:
                self._answer(taken)
        finally:
            # Whoever waits must not wait for ever, should this thread die of something.
            self._refuse_all()

    def _refuse_all(self) -> None:
        with self._changed:
            self._closed = True
            left = list(self._queue)
            self._queue.clear()
            self._changed.notify()
        for _, answer in left:
            answer.set_exception(_closed())

    def _take(self) -> list[tuple[str, Future[Vector]]] | None:
        """Waits for queries; None once the encoder is closed."""
        with self._changed:
            while not self._queue and not self._closed:
                self._changed.wait()
            if self._closed:
                return None
            return [self._queue.popleft() for _ in range(min(self._batch, len(self._queue)))]

    def _answer(self, taken: list[tuple[str, Future[Vector]]]) -> None:
        try:
            texts = list(dict.fromkeys(text for text, _ in taken))
            vectors = dict(zip(texts, self._inner.encode_queries(texts), strict=True))
        except BaseException as error:  # the callers get it; the thread must live on
            for _, answer in taken:
                answer.set_exception(error)
            return
        for vector in vectors.values():
            vector.setflags(write=False)
        for text, answer in taken:
            answer.set_result(vectors[text])
        self._remember(vectors)

    def _remember(self, vectors: dict[str, Vector]) -> None:
        with self._changed:
            self._cache.update(vectors)
            while len(self._cache) > self._recent:
                self._cache.popitem(last=False)


def _closed() -> Unavailable:
    return Unavailable("The encoder is closed.")
