"""Milestones and step hints, by HiPlan's acceptance: milestones are ordered, and a correction
appears only after a failed action."""

from dataclasses import replace

import pytest

from memserver.domain.items import Form, SkillBody
from memserver.domain.trajectories import Step
from memserver_skills.failed_actions import failed_answers
from memserver_skills.guiding import Guidance, guide
from memserver_skills.milestones import distil_milestones
from memserver_skills.proposals import Proposal
from tests.unit.skills.runs import HEATS, PUTS, put, run

NOTHING = "Nothing happens."
FAILURE = run(
    "put some jar on rack.",
    ["lick jar", "go to moon", "take ghost from rack", "shout"],
    observations=["a room", NOTHING, NOTHING, NOTHING, "An echo."],
    success=False,
)


def heated() -> Proposal:
    made = distil_milestones([*PUTS, *HEATS, FAILURE])
    [one] = [one for one in made if "heat" in one.title]
    return one


def guided(*steps: tuple[str, str], goal: str = "heat some pan and put it in sofa.") -> Guidance:
    skill = heated()
    assert isinstance(skill.body, SkillBody)
    done = [Step(observation, action) for observation, action in steps]
    found = guide(skill.body, skill.metadata, done, goal=goal)
    assert found is not None
    return found


def test_a_kind_of_task_gets_its_milestones_in_order_and_no_mere_approach() -> None:
    skill = heated()

    assert isinstance(skill.body, SkillBody)
    assert skill.body.form == Form.MILESTONES.value
    assert [step.action for step in skill.body.steps] == [
        "take {object} from {source}",
        "heat {object} with microwave",
        "move {object} to {place}",
    ]
    assert skill.metadata["segments"][1] == ["go to microwave", "heat {object} with microwave"]


def test_sources_name_the_steps_at_which_the_milestones_were_reached() -> None:
    assert {source.steps for source in heated().sources} == {(1, 3, 5)}


def test_a_reward_marks_a_milestone_that_names_nothing_of_the_goal() -> None:
    runs = [put(thing, "bed", "desk") for thing in ("pen", "cup", "key")]
    rewarded = [
        replace(
            one, steps=(Step("", "ring bell", 0.5), *(Step("", s.action, 0.0) for s in one.steps))
        )
        for one in runs
    ]

    [skill] = distil_milestones(rewarded)

    assert isinstance(skill.body, SkillBody)
    assert skill.body.steps[0].action == "ring bell"


def test_what_recurs_after_unlike_actions_and_names_none_is_what_failure_looks_like() -> None:
    lively = run(
        "clean the room",
        ["open window", "sweep floor", "dust shelf", "rest"],
        observations=["", "You open window.", "Floor is swept.", "No dust on shelf.", "Done."],
    )

    assert failed_answers([FAILURE, lively]) == ("nothing happens.",)


def test_an_answer_that_came_with_a_reward_is_no_failure() -> None:
    steps = tuple(replace(step, reward=1.0) for step in FAILURE.steps)

    assert failed_answers([replace(FAILURE, steps=steps)]) == ()


def test_at_the_start_the_whole_way_to_the_first_milestone_is_open() -> None:
    found = guided()

    assert found.milestone is not None
    assert found.milestone.number == 1
    assert found.done == ()
    assert found.gap == ("go to countertop", "take pan from countertop")
    assert found.correction is None


def test_a_run_on_its_way_is_told_where_it_is_and_what_lacks() -> None:
    found = guided(
        ("a room", "go to shelf 2"),
        ("You are at shelf 2.", "take pan 1 from shelf 2"),
        ("You have pan 1.", "go to microwave 1"),
        ("You are at microwave 1.", ""),
    )

    assert found.milestone is not None
    assert (found.milestone.number, found.milestone.action) == (2, "heat pan with microwave")
    assert [(one.number, one.at) for one in found.done] == [(1, 1)]
    assert found.gap == ("heat pan with microwave",)
    assert found.correction is None


def test_a_correction_appears_only_after_a_failed_action() -> None:
    steps = [
        ("a room", "go to shelf"),
        ("You are at shelf.", "take pan from shelf"),
        ("You have it.", "sing"),
        (NOTHING, "go to microwave"),
        ("A microwave.", "heat pan with microwave"),
        ("It is hot.", "go to sofa"),
        ("A sofa.", "move pan to sofa"),
        ("There it lies.", ""),
    ]
    corrected = []
    for count in range(len(steps) + 1):
        # What has been done is known up to the observation that follows it.
        known = [*steps[:count], *([(steps[count][0], "")] if count < len(steps) else [])]
        corrected.append(guided(*known).correction is not None)

    assert corrected == [False, False, False, True, False, False, False, False, False]
    assert guided(*steps[:3], (NOTHING, "")).correction == (
        "“sing” did nothing (seen: Nothing happens.). Do “go to microwave” instead."
    )


def test_where_the_right_action_failed_what_leads_to_it_is_done_again() -> None:
    found = guided(
        ("", "take pan from shelf"),
        ("You have it.", "go to microwave"),
        ("A corridor.", "heat pan with microwave"),
        (NOTHING, ""),
    )

    assert found.correction is not None
    assert "Do “go to microwave” again first" in found.correction
    assert found.milestone is not None
    assert found.milestone.number == 2


def test_a_later_milestone_takes_those_before_it_along_in_their_order() -> None:
    found = guided(("", "move pan to sofa"), ("There.", ""))

    assert found.milestone is None
    assert [one.number for one in found.done] == [1, 2, 3]
    assert [one.at for one in found.done] == [None, None, 0]


def test_a_skill_that_does_not_fit_the_goal_guides_nobody() -> None:
    skill = heated()
    assert isinstance(skill.body, SkillBody)

    assert guide(skill.body, skill.metadata, [], goal="write a poem") is None


@pytest.mark.parametrize("metadata", [{}, {"segments": "x"}, {"segments": [["a"], 3, None]}])
def test_metadata_that_people_rewrote_does_no_harm(metadata: dict[str, object]) -> None:
    skill = heated()
    assert isinstance(skill.body, SkillBody)

    found = guide(skill.body, metadata, [], goal="heat some pan and put it in sofa.")

    assert found is not None
    assert found.gap == ("take pan from countertop",)


def test_the_order_of_the_runs_does_not_matter() -> None:
    runs = [*PUTS, *HEATS, FAILURE]

    assert distil_milestones(runs[::-1]) == distil_milestones(runs)
