"""Workflows: what successes have in common, in terms of the goal's own words."""

import random

import pytest

from memserver.domain.items import Kind, SkillBody
from memserver_skills.proposals import Proposal
from memserver_skills.workflows import distil_workflows
from tests.unit.skills.runs import HEATS, PUTS, heat, put, run


def actions(proposal: Proposal) -> list[str]:
    assert isinstance(proposal.body, SkillBody)
    return [step.action for step in proposal.body.steps]


def goal(proposal: Proposal) -> str:
    assert isinstance(proposal.body, SkillBody)
    return proposal.body.goal


def slots(proposal: Proposal) -> dict[str, tuple[str, str]]:
    assert isinstance(proposal.body, SkillBody)
    return {slot.name: (slot.type, slot.example) for slot in proposal.body.slots}


def test_goals_of_one_shape_become_one_workflow_with_typed_slots() -> None:
    [made] = distil_workflows(PUTS)

    assert made.kind is Kind.SKILL
    assert made.method == "distill/workflows"
    assert goal(made) == "put some {object} on {place}"
    assert actions(made) == [
        "go to {source}",
        "take {object} from {source}",
        "go to {place}",
        "move {object} to {place}",
    ]
    assert slots(made)["object"][0] == "object"
    assert slots(made)["place"][0] == "place"
    assert slots(made)["source"] == ("source", "countertop")


def test_kinds_of_task_that_need_other_actions_stay_apart() -> None:
    made = distil_workflows(PUTS + HEATS)

    assert {goal(one) for one in made} == {
        "put some {object} on {place}",
        "heat some {object} and put it in {place}",
    }
    [heated] = [one for one in made if goal(one).startswith("heat")]
    assert "heat {object} with microwave" in actions(heated)


def test_two_wordings_of_one_task_become_one_workflow() -> None:
    reworded = [
        run(
            f"bring the {thing} over to the {place}",
            [
                f"go to {source}",
                f"take {thing} from {source}",
                f"go to {place}",
                f"move {thing} to {place}",
            ],
        )
        for thing, place, source in [("pen", "shelf", "desk"), ("cup", "sofa", "countertop")]
    ]

    [made] = distil_workflows(PUTS + reworded)

    assert set(goal(made).splitlines()) == {
        "put some {object} on {place}",
        "bring the {object} over to the {place}",
    }
    assert len(made.aliases) == 1


def test_a_goal_seen_once_gets_slots_from_its_own_run() -> None:
    [made] = distil_workflows([put("mug", "dresser", "countertop"), HEATS[0]][:1])

    assert goal(made) == "put some {object} on {place}"
    assert actions(made)[-1] == "move {object} to {place}"


def test_a_phrase_of_several_words_is_one_slot() -> None:
    goals = [("red light bulb", "workshop"), ("buzzer", "kitchen")]
    [made] = distil_workflows(
        [
            run(f"turn on the {thing} in the {place}", [f"go to {place}", f"activate {thing}"])
            for thing, place in goals
        ]
    )

    assert actions(made) == ["go to {place}", "activate {object}"]
    assert slots(made)["object"] == ("object", "red light bulb")


def test_numbers_that_tell_instances_apart_are_left_out() -> None:
    [made] = distil_workflows(
        [
            run(
                f"put some {thing} on cart {number}",
                [f"open drawer {number}", f"take {thing} {number} from drawer {number}"],
            )
            for thing, number in [("mug", 1), ("pen", 2), ("cup", 3)]
        ]
    )

    assert actions(made) == ["open drawer", "take {object} from drawer"]


def test_a_detour_of_one_run_is_not_part_of_the_workflow() -> None:
    detour = run(
        "put some fork on table.",
        [
            "look around",
            "go to sink",
            "go to drawer",
            "take fork from drawer",
            "go to table",
            "move fork to table",
        ],
    )

    [made] = distil_workflows([*PUTS, detour])

    assert "look around" not in actions(made)
    assert "go to sink" not in actions(made)


def test_a_run_that_never_names_its_object_joins_its_siblings() -> None:
    silent = run("put some ring on shelf.", ["go to shelf", "wait"])

    [made] = distil_workflows([*PUTS, silent])

    assert goal(made) == "put some {object} on {place}"
    assert made.metadata["runs"] == 5


def test_failures_and_runs_without_actions_teach_no_workflow() -> None:
    failed = [put("mug", "dresser", "countertop", success=False), run("put some mug on bed.", [])]

    assert distil_workflows(failed) == []


def test_sources_name_the_steps_that_the_workflow_keeps() -> None:
    detour = run(
        "put some fork on table.",
        [
            "look around",
            "go to drawer",
            "take fork from drawer",
            "go to table",
            "move fork to table",
        ],
    )

    [made] = distil_workflows([*PUTS, detour])

    steps = {source.trajectory_id: source.steps for source in made.sources}
    assert steps[detour.id] == (1, 2, 3, 4)
    assert len(steps) == 5


def test_what_is_seen_after_a_step_is_kept_where_runs_agree_and_it_is_news() -> None:
    runs = [
        run(
            f"weigh the {thing}",
            [f"take {thing}", f"place {thing} on scale"],
            observations=["a room", f"You take the {thing}.", f"The display flashes for {thing}."],
        )
        for thing in ["mug", "pen"]
    ]

    [made] = distil_workflows(runs)

    assert isinstance(made.body, SkillBody)
    assert [step.expect for step in made.body.steps] == ["", "The display flashes for {object}."]


def test_the_same_task_keeps_its_signature_when_runs_are_added() -> None:
    [before] = distil_workflows(PUTS[:2])
    [after] = distil_workflows([*PUTS[:2], put("vase", "sofa", "shelf", day=1)])

    assert after.signature == before.signature
    assert after.body != before.body or after.sources != before.sources


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_runs_does_not_matter(seed: int) -> None:
    runs = PUTS + HEATS + [heat("mug", "table", "shelf", success=False)]
    shuffled = random.Random(seed).sample(runs, len(runs))

    assert distil_workflows(shuffled) == distil_workflows(runs)


def test_text_that_looks_like_a_slot_stays_text() -> None:
    [made] = distil_workflows([run("type {name} into field", ["click field", "type {name}"])])

    assert "{name}" not in goal(made)
    assert "name" not in slots(made)


def test_strange_texts_do_no_harm() -> None:
    goals = [
        "(((",
        "a" * 5000,
        "…",
        "İstanbul’a git",
        "put\tsome\n\nmug on  a   desk",
        "{object} {",
    ]

    made = distil_workflows([run(goal, [goal, "go to " + goal, ""]) for goal in goals])

    assert len(made) == len({one.signature for one in made})
