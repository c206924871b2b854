"""What one outcome says of choosing skills and of making them."""

import itertools
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver_skills.beliefs.credit import distilled_credit, ranking_reward

ONE, TWO, THREE = (UUID(int=number) for number in (1, 2, 3))
UTILITIES = {ONE: 0.9, TWO: 0.5, THREE: 0.1}


def test_a_success_where_the_best_was_worth_point_seven_credits_point_three() -> None:
    assert distilled_credit(1.0, [0.2, 0.7]) == pytest.approx(0.3)


def test_a_failure_with_the_same_at_hand_takes_point_seven_away() -> None:
    assert distilled_credit(0.0, [0.7, 0.2]) == pytest.approx(-0.7)


def test_where_nothing_was_retrieved_a_success_counts_from_what_is_unknown() -> None:
    assert distilled_credit(1.0, []) == 0.5


def test_the_order_by_utility_earns_one_and_no_other_earns_more() -> None:
    assert ranking_reward([ONE, TWO, THREE], UTILITIES) == 1.0
    rewards = [ranking_reward(order, UTILITIES) for order in itertools.permutations(UTILITIES)]
    assert max(rewards) == 1.0
    assert min(rewards) == ranking_reward([THREE, TWO, ONE], UTILITIES) < 1.0


def test_an_order_of_what_is_worth_nothing_cannot_be_wrong() -> None:
    assert ranking_reward([ONE, TWO], {ONE: 0.0, TWO: 0.0}) == 1.0
    assert ranking_reward([], {}) == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_a_reward_lies_between_nothing_and_one(values: list[float]) -> None:
    order = [UUID(int=number) for number in range(len(values))]
    assert 0.0 <= ranking_reward(order, dict(zip(order, values, strict=True))) <= 1.0 + 1e-12
