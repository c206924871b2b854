"""In which order a skill bank is read into a prompt: by its sections, or by likeness to the goal
(SkillRL's two ways of retrieval)."""

from collections.abc import Sequence
from dataclasses import dataclass

from memserver_skills.experience import Alike
from memserver_skills.groups import standing
from memserver_skills.plans import Rated
from memserver_skills.skillbank import SECTION, Section


@dataclass(frozen=True, slots=True)
class Caps:
    """How many of each section at most; skills of the task's own type all come."""

    general: int = 6
    mistakes: int = 5
    similar: int = 6


def by_section(
    bank: Sequence[Rated], task_type: str | None, *, caps: Caps | None = None
) -> tuple[Rated, ...]:
    """General skills up to their cap, all of the task's type, the top mistakes; within a section
    the best believed first."""
    caps = caps or Caps()
    general = _section(bank, Section.GENERAL)[: caps.general]
    own = [
        one
        for one in _section(bank, Section.TASK_SPECIFIC)
        if task_type is not None and one.entry.version.task_type == task_type
    ]
    return (*general, *own, *_section(bank, Section.MISTAKE)[: caps.mistakes])


def by_likeness(
    bank: Sequence[Rated], goal: str, alike: Alike, *, caps: Caps | None = None
) -> tuple[Rated, ...]:
    """The skills of any section that read most like the goal, then the mistakes that do."""
    caps = caps or Caps()
    skills = _section(bank, Section.GENERAL) + _section(bank, Section.TASK_SPECIFIC)
    mistakes = _section(bank, Section.MISTAKE)
    return (
        *_likest(skills, goal, alike)[: caps.similar],
        *_likest(mistakes, goal, alike)[: caps.mistakes],
    )


def _section(bank: Sequence[Rated], section: Section) -> list[Rated]:
    held = [one for one in bank if one.entry.version.metadata.get(SECTION) == section]
    return sorted(held, key=standing)


def _likest(skills: Sequence[Rated], goal: str, alike: Alike) -> list[Rated]:
    """The sort is stable: what is equally alike stays best believed first."""
    return sorted(skills, key=lambda one: -alike(goal, one.entry.version.text))
