"""How far a run followed a skill, and at which step it parted from it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memserver.domain.items import SkillBody
from memserver.domain.trajectories import Trajectory
from memserver_skills.grounding import ground
from memserver_skills.steps_score import normal_line
from memserver_skills.words import SLOT

A_NUMBER = r"(?: \d+)?"
_INSTANCE = re.compile(r"(?<=\w) \d+(?!\w)")


@dataclass(frozen=True, slots=True)
class Followed:
    """`places[n]` is the place among the run's actions at which it did step n; `parted` is the
    first step that it did not do, None where it did all. `instead` is the action that stands in
    that step's place, and `between[n]` what it did between step n − 1 and step n."""

    places: tuple[int, ...]
    parted: int | None
    instead: str | None
    between: tuple[tuple[str, ...], ...]


def follow(body: SkillBody, run: Trajectory) -> Followed:
    """Takes the steps in their order, each at the first place after the one before it. Slots have
    the words of the run's goal where the skill fits it, and any words else."""
    fitted = ground(body, run.task.goal) or body
    actions = actions_of(run)
    lines = [normal_line(action) for action in actions]
    places: list[int] = []
    between: list[tuple[str, ...]] = []
    after = 0
    for number, step in enumerate(fitted.steps):
        pattern = _pattern(step.action)
        place = next((at for at in range(after, len(lines)) if pattern.fullmatch(lines[at])), None)
        if place is None:
            instead = actions[after] if after < len(actions) else None
            return Followed(tuple(places), number, instead, tuple(between))
        places.append(place)
        between.append(tuple(actions[after:place]))
        after = place + 1
    return Followed(tuple(places), None, None, tuple(between))


def actions_of(run: Trajectory) -> list[str]:
    return [step.action for step in run.steps if step.action.strip()]


def grounded_actions(body: SkillBody, goal: str) -> list[str]:
    return [step.action for step in (ground(body, goal) or body).steps]


def matches(step: str, action: str) -> bool:
    """Whether an action does what a step says."""
    return _pattern(step).fullmatch(normal_line(action)) is not None


def unnumbered(action: str) -> str:
    """The action without the numbers that tell instances apart, of which no skill knows before."""
    return _INSTANCE.sub("", action)


@lru_cache(maxsize=8_192)
def _pattern(action: str) -> re.Pattern[str]:
    """The step as compared with what was done; numbers that tell instances apart ("mug 2") and
    what stands for a slot are left open."""
    parts = [re.escape(part) for part in normal_line(SLOT.sub("\x00", action)).split("\x00")]
    said = r"\S.*?".join(part.replace(r"\ ", rf"{A_NUMBER} ") for part in parts)
    return re.compile(said + A_NUMBER, re.DOTALL)


def contains(steps: Sequence[str], run: Trajectory) -> bool:
    """Whether the run did these steps, in their order."""
    lines = iter(normal_line(action) for action in actions_of(run))
    patterns = [_pattern(step) for step in steps]
    return bool(patterns) and all(
        any(pattern.fullmatch(line) for line in lines) for pattern in patterns
    )
