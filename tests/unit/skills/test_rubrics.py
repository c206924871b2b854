"""Rubrics: guidance by stage, of what successes have there and failures lack."""

from dataclasses import replace

from memserver.domain.items import Kind, RuleBody
from memserver.domain.trajectories import Trajectory
from memserver_skills.rubrics import STAGE, distil_rubrics, rubric
from tests.unit.skills.runs import HEATS, rated, run

BAD = [
    run(one.task.goal, ["go to sofa", "go to microwave"], success=False, name="bad")
    for one in HEATS[:2]
]


def staged(one: Trajectory, *names: str) -> Trajectory:
    steps = [
        replace(step, metadata={"stage": name}) for step, name in zip(one.steps, names, strict=True)
    ]
    return replace(one, steps=tuple(steps))


def test_a_course_without_stages_has_three_of_even_size() -> None:
    made = distil_rubrics(HEATS)

    assert [one.metadata[STAGE] for one in made] == ["opening", "middle", "closing"]
    assert [len(one.metadata["criteria"]) for one in made] == [2, 2, 2]
    assert all(one.kind is Kind.RULE for one in made)
    closing = made[-1].body
    assert isinstance(closing, RuleBody)
    assert closing.when == "heat some {object} and put it in {place}; closing stage"
    assert "- move {object} to {place}" in closing.text


def test_a_criterion_is_what_failures_lack_most_first() -> None:
    made = distil_rubrics([*HEATS, *BAD])

    lines = [line for one in made for line in one.metadata["criteria"]]
    assert "go to microwave" not in {line["line"] for line in lines}
    assert all(line["successes"] > line["failures"] for line in lines)


def test_failures_that_say_nothing_of_what_they_did_take_nothing_away() -> None:
    silent = run(HEATS[0].task.goal, [], success=False)

    lines = [line for one in distil_rubrics([*HEATS, silent]) for line in one.metadata["criteria"]]

    assert len(lines) == 6
    assert {line["failures"] for line in lines} == {None}


def test_stages_that_steps_name_are_taken_in_their_order() -> None:
    names = ("plan", "gather", "gather", "gather", "review", "answer")
    made = distil_rubrics([staged(one, *names) for one in HEATS])

    assert [one.metadata[STAGE] for one in made] == ["plan", "gather", "review", "answer"]
    assert [one.metadata["number"] for one in made] == [1, 2, 3, 4]


def test_guidance_is_found_by_its_stage() -> None:
    bank = []
    for one in distil_rubrics(HEATS):
        item = rated(one.body, title=one.title, kind=one.kind)
        version = replace(
            item.entry.version, method=one.method, metadata=one.metadata, task_type="heat"
        )
        bank.append(replace(item, entry=replace(item.entry, version=version)))

    [found] = rubric(bank, "middle")

    assert found.entry.version.metadata[STAGE] == "middle"
    assert rubric(bank, "middle", task_type="heat") == (found,)
    assert rubric(bank, "middle", task_type="cool") == ()
    assert rubric([rated("a note")], "middle") == ()
