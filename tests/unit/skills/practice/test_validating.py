"""Which runs of practice may enter memory, and what the others are refused for."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from memserver.domain.items import SkillBody, SkillStep, Slot
from memserver.domain.practice import PracticeGoal, Refusal, Why
from memserver.domain.trajectories import Outcome, OutcomeSource, Step, Task, Trajectory
from memserver_skills.practice.validating import Expectation, validate
from tests.unit.skills.runs import NAMESPACE, T0, run

GOAL = PracticeGoal(
    uuid4(),
    NAMESPACE,
    Task("put the mug on the desk", "put", "house"),
    "put {object} on {place}",
    {"object": "mug", "place": "desk"},
    Why(0.2, 0.8, 0.5, 1.0, 0.5),
    T0,
)
ACTIONS = ("go to shelf 1", "take mug 1", "go to desk 2", "put mug 1 on desk 2")
SEEN = ("a room with a desk 2", "shelf 1 holds mug 1", "you hold the mug", "desk 2 is empty")


def tried(
    actions: Sequence[str] = ACTIONS, seen: Sequence[str] = SEEN, **changes: Any
) -> Trajectory:
    made = run("Put the mug on the desk.", actions, observations=seen, environment="house")
    return replace(made, **changes)


def refusal(made: Trajectory, **known: Any) -> Refusal | None:
    verdict = validate(GOAL, made, **known)
    assert bool(verdict.reason) == (verdict.refusal is not None)
    return verdict.refusal


def test_a_run_that_its_environment_or_a_judge_calls_a_success_passes() -> None:
    assert validate(GOAL, tried()).passes
    for source in (OutcomeSource.JUDGE, OutcomeSource.HUMAN):
        assert validate(GOAL, tried(outcome=Outcome(1.0, True, source))).passes


@pytest.mark.parametrize("outcome", [None, Outcome(1.0, True, OutcomeSource.AGENT)])
def test_an_agent_is_no_judge_of_itself(outcome: Outcome | None) -> None:
    assert refusal(tried(outcome=outcome)) is Refusal.NOT_JUDGED


@pytest.mark.parametrize(
    "task",
    [Task("put the mug on the shelf"), Task("put the mug on the desk", environment="garden")],
)
def test_a_run_of_another_goal_or_elsewhere_does_not_count(task: Task) -> None:
    assert refusal(tried(task=task)) is Refusal.ANOTHER_GOAL


@pytest.mark.parametrize("steps", [(), (Step("a room"), Step("the same room"))])
def test_a_success_without_actions_is_none(steps: tuple[Step, ...]) -> None:
    assert refusal(tried(steps=steps)) is Refusal.NO_STEPS


FAILURE = Outcome(0.0, False)


def test_a_failure_where_all_things_were_there_is_a_failure() -> None:
    assert refusal(tried(outcome=FAILURE)) is Refusal.FAILED


def test_a_goal_of_which_a_thing_was_nowhere_to_be_seen_is_infeasible() -> None:
    task = "Your task: put the mug on the desk."
    seen = (f"a room with a desk 2. {task}", "shelf 1 is empty", "no such thing", "desk 2 is empty")
    verdict = validate(GOAL, tried(seen=seen, outcome=FAILURE))
    assert (verdict.refusal, verdict.reason) == (Refusal.INFEASIBLE, "never seen: mug")


def test_a_goal_that_could_not_be_begun_is_infeasible() -> None:
    assert refusal(tried(steps=(), outcome=FAILURE)) is Refusal.INFEASIBLE


def test_without_observations_nobody_can_say_that_a_thing_was_missing() -> None:
    assert refusal(tried(seen=(), outcome=FAILURE)) is Refusal.FAILED


def test_a_success_whose_actions_did_nothing_is_not_believed() -> None:
    nothing = ("a room", *["Nothing happens."] * 3)
    assert refusal(tried(("look", "jump", "open box", "rest"), nothing)) is Refusal.NOTHING_HAPPENED


def test_what_says_that_nothing_happened_is_learnt_from_the_runs_of_the_namespace() -> None:
    once = ("a room", "Nothing happens.", "Nothing happens.")
    made = tried(("open box", "open lid", "open desk"), once)
    others = [
        run(f"sort {n}", [verb, "wait"], observations=("a room", "Nothing happens.", "dark"))
        for n, verb in enumerate(("push wall", "pull rope", "lift rock"))
    ]
    assert refusal(made) is None
    assert refusal(made, others=others) is Refusal.NOTHING_HAPPENED


def test_one_action_that_did_nothing_on_the_way_does_not_matter() -> None:
    actions = ("jump", *ACTIONS)
    seen = ("a room", "Nothing happens.", *SEEN[1:])
    assert refusal(tried(actions, seen)) is None


MILESTONES = Expectation(
    SkillBody(
        when="",
        goal="put {object} on {place}",
        steps=(SkillStep("take {object}", "you hold it"), SkillStep("put {object} on {place}")),
        slots=(Slot("object", "object", "cup"), Slot("place", "place", "bed")),
    ),
    {},
)
ELSEWHERE = replace(MILESTONES, body=replace(MILESTONES.body, goal="heat {object} in {place}"))


def test_a_success_that_passes_none_of_the_milestones_is_not_verified() -> None:
    idle = tried(("go to shelf 1", "go to bed 1"), ("a room", "shelf 1", "bed 1"))
    assert refusal(idle, expectations=[MILESTONES]) is Refusal.UNVERIFIED
    assert refusal(idle, expectations=[ELSEWHERE]) is None
    assert refusal(tried(), expectations=[MILESTONES]) is None
    assert refusal(tried(), expectations=[ELSEWHERE, MILESTONES]) is None
