"""Queries are encoded together where they meet, remembered, and never lost."""

import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from memserver.domain.errors import Busy, Unavailable
from memserver.storage.encoders import BatchingEncoder
from tests.fakes.encoder import HashEncoder

SOON_S = 10.0


class GatedEncoder(HashEncoder):
    """Notes its batches, and holds each until the gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[tuple[str, ...]] = []
        self.entered = threading.Semaphore(0)
        self.gate = threading.Event()
        self.fails: Exception | None = None
        self.closed = False

    def encode_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.batches.append(tuple(texts))
        self.entered.release()
        assert self.gate.wait(SOON_S)
        if self.fails:
            raise self.fails
        return super().encode_queries(texts)

    def close(self) -> None:
        self.closed = True


class Callers:
    """Threads that each ask for one query."""

    def __init__(self, encoder: BatchingEncoder) -> None:
        self.encoder = encoder
        self.answers: dict[str, object] = {}
        self.threads: list[threading.Thread] = []

    def ask(self, *texts: str) -> None:
        for text in texts:
            thread = threading.Thread(target=self._ask, args=(text,))
            thread.start()
            self.threads.append(thread)

    def _ask(self, text: str) -> None:
        try:
            self.answers[text] = self.encoder.encode_query(text)
        except Exception as error:
            self.answers[text] = error

    def finish(self) -> None:
        for thread in self.threads:
            thread.join(SOON_S)
            assert not thread.is_alive()


def queued(encoder: BatchingEncoder, count: int) -> None:
    done = threading.Event()
    for _ in range(1000):
        if len(encoder._queue) == count:
            return
        done.wait(0.005)
    raise AssertionError(f"{len(encoder._queue)} queries wait, not {count}")


def test_an_idle_encoder_takes_a_query_at_once_and_those_that_wait_go_together() -> None:
    inner = GatedEncoder()
    encoder = BatchingEncoder(inner, batch=3)
    callers = Callers(encoder)
    callers.ask("first")
    assert inner.entered.acquire(timeout=SOON_S)
    callers.ask("a", "b", "c", "d", "b")
    queued(encoder, 5)
    inner.gate.set()
    callers.finish()

    assert inner.batches[0] == ("first",)
    assert sorted(len(batch) for batch in inner.batches[1:]) in ([2, 3], [2, 2], [1, 3])
    assert {text for batch in inner.batches for text in batch} == {"first", "a", "b", "c", "d"}
    for text, answer in callers.answers.items():
        assert np.array_equal(answer, HashEncoder().encode_query(text))  # type: ignore[arg-type]
    encoder.close()


def test_a_recent_query_is_not_encoded_again_and_an_old_one_is_forgotten() -> None:
    inner = GatedEncoder()
    inner.gate.set()
    encoder = BatchingEncoder(inner, recent=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        encoder.encode_query(text)

    assert inner.batches == [("a",), ("b",), ("c",), ("b",)]
    assert (encoder.known, encoder.encoded, encoder.waiting) == (2, 4, 0)
    encoder.close()


def test_a_remembered_vector_cannot_be_changed_by_a_caller() -> None:
    encoder = BatchingEncoder(HashEncoder())

    with pytest.raises(ValueError, match="read-only"):
        encoder.encode_query("a")[0] = 1.0
    encoder.close()


def test_an_error_reaches_everyone_in_the_batch_and_the_next_one_works() -> None:
    inner = GatedEncoder()
    encoder = BatchingEncoder(inner)
    callers = Callers(encoder)
    callers.ask("first")
    assert inner.entered.acquire(timeout=SOON_S)
    callers.ask("a", "b")
    queued(encoder, 2)
    inner.fails = Unavailable("no model")
    inner.gate.set()
    callers.finish()
    assert {str(answer) for answer in callers.answers.values()} == {"no model"}

    inner.fails = None

    assert encoder.encode_query("a").shape == (64,)
    encoder.close()


def test_too_many_waiting_queries_are_refused_and_the_others_served() -> None:
    inner = GatedEncoder()
    encoder = BatchingEncoder(inner, waiting=2)
    callers = Callers(encoder)
    callers.ask("first")
    assert inner.entered.acquire(timeout=SOON_S)
    callers.ask("a", "b")
    queued(encoder, 2)

    with pytest.raises(Busy):
        encoder.encode_query("c")

    inner.gate.set()
    callers.finish()
    assert all(isinstance(answer, np.ndarray) for answer in callers.answers.values())
    encoder.close()


def test_closing_fails_who_waits_finishes_what_runs_and_closes_the_model() -> None:
    inner = GatedEncoder()
    encoder = BatchingEncoder(inner)
    callers = Callers(encoder)
    callers.ask("running")
    assert inner.entered.acquire(timeout=SOON_S)
    callers.ask("waiting")
    queued(encoder, 1)
    threading.Timer(0.05, inner.gate.set).start()

    encoder.close()
    encoder.close()
    callers.finish()

    assert isinstance(callers.answers["running"], np.ndarray)
    assert isinstance(callers.answers["waiting"], Unavailable)
    assert inner.closed
    with pytest.raises(Unavailable):
        encoder.encode_query("late")
