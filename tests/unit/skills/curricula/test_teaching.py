"""A teacher that has a skill before it, and a student that has not."""

from memserver.domain.items import render
from memserver_skills.curricula.teaching import HISTORY, lessons
from tests.unit.skills.evolution.library import skill
from tests.unit.skills.runs import run

SKILL = skill("Mugs are washed under the tap")
TEXT = render(SKILL.entry.version.title, SKILL.entry.version.body)


def test_the_teacher_reads_the_skill_and_the_student_never_does() -> None:
    found = run("wash the mug", ["take mug", "clean mug"], observations=["a sink", "a mug"])
    taught = list(lessons(found, [SKILL]))
    assert [one.action for one in taught] == ["take mug", "clean mug"]
    for one in taught:
        assert TEXT in one.teacher
        assert "under the tap" not in one.student
        assert one.teacher.endswith(one.student)
        assert one.skills == (SKILL.version,)


def test_a_run_that_quotes_the_skill_does_not_hand_it_to_the_student() -> None:
    shown = f"You may use this:\n{TEXT}\nYou see a sink."
    found = run("wash the mug", ["take mug", "clean mug"], observations=[shown, "a mug"])
    for one in lessons(found, [SKILL]):
        assert "under the tap" not in one.student
        assert "You see a sink." in one.student


def test_without_a_skill_both_read_the_same() -> None:
    (one,) = lessons(run("wash the mug", ["take mug"]), [])
    assert one.teacher == one.student == "Goal: wash the mug"


def test_what_lies_far_back_is_not_read_again() -> None:
    actions = [f"step number {number}" for number in range(HISTORY + 3)]
    *_, last = lessons(run("wash the mug", actions), [SKILL])
    lines = last.student.splitlines()
    assert lines[0] == "Goal: wash the mug"
    assert lines[1:] == [f"Did: {action}" for action in actions[2:-1]]
