"""Reflections: a finished task as what worked, what went wrong, and the course to follow."""

from dataclasses import replace

from memserver.domain.items import Form, Kind, SkillBody
from memserver.domain.trajectories import Outcome, Trajectory
from memserver_skills.grounding import ground
from memserver_skills.proposals import Proposal
from memserver_skills.reflections import distil_reflections
from tests.unit.skills.runs import HEATS, PUTS, put, run

GOOD = put("mug", "cart", "shelf")
GOAL = GOOD.task.goal


def body(made: Proposal) -> SkillBody:
    assert isinstance(made.body, SkillBody)
    return made.body


def rewarded(one: Trajectory, *rewards: float | None) -> Trajectory:
    steps = [replace(step, reward=reward) for step, reward in zip(one.steps, rewards, strict=True)]
    return replace(one, steps=tuple(steps))


def test_a_finished_run_becomes_patterns_mistakes_and_a_golden_workflow() -> None:
    bad = run(
        GOAL,
        ["go to shelf", "sing"],
        success=False,
        mistakes=["When: the shelf is empty\nAvoid: waiting for a mug"],
    )

    [made] = distil_reflections([GOOD, bad])

    assert made.kind is Kind.SKILL
    assert body(made).form == Form.REFLECTION
    assert [step.action for step in body(made).steps] == made.metadata["golden_workflow"]
    assert made.metadata["golden_workflow"] == [
        "go to shelf",
        "take {object} from shelf",
        "go to {place}",
        "move {object} to {place}",
    ]
    assert made.metadata["success_patterns"]
    assert made.metadata["mistakes"] == [
        "When: the shelf is empty; avoid: waiting for a mug",
        "do not sing",
        "it was left out to take {object} from shelf",
    ]
    for line in (*made.metadata["success_patterns"], *made.metadata["mistakes"]):
        assert f"- {line}" in body(made).text
    assert {source.trajectory_id for source in made.sources} == {GOOD.id, bad.id}


def test_each_task_has_one_and_it_grounds_on_another_object() -> None:
    made = distil_reflections([*PUTS, *HEATS])

    assert len(made) == len({one.task.goal for one in [*PUTS, *HEATS]})
    fit = ground(body(made[0]), "put some pen on sofa.") or ground(
        body(made[0]), "heat some pen and put it in sofa."
    )
    assert fit is not None
    assert fit.steps[-1].action == "move pen to sofa"


def test_the_best_run_is_golden_and_of_equals_the_shortest() -> None:
    long = put("mug", "cart", "shelf", name="long")
    long = replace(long, steps=(long.steps[0], *long.steps))
    poor = run(GOAL, ["throw mug on cart"], name="poor")
    poor = replace(poor, outcome=Outcome(0.6, success=True))

    [made] = distil_reflections([long, GOOD, poor])

    assert made.metadata["golden_workflow"][0] == "go to shelf"
    assert len(made.metadata["golden_workflow"]) == 4
    assert made.metadata["successes"] == 3


def test_what_raised_the_reward_is_what_worked() -> None:
    [made] = distil_reflections([rewarded(GOOD, 0, 0.5, 0.5, 1.0)])

    assert made.metadata["success_patterns"][:2] == [
        "take {object} from shelf",
        "move {object} to {place}",
    ]


def test_failures_alone_leave_mistakes_and_no_workflow() -> None:
    bad = run(GOAL, ["go to shelf", "sing"], success=False)

    [made] = distil_reflections([bad])

    assert body(made).steps == ()
    assert made.metadata["mistakes"] == ["it went no further than: sing"]


def test_runs_that_say_nothing_teach_nothing() -> None:
    assert distil_reflections([run(GOAL, [], success=False), run(GOAL, [])]) == []
    assert distil_reflections([replace(GOOD, outcome=None)]) == []
