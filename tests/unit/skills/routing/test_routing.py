"""Which agent a task is given to, and when the skills of the handbook are cut wrongly."""

import random
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memserver_skills.routing.choosing import scores
from memserver_skills.routing.handbook import UNKNOWN, Handbook, Observation
from memserver_skills.routing.revising import (
    Trial,
    best_version,
    disagreements,
    indistinguishable,
)

MATHS, CODE, PROSE = (UUID(int=number) for number in (1, 2, 3))


def seen(agent: str, skill: UUID, *values: float, cost: float | None = None) -> list[Observation]:
    return [Observation(agent, skill, value, cost=cost) for value in values]


SEEN = [
    *seen("mathematician", MATHS, 1, 1, 1, 1, cost=1.0),
    *seen("mathematician", CODE, 0, 0, 0, cost=1.0),
    *seen("coder", CODE, 1, 1, 1, 1, cost=3.0),
    *seen("coder", MATHS, 0, 0, 0, cost=3.0),
]
HANDBOOK = Handbook.of(SEEN)
AGENTS = ["coder", "mathematician"]


def test_the_maths_agent_wins_maths_and_the_coder_wins_code() -> None:
    assert scores(HANDBOOK, {MATHS: 1.0}, AGENTS)[0].agent == "mathematician"
    assert scores(HANDBOOK, {CODE: 1.0}, AGENTS)[0].agent == "coder"


def test_the_skills_that_weigh_most_decide() -> None:
    assert scores(HANDBOOK, {MATHS: 9.0, CODE: 1.0}, AGENTS)[0].agent == "mathematician"
    assert scores(HANDBOOK, {MATHS: 1.0, CODE: 9.0}, AGENTS)[0].agent == "coder"


def test_cost_can_outweigh_competence() -> None:
    best, other = scores(HANDBOOK, {CODE: 1.0}, AGENTS, cost_weight=1.0)
    assert best.agent == "mathematician"
    assert best.score == pytest.approx(best.competence - best.cost)
    assert other.cost == 3.0


def test_an_agent_that_never_had_the_skill_has_the_skills_mean_over_agents() -> None:
    found = HANDBOOK.competence("newcomer", MATHS)
    assert found.mean == found.prior == pytest.approx((4 + 1) / (7 + 2))
    assert found.outcomes == 0


def test_a_skill_that_nobody_had_has_the_agents_mean() -> None:
    assert HANDBOOK.competence("coder", PROSE).mean == pytest.approx((4 + 1) / (7 + 2))


def test_an_agents_own_outcomes_are_not_counted_again_as_its_prior() -> None:
    found = HANDBOOK.competence("coder", MATHS)
    others = (4 + 1) / (4 + 2)
    assert found.prior == pytest.approx(others)
    assert found.mean == pytest.approx((0 + 2 * others) / (3 + 2))


def test_of_an_unknown_agent_with_an_unknown_skill_one_half_is_expected() -> None:
    assert HANDBOOK.competence("newcomer", PROSE).mean == UNKNOWN


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.floats(0, 1)), max_size=30),
    st.sampled_from("abcd"),
    st.integers(1, 4),
)
def test_nothing_is_ever_taken_for_impossible_or_certain(
    told: list[tuple[str, int, float]], agent: str, skill: int
) -> None:
    handbook = Handbook.of(Observation(a, UUID(int=s), v) for a, s, v in told)
    assert 0 < handbook.competence(agent, UUID(int=skill)).mean < 1


@given(st.integers(0, 2**16))
def test_the_order_of_observations_does_not_matter(seed: int) -> None:
    mixed = list(SEEN)
    random.Random(seed).shuffle(mixed)
    assert Handbook.of(mixed).cells == HANDBOOK.cells


def test_a_task_that_needs_nothing_known_goes_to_whoever_does_best_at_all() -> None:
    handbook = Handbook.of([*SEEN, *seen("coder", PROSE, 1, 1)])
    assert scores(handbook, {}, AGENTS)[0].agent == "coder"


def test_a_skill_on_which_agents_differ_is_to_be_split() -> None:
    assert {one.skill for one in disagreements(HANDBOOK)} == {MATHS, CODE}
    assert disagreements(HANDBOOK)[0].variance == 0.25


def test_two_outcomes_of_an_agent_are_not_enough_to_split() -> None:
    few = Handbook.of([*seen("a", MATHS, 1, 1, 1), *seen("b", MATHS, 0, 0)])
    assert disagreements(few) == ()


def test_a_variance_below_the_line_does_not_split() -> None:
    near = Handbook.of([*seen("a", MATHS, 1, 1, 1, 1), *seen("b", MATHS, 0, 1, 1, 0)])
    assert disagreements(near) == ()


def test_skills_that_every_agent_does_equally_well_are_one() -> None:
    handbook = Handbook.of(
        [*SEEN, *seen("mathematician", PROSE, 1, 1, 1), *seen("coder", PROSE, 0, 0, 0)]
    )
    groups = indistinguishable(handbook)
    assert groups == ((MATHS, PROSE),)
    together = handbook.merged(groups)
    assert together.counts("mathematician", MATHS).outcomes == 7
    assert together.skills == (MATHS, CODE)


def test_the_version_that_routes_best_for_its_cost_is_chosen() -> None:
    blind = Handbook.of([])
    trials = [
        Trial({MATHS: 1.0}, {"mathematician": 1.0, "coder": 0.0}, {"mathematician": 1, "coder": 3}),
        Trial({CODE: 1.0}, {"mathematician": 0.0, "coder": 1.0}, {"mathematician": 1, "coder": 3}),
    ]
    assert best_version([blind, HANDBOOK], trials) == 1
    assert best_version([HANDBOOK, HANDBOOK], trials) == 0
    with pytest.raises(ValueError, match="by trials"):
        best_version([HANDBOOK], [])
