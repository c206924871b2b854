"""Which skills are shown while a model takes them in."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver_skills.curricula.internalising import (
    BUDGETS,
    Candidate,
    Validation,
    budget,
    deltas,
    linear_budgets,
    phase,
    prompt,
    shown,
)

A, B, C, D = (UUID(int=number) for number in range(1, 5))


def candidate(skill: UUID, *, general: bool = False) -> Candidate:
    return Candidate(skill, general, f"the text of skill {skill.int}")


def test_the_budget_falls_at_the_boundaries_of_equal_phases() -> None:
    budgets = [budget(step, steps=300) for step in (0, 99, 100, 199, 200, 299)]
    assert budgets == [6, 6, 3, 3, 0, 0]


@given(st.integers(1, 7), st.integers(1, 60))
def test_phases_are_equal_and_in_order(phases: int, each: int) -> None:
    found = [phase(step, steps=phases * each, phases=phases) for step in range(phases * each)]
    assert found == [number for number in range(phases) for _ in range(each)]


def test_a_step_outside_the_training_has_no_budget() -> None:
    for step in (-1, 300):
        with pytest.raises(ValueError, match="none of 300"):
            budget(step, steps=300)


def test_a_linear_budget_of_six_over_three_phases_is_the_usual_one() -> None:
    assert linear_budgets(6, 3) == BUDGETS
    assert linear_budgets(5, 4) == (5, 3, 2, 0)


def test_a_delta_is_the_mean_over_tasks_however_often_each_was_tried() -> None:
    tried = [
        Validation(A, "easy", 1.0, 1.0),
        Validation(A, "hard", 1.0, 0.0),
        Validation(A, "hard", 0.0, 0.0),
    ]
    assert deltas(tried) == {A: 0.25}


def test_what_harms_is_dropped_and_what_makes_no_difference_is_kept() -> None:
    delta = {A: -0.01, B: 0.0, C: 0.3}
    found = shown([candidate(A), candidate(B), candidate(C)], delta, budget=6)
    assert [one.skill for one in found] == [C, B]


def test_general_skills_come_before_those_that_help_most() -> None:
    delta = {A: 0.1, B: 0.9, C: 0.0, D: 0.5}
    candidates = [candidate(A), candidate(B), candidate(C, general=True), candidate(D)]
    assert [one.skill for one in shown(candidates, delta, budget=3)] == [C, B, D]


def test_a_general_skill_that_harms_is_dropped_too() -> None:
    assert shown([candidate(A, general=True)], {A: -0.5}, budget=6) == ()


def test_without_a_budget_no_prompt_has_a_word_of_a_skill() -> None:
    candidates = [candidate(A, general=True), candidate(B)]
    assert prompt("wash the mug", shown(candidates, {}, budget=0)) == "wash the mug"
    assert "the text of skill 1" in prompt("wash the mug", shown(candidates, {}, budget=1))
