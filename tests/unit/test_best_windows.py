"""One hit a document in a fixed order, whatever the engine's ties and windows."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.ports import Filter, Hit, Leg, SparseVector
from memserver.storage.index.best_windows import Fetch, search_documents


def leg(limit: int) -> Leg:
    return Leg(Filter((1,)), limit, sparse=SparseVector((1,), (1.0,)))


def hit(document: int, score: float) -> Hit:
    return Hit(UUID(int=document), UUID(int=document), score)


class Engine:
    """Points in the order of their scores; among equal ones in an order of its own."""

    def __init__(self, points: list[Hit]) -> None:
        self.points = sorted(points, key=lambda one: -one.score)
        self.calls: list[list[Fetch]] = []

    def __call__(self, asked: list[Fetch]) -> list[list[Hit]]:
        self.calls.append(asked)
        return [self.points[: fetch.points] for fetch in asked]


@given(
    points=st.lists(
        st.tuples(st.integers(1, 60), st.sampled_from([0.1, 0.2, 0.5, 0.9])), max_size=400
    ),
    limit=st.integers(1, 50),
)
def test_the_hits_are_the_best_of_all_points(points: list[tuple[int, float]], limit: int) -> None:
    hits = [hit(document, score) for document, score in points]
    best = {d: max(s for e, s in points if e == d) for d, _ in points}
    expected = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]

    found = search_documents([leg(limit)], Engine(hits))[0]

    assert [(one.document.int, one.score) for one in found] == expected


def test_all_legs_go_in_one_call_where_nothing_is_tied() -> None:
    engine = Engine([hit(number, 1 / number) for number in range(1, 500)])

    found = search_documents([leg(10), leg(20)], engine)

    assert [len(hits) for hits in found] == [10, 20]
    assert len(engine.calls) == 1


def test_only_the_leg_that_is_not_settled_is_fetched_again() -> None:
    engine = Engine(
        [hit(1, 0.95)] + [hit(1, 0.9)] * 100 + [hit(number, 0.5) for number in range(2, 50)]
    )

    found = search_documents([leg(1), leg(5)], engine)

    assert [one.document.int for one in found[1]] == [1, 2, 3, 4, 5]
    assert [len(call) for call in engine.calls[1:]] == [1] * (len(engine.calls) - 1)


def test_endless_ties_are_not_followed_for_ever() -> None:
    engine = Engine([hit(number, 0.5) for number in range(1, 30_000)])

    assert len(search_documents([leg(10)], engine)[0]) == 10
    assert max(fetch.points for call in engine.calls for fetch in call) == 10_000


def test_a_search_that_cannot_match_never_reaches_the_engine() -> None:
    engine = Engine([hit(1, 0.9)])
    nowhere = Leg(Filter(()), 5, sparse=SparseVector((1,), (1.0,)))
    no_words = Leg(Filter((1,)), 5, sparse=SparseVector((), ()))

    assert search_documents([nowhere, no_words], engine) == [[], []]
    assert engine.calls == []
