"""What every adapter of the vector index promises."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memserver.domain.errors import InvalidPoint, InvalidVector, NotFinite, WrongDimension
from memserver.domain.ports import Filter, Hit, Leg, Point, SparseVector, VectorIndex, View
from tests.contract.index.points import (
    DIMENSION,
    OTHER,
    bm25,
    dense,
    encoder,
    key,
    point,
    sparse,
    terms,
    vector,
)


def found(hits: list[Hit]) -> list[int]:
    return [hit.document.int for hit in hits]


def search(index: VectorIndex, leg: Leg) -> list[int]:
    return found(index.search([leg])[0])


def test_a_new_index_is_empty_and_says_that_it_is_new(index: VectorIndex) -> None:
    assert index.count() == 0
    assert index.documents() == set()
    assert len(index.resets) == 1
    assert index.search([dense("anything"), sparse("anything")]) == [[], []]


def test_what_was_upserted_is_found_at_once_by_both_legs(index: VectorIndex) -> None:
    index.upsert([point(1, "wash the red cup"), point(2, "open a drawer")])

    by_meaning, by_words = index.search([dense("wash the red cup"), sparse("drawer")])

    assert found(by_meaning)[0] == 1
    assert by_meaning[0].score == pytest.approx(1.0, abs=0.01)
    assert by_meaning[0].item == UUID(int=1_000_001)
    assert found(by_words) == [2]
    assert index.count() == 2
    assert index.documents() == {key(1), key(2)}


def test_upserting_again_replaces_the_point(index: VectorIndex) -> None:
    index.upsert([point(1, "wash cup")])
    index.upsert([point(1, "open drawer", kind="hint")])

    assert index.count() == 1
    assert search(index, sparse("cup")) == []
    assert search(index, sparse("drawer", kinds=("hint",))) == [1]


def test_deleted_documents_are_gone_with_all_their_windows(index: VectorIndex) -> None:
    index.upsert([point(1, "cup one", window=n) for n in range(3)] + [point(2, "cup two")])

    index.delete_documents([key(1), key(99)])

    assert search(index, sparse("cup")) == [2]
    assert index.count() == 1
    index.delete_documents([])
    assert index.count() == 1


def test_deleting_can_keep_some_points_of_a_document(index: VectorIndex) -> None:
    windows = [point(1, f"cup{n}", window=n) for n in range(4)]
    index.upsert([*windows, point(2)])

    index.delete_documents([key(1)], keep=[windows[0].id, windows[2].id])

    assert index.count() == 3
    assert search(index, sparse("cup2")) == [1]
    assert search(index, sparse("cup3")) == []


def test_deleting_takes_nothing_of_another_tenant_with_the_same_id(index: VectorIndex) -> None:
    index.upsert([point(1, "cup"), point(1, "cup", tenant=OTHER, namespace_id=2)])

    index.delete_documents([key(1)])

    assert index.documents() == {key(1, OTHER)}
    assert search(index, sparse("cup", namespaces=(2,))) == [1]


def test_clearing_leaves_an_index_that_works(index: VectorIndex) -> None:
    index.upsert([point(number) for number in range(5)])

    index.clear()

    assert index.count() == 0
    index.upsert([point(1, "cup", task_type="clean")])
    assert search(index, sparse("cup", task_types=("clean",))) == [1]


def test_more_points_than_a_chunk_or_a_page_are_all_there(index: VectorIndex) -> None:
    index.upsert([point(number, f"cup c{number}") for number in range(1, 1100)])

    assert index.count() == 1099
    assert index.documents() == {key(number) for number in range(1, 1100)}
    index.delete_documents([key(number) for number in range(1, 1099)])
    assert index.documents() == {key(1099)}


def test_windows_count_as_one_document_with_the_best_score(index: VectorIndex) -> None:
    index.upsert(
        [
            point(1, "plate", window=0),
            point(1, "cup", window=1),
            point(1, "cup saucer", window=2),
            point(2, "cup saucer spoon"),
        ]
    )

    hits = index.search([dense("cup")])[0]

    assert found(hits) == [1, 2]
    assert hits[0].score == pytest.approx(1.0, abs=0.01)


def test_a_document_of_many_windows_does_not_crowd_out_the_others(index: VectorIndex) -> None:
    many = [point(1, f"cup saucer w{n}", window=n) for n in range(300)]
    index.upsert([*many, *[point(number, "cup saucer plate spoon") for number in range(2, 7)]])

    assert len(search(index, dense("cup saucer", limit=6))) == 6
    assert len(search(index, sparse("saucer", limit=6))) == 6


def test_equal_scores_are_ordered_by_document_whatever_is_cut_off(index: VectorIndex) -> None:
    numbers = list(range(1, 200))
    shuffled = np.random.default_rng(0).permutation(numbers).tolist()
    index.upsert([point(number, "the same cup") for number in shuffled])

    for leg in (dense("the same cup", limit=5), sparse("cup", limit=5)):
        assert search(index, leg) == numbers[:5]
    assert search(index, dense("the same cup", limit=199)) == numbers


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, [1, 2, 3, 4]),
        ({"kinds": ("skill",)}, [1, 2]),
        ({"kinds": ("skill", "hint")}, [1, 2, 3]),
        ({"statuses": ("active",)}, [1, 3]),
        ({"task_types": ("clean",)}, [1, 4]),
        ({"task_types": ("clean", "heat")}, [1, 2, 4]),
        ({"task_types": ("",)}, [3]),
        ({"created_from": 20}, [2, 3, 4]),
        ({"created_to": 30}, [1, 2]),
        ({"created_from": 20, "created_to": 40}, [2, 3]),
        ({"kinds": ("skill",), "statuses": ("archived",), "task_types": ("heat",)}, [2]),
        ({"kinds": ("nothing",)}, []),
    ],
)
def test_a_search_is_confined_to_its_filter(
    index: VectorIndex, where: dict[str, Any], expected: list[int]
) -> None:
    index.upsert(
        [
            point(1, "cup", kind="skill", status="active", task_type="clean", created=10),
            point(2, "cup", kind="skill", status="archived", task_type="heat", created=20),
            point(3, "cup", kind="hint", status="active", task_type="", created=30),
            point(4, "cup", kind="fact", status="archived", task_type="clean", created=40),
        ]
    )

    assert search(index, dense("cup", **where)) == expected
    assert search(index, sparse("cup", **where)) == expected


def test_no_namespaces_means_no_hits(index: VectorIndex) -> None:
    index.upsert([point(1, "cup")])

    assert index.search([dense("cup", namespaces=()), sparse("cup", namespaces=())]) == [[], []]
    mixed = index.search([dense("cup", namespaces=()), dense("cup"), sparse("", namespaces=(1,))])
    assert [found(hits) for hits in mixed] == [[], [1], []]


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    owners=st.lists(st.sampled_from([1, 2, 10, 11, 12, 100, 2**40]), min_size=1, max_size=30),
    wanted=st.sets(st.sampled_from([1, 2, 3, 10, 11, 100, 2**40]), max_size=4),
)
def test_a_search_finds_all_of_its_namespaces_and_nothing_else(
    index: VectorIndex, owners: list[int], wanted: set[int]
) -> None:
    index.delete_documents(list(index.documents()))
    index.upsert([point(number, "cup", namespace_id=owner) for number, owner in enumerate(owners)])
    expected = [number for number, owner in enumerate(owners) if owner in wanted]

    for leg in (
        dense("cup", limit=50, namespaces=tuple(wanted)),
        sparse("cup", limit=50, namespaces=tuple(wanted)),
    ):
        assert search(index, leg) == expected


def test_a_small_tenant_finds_its_items_beside_a_large_one(index: VectorIndex) -> None:
    index.upsert([point(number, f"cup saucer x{number}") for number in range(1000)])
    small = [point(5000 + n, f"a cup of tea y{n}", tenant=OTHER, namespace_id=2) for n in range(10)]
    index.upsert(small)

    for leg in (dense("cup saucer", namespaces=(2,)), sparse("cup", namespaces=(2,))):
        assert sorted(search(index, leg)) == list(range(5000, 5010))


def test_a_score_does_not_change_with_what_another_tenant_stores(index: VectorIndex) -> None:
    index.upsert([point(1, "red cup"), point(2, "blue cup"), point(3, "plate")])
    before = index.search([sparse("red cup")])

    index.upsert([point(n, "red plate", tenant=OTHER, namespace_id=2) for n in range(100, 200)])

    assert index.search([sparse("red cup")]) == before


def test_a_search_sees_one_view_of_a_document(index: VectorIndex) -> None:
    index.upsert(
        [
            point(1, "yes, a red one"),
            point(1, "did you buy a cup? yes, a red one", view=View.CONTEXT),
            point(2, "a cup of tea"),
        ]
    )

    assert search(index, sparse("cup")) == [2]
    assert search(index, sparse("cup", view=View.CONTEXT)) == [1]
    assert search(index, dense("did you buy a cup? yes, a red one", view=View.CONTEXT)) == [1]


def test_how_rare_a_word_is_counts_within_the_view(index: VectorIndex) -> None:
    index.upsert([point(1, "red cup"), point(2, "blue cup"), point(3, "plate")])
    before = index.search([sparse("red cup")])

    index.upsert([point(n, "red plate", view=View.CONTEXT) for n in range(1, 4)])

    assert index.search([sparse("red cup")]) == before


def test_a_document_is_deleted_in_every_view(index: VectorIndex) -> None:
    index.upsert([point(1, "cup"), point(1, "red cup", view=View.CONTEXT), point(2, "cup")])

    index.delete_documents([key(1)])

    assert index.count() == 1
    assert search(index, sparse("cup", view=View.CONTEXT)) == []


def bad_points() -> dict[str, tuple[Point, type[Exception]]]:
    good = point(7, "cup")
    nan = good.dense.copy()
    nan[3] = np.nan
    return {
        "NaN": (replace(good, dense=nan), NotFinite),
        "infinity": (replace(good, dense=vector(np.inf, 1.0)), NotFinite),
        "a zero vector": (replace(good, dense=vector(0.0)), NotFinite),
        "too large for single precision": (
            replace(good, dense=np.full(DIMENSION, 1e300)),
            NotFinite,
        ),
        "another dimension": (
            replace(good, dense=np.ones(DIMENSION + 1, np.float32)),
            WrongDimension,
        ),
        "no vector": (replace(good, dense=np.float32(1.0)), InvalidPoint),  # type: ignore[arg-type]
        "integers": (replace(good, dense=np.ones(DIMENSION, np.int64)), InvalidPoint),  # type: ignore[arg-type]
        "terms without weights": (replace(good, sparse=SparseVector((1, 2), (1.0,))), InvalidPoint),
        "weights without terms": (
            replace(good, sparse=SparseVector((1,), (1.0, 2.0))),
            InvalidPoint,
        ),
        "a term twice": (replace(good, sparse=terms((1, 1.0), (1, 2.0))), InvalidPoint),
        "a negative term": (replace(good, sparse=terms((-1, 1.0))), InvalidPoint),
        "a term beyond 32 bits": (replace(good, sparse=terms((2**32, 1.0))), InvalidPoint),
        "a weight that is NaN": (replace(good, sparse=terms((1, float("nan")))), NotFinite),
        "an id that is text": (replace(good, id="7"), InvalidPoint),  # type: ignore[arg-type]
        "a document that is a number": (replace(good, document=7), InvalidPoint),  # type: ignore[arg-type]
        "no tenant": (replace(good, tenant=None), InvalidPoint),  # type: ignore[arg-type]
        "a namespace that is true": (replace(good, namespace_id=True), InvalidPoint),
        "a time beyond 2^53": (replace(good, created=2**53 + 1), InvalidPoint),
        "a time that is a float": (replace(good, created=1.5), InvalidPoint),  # type: ignore[arg-type]
        "a kind of a megabyte": (replace(good, kind="x" * 1_000_000), InvalidPoint),
        "half a surrogate pair": (replace(good, task_type="\ud800"), InvalidPoint),
        "a deep payload": (replace(good, kind={"a": {"b": 1}}), InvalidPoint),  # type: ignore[arg-type]
    }


@pytest.mark.parametrize("name", bad_points())
def test_a_bad_point_is_refused_and_nothing_of_its_batch_is_stored(
    index: VectorIndex, name: str
) -> None:
    bad, error = bad_points()[name]
    index.upsert([point(1, "cup")])

    with pytest.raises(error) as refused:
        index.upsert([*[point(n, "cup") for n in range(100, 400)], bad])

    assert isinstance(refused.value, InvalidPoint | InvalidVector)
    assert index.documents() == {key(1)}
    assert search(index, dense("cup")) == [1]


def test_the_same_id_twice_in_a_batch_is_refused(index: VectorIndex) -> None:
    with pytest.raises(InvalidPoint, match="twice"):
        index.upsert([point(1, "cup"), point(2, "cup"), point(1, "plate")])

    assert index.count() == 0


@pytest.mark.parametrize(
    ("leg", "error"),
    [
        (Leg(Filter((1,)), 5), InvalidPoint),
        (
            Leg(Filter((1,)), 5, dense=encoder.encode_query("x"), sparse=bm25.query("x")),
            InvalidPoint,
        ),
        (Leg(Filter((1,)), 5, dense=np.ones(3, np.float32)), WrongDimension),
        (Leg(Filter((1,)), 5, dense=vector(float("nan"))), NotFinite),
        (Leg(Filter((1,)), 5, sparse=SparseVector((1, 2), (1.0,))), InvalidPoint),
        (dense("cup", limit=0), InvalidPoint),
        (dense("cup", limit=1_000_000), InvalidPoint),
        (dense("cup", namespaces=("1",)), InvalidPoint),  # type: ignore[arg-type]
        (dense("cup", kinds=(1,)), InvalidPoint),
        (dense("cup", created_from=float("nan")), InvalidPoint),
        (dense("cup", view="own"), InvalidPoint),
    ],
)
def test_a_malformed_search_is_refused(
    index: VectorIndex, leg: Leg, error: type[Exception]
) -> None:
    index.upsert([point(1, "cup")])

    with pytest.raises(error):
        index.search([dense("cup"), leg])


def test_a_point_without_any_word_is_found_by_meaning(index: VectorIndex) -> None:
    index.upsert([replace(point(1, "cup"), sparse=SparseVector((), ()))])

    assert search(index, dense("cup")) == [1]
    assert search(index, sparse("cup")) == []
