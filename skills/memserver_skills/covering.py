"""Which few demonstrations show all that a task needs.

TeleTune retrieves demonstrations that cover a task's subgoals; the choice by greedy set cover
(Chvátal 1979, "A greedy heuristic for the set-covering problem") is ours: at most 1 + ln(n) times
as many as the fewest that could do."""

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from typing import Generic, TypeVar

from memserver.domain.items import SkillBody
from memserver_skills.words import SLOT

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Cover(Generic[K]):
    """`chosen` in the order of choice, and what none of all shows."""

    chosen: tuple[K, ...]
    missing: frozenset[str]


def greedy_cover(
    subgoals: Collection[str], shows: Mapping[K, Set[str]], *, most: int | None = None
) -> Cover[K]:
    """Takes what shows most of what is still missing, the first named of equals, until nothing
    more is won or `most` are taken."""
    missing = set(subgoals)
    chosen: list[K] = []
    while missing and (most is None or len(chosen) < most):
        best = max(shows, key=lambda name: len(missing & shows[name]), default=None)
        if best is None or not missing & shows[best]:
            break
        chosen.append(best)
        missing -= shows[best]
    return Cover(tuple(chosen), frozenset(missing))


def subgoals_of(body: SkillBody) -> frozenset[str]:
    """What a skill's steps reach, whatever they are done with: its actions with every slot
    open."""
    return frozenset(SLOT.sub("{}", step.action).casefold() for step in body.steps)
