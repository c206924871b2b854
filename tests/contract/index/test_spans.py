"""What held when, as every adapter tells it apart: whole seconds, never too little."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memserver.domain.ports import NEVER, Point, Span, VectorIndex
from tests.contract.index.points import dense, point, sparse

FIRST, LAST = 10, 20


def found(index: VectorIndex, span: Span | None) -> set[int]:
    by_meaning, by_words = index.search(
        [dense("cup", limit=100, span=span), sparse("cup", limit=100, span=span)]
    )
    documents = {hit.document.int for hit in by_meaning}
    assert documents == {hit.document.int for hit in by_words}
    return documents


def test_what_held_within_the_seconds_is_found_and_nothing_else(index: VectorIndex) -> None:
    index.upsert(
        [
            point(1, "cup", valid_from=1),
            point(2, "cup", valid_from=1, valid_to=FIRST - 1),
            point(3, "cup", valid_from=1, valid_to=FIRST),
            point(4, "cup", valid_from=LAST),
            point(5, "cup", valid_from=LAST + 1),
            point(6, "cup", valid_from=-5, valid_to=NEVER),
        ]
    )

    assert found(index, Span(FIRST, LAST)) == {1, 3, 4, 6}
    assert found(index, None) == {1, 2, 3, 4, 5, 6}


def test_what_was_recorded_later_is_not_found_and_an_end_written_later_ends_nothing(
    index: VectorIndex,
) -> None:
    index.upsert(
        [
            point(1, "cup", recorded=50),
            point(2, "cup", recorded=51),
            point(3, "cup", valid_to=5, closed=49),
            point(4, "cup", valid_to=5, closed=51),
        ]
    )

    assert found(index, Span(FIRST, LAST, known=50)) == {1, 4}


def test_what_is_no_longer_so_makes_no_word_common_among_what_is(index: VectorIndex) -> None:
    now = [point(1, "cup red", status="active"), point(2, "plate red", status="active")]
    index.upsert(now)
    alone = index.search([sparse("cup red", statuses=("active",))])

    index.upsert([point(n, "cup blue", status="past") for n in range(10, 60)])

    assert index.search([sparse("cup red", statuses=("active",))]) == alone


@st.composite
def points(draw: st.DrawFn, number: int) -> Point:
    moment = st.integers(0, 8)
    begin = draw(moment)
    return point(
        number,
        "cup",
        valid_from=begin,
        valid_to=draw(st.one_of(st.just(NEVER), st.integers(begin, 9))),
        recorded=draw(moment),
        closed=draw(st.one_of(st.just(NEVER), moment)),
    )


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_seconds_are_compared_as_their_description_says(
    index: VectorIndex, data: st.DataObject
) -> None:
    stored = [data.draw(points(number)) for number in range(1, 8)]
    first = data.draw(st.integers(0, 8))
    known = data.draw(st.one_of(st.none(), st.integers(0, 8)))
    span = Span(first, first + data.draw(st.integers(0, 3)), known)
    index.delete_documents(list(index.documents()))
    index.upsert(stored)

    def matches(one: Point) -> bool:
        lasts = one.valid_to >= first
        if known is None:
            return one.valid_from <= span.last and lasts
        in_records = one.recorded <= known
        return one.valid_from <= span.last and in_records and (lasts or one.closed >= known)

    assert found(index, span) == {one.document.int for one in stored if matches(one)}
