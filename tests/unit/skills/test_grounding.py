"""Grounding: a skill's slots get the words of the goal at hand."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.items import SkillBody, SkillStep, Slot
from memserver_skills.grounding import bind, fill, ground
from memserver_skills.workflows import distil_workflows
from tests.unit.skills.runs import PUTS

PUT = SkillBody(
    when="put some {object} on {place}",
    steps=(
        SkillStep("go to {source}"),
        SkillStep("take {object} from {source}", "You hold the {object}."),
        SkillStep("move {object} to {place}"),
    ),
    slots=(
        Slot("object", "object", "mug"),
        Slot("place", "place", "cart"),
        Slot("source", "source", "shelf"),
    ),
    goal="put some {object} on {place}\nmove the {object} over to the {place}",
)


def lines(body: SkillBody | None) -> list[str]:
    assert body is not None
    return [step.action for step in body.steps]


def test_slots_take_the_words_that_stand_in_their_place() -> None:
    assert bind("put some {object} on {place}", "Put the Mug on cart!") == {
        "object": "Mug",
        "place": "cart",
    }


@pytest.mark.parametrize(
    "goal",
    [
        "put some mug under cart",
        "put some mug",
        "put some mug on cart now",
        "put some big mug on cart",
        "",
    ],
)
def test_another_goal_does_not_bind(goal: str) -> None:
    assert bind("put some {object} on {place}", goal) is None


def test_a_slot_takes_as_many_words_as_it_may() -> None:
    template = "put {object} on {place}"

    assert bind(template, "put red light bulb on cart", widths={"object": 3}) == {
        "object": "red light bulb",
        "place": "cart",
    }
    assert bind(template, "put red light bulb on cart", widths={"object": 2}) is None


def test_a_slot_that_occurs_twice_takes_the_same_words() -> None:
    template = "boil {object}, then focus on {object}"

    assert bind(template, "boil water, then focus on Water") == {"object": "water"}
    assert bind(template, "boil water, then focus on steam") is None


def test_grounding_fills_steps_and_expectations() -> None:
    grounded = ground(PUT, "put some towel on bed.")

    assert grounded is not None
    assert lines(grounded) == ["go to shelf", "take towel from shelf", "move towel to bed"]
    assert grounded.steps[1].expect == "You hold the towel."
    assert grounded.goal == "put some towel on bed"
    assert {slot.name: slot.example for slot in grounded.slots}["object"] == "towel"


def test_any_wording_of_the_skill_will_do() -> None:
    assert lines(ground(PUT, "move the towel over to the bed"))[-1] == "move towel to bed"


def test_a_goal_of_another_kind_is_not_grounded() -> None:
    assert ground(PUT, "heat some towel and put it in bed") is None


def test_what_the_goal_does_not_name_is_what_it_mostly_was() -> None:
    assert lines(ground(PUT, "put some pen on bed"))[0] == "go to shelf"


def test_a_long_goal_may_slip_in_a_word_that_no_step_is_about() -> None:
    goal = (
        "measure the temperature of {object} with a thermometer and then, if it is above 50 "
        "degrees, place it at once in the {place} which you find near the green door"
    )
    body = SkillBody("", (SkillStep("move {object} to {place}"),), PUT.slots[:2], goal)

    other = goal.replace("50", "70").format(object="tin", place="bin")

    assert lines(ground(body, other)) == ["move tin to bin"]
    assert ground(body, other.replace("temperature", "weight").replace("green", "red")) is None


def test_values_are_not_filled_again() -> None:
    assert fill("move {object} to {place}", {"object": "{place}", "place": "bed"}) == (
        "move {place} to bed"
    )


def test_goals_that_were_seen_ground_to_what_was_done() -> None:
    [made] = distil_workflows(PUTS)
    assert isinstance(made.body, SkillBody)

    for seen in PUTS:
        grounded = ground(made.body, seen.task.goal)
        assert lines(grounded)[2:] == [step.action for step in seen.steps[2:]]


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_breaks_binding(template: str, goal: str) -> None:
    bind(template, goal)
    ground(PUT, goal)


@given(
    st.sampled_from(["mug", "red (box)", "a.*b", "x\\1", "ünï"]),
    st.sampled_from(["cart", "[shelf", "{place}", "bed+"]),
)
def test_values_come_back_as_they_stand_in_the_goal(thing: str, place: str) -> None:
    found = bind("put {object} on {place}", f"put {thing} on {place}", widths={"object": 2})

    assert found is not None
    assert found["object"] in thing
    assert found["place"] in place


def test_a_hostile_goal_takes_no_long_time() -> None:
    slots = " ".join(f"{{s{n}}}" for n in range(30))
    widths = {f"s{n}": 6 for n in range(30)}
    started = time.monotonic()

    assert bind(f"{slots} end", "word " * 200 + "stop", widths=widths) is None
    assert time.monotonic() - started < 5


def test_a_step_that_cannot_be_grounded_is_not_offered() -> None:
    body = SkillBody(
        when="",
        steps=(
            SkillStep("take {object} from {source}"),
            SkillStep("go to {place}", "you see {source}"),
            SkillStep("put {object} on {place}", "{object} is on {place}"),
        ),
        slots=(Slot("object"), Slot("place"), Slot("source")),
        goal="put {object} on {place}",
    )

    grounded = ground(body, "Put a mug on the shelf.")

    assert grounded is not None
    assert [(step.action, step.expect) for step in grounded.steps] == [
        ("go to shelf", ""),
        ("put mug on shelf", "mug is on shelf"),
    ]
