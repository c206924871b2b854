"""The moving utility of a skill, EvolveR's score, and gates by context."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.evidence import Belief, Event, Evidence, fold
from memserver.domain.scope import Namespace
from memserver_skills.beliefs.gates import admits, in_context
from memserver_skills.beliefs.utility import START, Utility, utilities, utility

NAMESPACE = Namespace(1, UUID(int=1), "team")
SKILL = UUID(int=7)
BEGAN = datetime(2026, 3, 1, tzinfo=UTC)


def pieces(*values: float, context: str = "") -> list[Evidence]:
    return [
        Evidence(
            id=uuid4(),
            namespace=NAMESPACE,
            subject=SKILL,
            event=Event.OUTCOME,
            value=value,
            weight=1.0,
            recorded_at=BEGAN + timedelta(minutes=number),
            context=context,
            seq=number,
        )
        for number, value in enumerate(values, 1)
    ]


def test_each_outcome_moves_it_by_a_twentieth_of_the_way() -> None:
    assert Utility(0.7).moved(1.0).value == pytest.approx(0.715)
    assert Utility(0.7).moved(0.0).value == pytest.approx(0.665)


def test_without_outcomes_nothing_is_known() -> None:
    assert utility([]) == Utility(START, 0)


def test_the_order_of_outcomes_matters_and_the_order_of_reading_does_not() -> None:
    fell, rose = pieces(1.0, 0.0), pieces(0.0, 1.0)
    assert utility(rose).value > utility(fell).value
    assert utility(reversed(rose)) == utility(rose)


def test_shared_credit_moves_it_by_its_share() -> None:
    halves = [replace(piece, weight=0.5) for piece in pieces(1.0, 1.0)]
    assert utility(halves).value == pytest.approx(utility(pieces(1.0)).value)


def test_what_is_inherited_moves_it_and_is_no_outcome() -> None:
    (piece,) = pieces(1.0)
    found = utility([replace(piece, event=Event.INHERITED)])
    assert found.value > START
    assert found.outcomes == 0


def test_contexts_are_folded_apart() -> None:
    found = utilities([*pieces(1.0, 1.0, context="clean"), *pieces(0.0, context="heat")])
    assert found["clean"].value > START > found["heat"].value
    assert found["clean"].outcomes == 2


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=12))
def test_what_was_taken_back_is_as_if_it_had_never_been_said(
    said: list[tuple[float, bool]],
) -> None:
    told = pieces(*(value for value, _ in said))
    kept = [piece for piece, (_, stays) in zip(told, said, strict=True) if stays]
    back = [
        replace(piece, id=uuid4(), event=Event.RETRACTION, retracts=piece.id)
        for piece, (_, stays) in zip(told, said, strict=True)
        if not stays
    ]
    assert utility([*told, *back]) == utility(kept)


@given(st.integers(0, 50), st.integers(0, 50))
def test_the_score_of_evolver_is_the_mean_of_the_belief(successes: int, failures: int) -> None:
    belief = fold(SKILL, "", pieces(*[1.0] * successes, *[0.0] * failures))
    uses = successes + failures
    assert belief.mean == pytest.approx((successes + 1) / (uses + 2))


def test_one_failed_use_keeps_a_principle_and_two_prune_it() -> None:
    assert fold(SKILL, "", pieces(0.0)).mean == pytest.approx(1 / 3)
    assert fold(SKILL, "", pieces(0.0, 0.0)).mean == 0.25


def test_a_context_of_its_own_decides_once_it_has_outcomes_enough() -> None:
    harms = Belief(SKILL, "heat", failures=4, outcomes=4)
    helps = Belief(SKILL, "clean", successes=20, outcomes=20)
    assert not admits([harms, helps], "heat")
    assert admits([harms, helps], "clean")
    assert admits([harms, helps], "cool")
    assert in_context([harms, helps], None) == Belief(SKILL, "", 20, 4, 24)


def test_what_fails_overall_is_still_offered_where_it_helps() -> None:
    harms = Belief(SKILL, "heat", failures=30, outcomes=30)
    helps = Belief(SKILL, "clean", successes=3, outcomes=3)
    assert admits([harms, helps], "clean")
    assert not admits([harms], "clean")


def test_two_failures_in_a_context_do_not_shut_it() -> None:
    assert admits([Belief(SKILL, "heat", failures=2, outcomes=2)], "heat")
