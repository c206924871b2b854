"""Which member of a portfolio a task is for: by what it may be expected to do there, less what it
costs (FlowBank)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver_skills.experience import Alike, alike_by_words

PRIOR = 0.5


@dataclass(frozen=True, slots=True)
class Tried:
    """A task that a skill was used for, and the share of its credit that was success."""

    task: str
    value: float


@dataclass(frozen=True, slots=True)
class Known:
    """A skill with what it was tried for, and what a run with it costs."""

    skill: UUID
    tried: tuple[Tried, ...]
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Matched:
    """What a member is expected to come to: `predicted` is in (0, 1), `score` is that less the
    weighed cost."""

    skill: UUID
    predicted: float
    cost: float
    score: float


def predicted(task: str, tried: Iterable[Tried], *, alike: Alike = alike_by_words) -> float:
    """The mean of what came of like tasks, each counted by its likeness, with one half counted
    once. What nothing like it is known of is as likely to go well as not."""
    weight, gained = 1.0, PRIOR
    for one in tried:
        likeness = max(0.0, alike(task, one.task))
        weight += likeness
        gained += likeness * one.value
    return gained / weight


def match(
    task: str,
    members: Sequence[Known],
    *,
    cost_weight: float = 0.0,
    alike: Alike = alike_by_words,
) -> tuple[Matched, ...]:
    """Every member, the best first; of equals the cheapest, then the first by id."""
    found = []
    for one in members:
        value = predicted(task, one.tried, alike=alike)
        found.append(Matched(one.skill, value, one.cost, value - cost_weight * one.cost))
    return tuple(sorted(found, key=lambda one: (-one.score, one.cost, one.skill)))
