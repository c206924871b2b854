"""Fusion over two views, and the bounded number of what is loaded."""

from uuid import UUID

import pytest

from memserver.domain.ports import Hit
from memserver.services.retrieval.fusion import POOL, pooled, reciprocal_rank, standings
from memserver.services.retrieval.query import Standing


def hits(*numbers: int) -> list[Hit]:
    return [Hit(UUID(int=n), UUID(int=n), 1.0) for n in numbers]


def test_the_better_of_two_views_counts_once() -> None:
    both = {"dense": Standing(5, 0.5), "context_dense": Standing(2, 0.6)}

    assert reciprocal_rank(both) == pytest.approx(1 / 62)
    assert reciprocal_rank({"context_dense": Standing(2, 0.6)}) == pytest.approx(1 / 62)
    assert reciprocal_rank({**both, "sparse": Standing(1, 3.0)}) == pytest.approx(1 / 62 + 1 / 61)


def test_of_a_conversation_only_the_best_are_loaded() -> None:
    found = {"dense": hits(*range(1, 101)), "context_dense": hits(*range(101, 201))}
    placed = standings(found)

    kept = pooled(placed, 10)

    assert len(kept) == POOL
    assert {document.int for document in kept} == {*range(1, 31), *range(101, 131)}
    assert len(pooled(placed, 30)) == 90


def test_where_there_is_no_conversation_all_that_was_found_is_loaded() -> None:
    placed = standings({"dense": hits(*range(1, 101)), "context_dense": []})

    assert pooled(placed, 10) == placed
