"""The state of a task in a block that does not grow, and subgoal rewards that replay."""

import pytest

from memserver.domain.items import SkillBody, SkillStep, Slot
from memserver.domain.trajectories import Step
from memserver_skills.curricula.tracking import LONGEST, begun, blocks, render, rewards, states
from tests.unit.skills.runs import run

WASH = SkillBody(
    when="",
    goal="wash the {object}",
    slots=(Slot("object", example="cup"),),
    steps=(SkillStep("take {object}"), SkillStep("clean {object}"), SkillStep("put {object} away")),
)


def test_the_block_says_what_is_reached_and_what_comes_next() -> None:
    state = begun(WASH, "wash the mug").after(Step("a sink", "take mug 1"))
    assert render(state).splitlines() == [
        "Goal: wash the mug",
        "Reached: 1 of 3",
        "Next: clean mug",
        "Then: put mug away",
        "Did: take mug 1",
        "Saw: a sink",
    ]


def test_the_block_does_not_grow_with_the_steps() -> None:
    long = "look around the whole of the room for anything that may be of use " * 9
    found = run("wash the mug", [long] * 2_000, observations=[long] * 2_000)
    lengths = [len(block) for block in blocks(WASH, found)]
    assert lengths[10] == lengths[100] == lengths[1_999]
    assert max(lengths) <= LONGEST


def test_a_long_skill_and_a_long_goal_are_cut_as_well() -> None:
    body = SkillBody(when="", steps=(SkillStep("do it well " * 60),) * 500)
    assert len(render(begun(body, "wash " * 5_000))) <= LONGEST


def test_each_subgoal_is_paid_for_once_and_in_order() -> None:
    actions = ["look", "clean mug", "take mug", "take mug", "clean mug", "put mug away", "look"]
    found = run("wash the mug", actions)
    assert rewards(WASH, found) == pytest.approx((0, 0, 1 / 3, 0, 1 / 3, 1 / 3, 0))


def test_rewards_replay_exactly_from_the_stored_run() -> None:
    found = run("wash the mug", ["take mug 2", "wait", "clean mug 2", "leave"])
    state, replayed = begun(WASH, found.task.goal), []
    for step in found.steps:
        after = state.after(step)
        replayed.append((after.reached - state.reached) / 3)
        state = after
    assert rewards(WASH, found) == pytest.approx(tuple(replayed))
    assert rewards(WASH, found) == rewards(WASH, found)
    assert states(WASH, found)[-1] == state
    assert sum(rewards(WASH, found)) == pytest.approx(2 / 3)


def test_a_skill_without_steps_pays_nothing() -> None:
    assert rewards(SkillBody(when=""), run("wash", ["take mug"])) == (0.0,)
