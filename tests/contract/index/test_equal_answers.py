"""All adapters give the same answers: what runs embedded today runs on a cluster tomorrow."""

from collections.abc import Callable

import numpy as np
import pytest

from memserver.domain.ports import Leg, Point, VectorIndex
from tests.contract.index.points import dense, point, sparse

WORDS = "cup plate drawer shelf sponge sink open close clean heat cool put take go red blue".split()


def corpus(size: int) -> list[Point]:
    rng = np.random.default_rng(7)
    return [
        point(
            number,
            " ".join(rng.choice(WORDS, rng.integers(2, 12))),
            namespace_id=int(rng.integers(1, 4)),
            kind=str(rng.choice(["skill", "hint", "rule"])),
        )
        for number in range(1, size)
    ]


def queries(count: int) -> list[Leg]:
    rng = np.random.default_rng(8)
    made: list[Leg] = []
    for _ in range(count):
        text = " ".join(rng.choice(WORDS, 3, replace=False))
        namespaces = tuple(int(n) for n in rng.choice([1, 2, 3], 2, replace=False))
        made += [
            dense(text, namespaces=namespaces, kinds=("skill", "hint")),
            sparse(text, namespaces=namespaces),
        ]
    return made


@pytest.mark.parametrize("other", ["local mode", "server"])
def test_scores_agree_and_so_does_every_order_that_they_decide(
    open_index: Callable[[str], VectorIndex], other: str
) -> None:
    second, edge = open_index(other), open_index("edge")
    for index in (edge, second):
        index.upsert(corpus(200))
    legs = queries(15)

    for leg, left, right in zip(legs, edge.search(legs), second.search(legs), strict=True):
        tolerance = 1e-4 if leg.sparse else 0.02  # the embedded index keeps 8 bits a number
        assert [hit.score for hit in left] == pytest.approx(
            [hit.score for hit in right], abs=tolerance
        )
        if leg.sparse:
            assert [hit.document for hit in left] == [hit.document for hit in right]


def test_an_answer_is_the_same_however_often_it_is_asked_for(index: VectorIndex) -> None:
    index.upsert(corpus(200))
    legs = queries(10)
    first = index.search(legs)

    for _ in range(5):
        assert index.search(legs) == first


def test_the_order_in_which_points_came_does_not_matter(
    open_index: Callable[[str], VectorIndex],
) -> None:
    index = open_index("edge")
    points, legs = corpus(200), queries(10)
    index.upsert(points)
    first = index.search(legs)

    index.delete_documents(list(index.documents()))
    index.upsert(points[::-1])

    assert index.search(legs) == first
