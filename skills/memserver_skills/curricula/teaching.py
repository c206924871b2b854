"""Prompts for a teacher that has a skill before it and a student that has not.

Skill-SD: what a finished run taught (what went well, what went wrong, the way to go) is shown to
the teacher alone; the student learns to do as the teacher does from the task and what it sees. So
each step of a run is two prompts with one action between them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.items import render
from memserver.domain.trajectories import Trajectory
from memserver_skills.plans import Rated

HISTORY = 8


@dataclass(frozen=True, slots=True)
class Taught:
    """One step to learn from: what the teacher reads, what the student reads, and what was done.
    `skills` are the versions that the teacher had."""

    run: UUID
    step: int
    teacher: str
    student: str
    action: str
    skills: tuple[UUID, ...]


def lessons(run: Trajectory, skills: Sequence[Rated]) -> Iterator[Taught]:
    """The steps of a run that act. What the student reads is made of the run alone; where the run
    was shown one of the skills and quotes it, that is left out. The teacher reads the same after
    the skills."""
    texts = [render(one.entry.version.title, one.entry.version.body) for one in skills]
    before = "\n\n".join(text for text in texts if text)
    for place, step in enumerate(run.steps):
        if not step.action.strip():
            continue
        student = _without(_as_seen(run, place), texts)
        yield Taught(
            run.id,
            place,
            f"{before}\n\n{student}" if before else student,
            student,
            step.action,
            tuple(one.version for one in skills),
        )


def _as_seen(run: Trajectory, place: int) -> str:
    """The goal, the last few steps, and what is seen now."""
    lines = [f"Goal: {run.task.goal}"]
    for step in run.steps[max(0, place - HISTORY) : place]:
        lines += [f"Saw: {step.observation}"] if step.observation else []
        lines += [f"Did: {step.action}"] if step.action else []
    now = run.steps[place].observation
    lines += [f"Saw: {now}"] if now else []
    return "\n".join(lines)


def _without(text: str, skills: Sequence[str]) -> str:
    for skill in skills:
        text = text.replace(skill, "") if skill else text
    return text
