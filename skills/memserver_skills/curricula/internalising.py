"""Which skills are still shown while a model takes them in, and when none is shown any more.

SKILL0: every so many steps each skill is judged by its tasks with and without it; what harms is
dropped, and the rest shares a budget that falls linearly to nothing."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from uuid import UUID

BUDGETS = (6, 3, 0)


@dataclass(frozen=True, slots=True)
class Validation:
    """How one task went with a skill and without it."""

    skill: UUID
    task: str
    with_skill: float
    without: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill that may be shown; `general` ones are for every task."""

    skill: UUID
    general: bool
    text: str


def phase(step: int, *, steps: int, phases: int) -> int:
    """Which of the equal phases of a training of `steps` steps a step, from 0, lies in. A phase
    begins with the step at its boundary. Raises `ValueError` outside the training."""
    if not 0 <= step < steps or phases < 1:
        raise ValueError(f"step {step} is none of {steps} in {phases} phases")
    return step * phases // steps


def budget(step: int, *, steps: int, budgets: Sequence[int] = BUDGETS) -> int:
    """How many skills may be shown at a step: one number a phase."""
    return budgets[phase(step, steps=steps, phases=len(budgets))]


def linear_budgets(most: int, phases: int) -> tuple[int, ...]:
    """Numbers that fall from `most` to 0 in equal strides, rounded to the nearest, halves up."""
    if phases < 2:
        raise ValueError("a budget falls over two phases at least")
    last = phases - 1
    return tuple((2 * most * (last - n) + last) // (2 * last) for n in range(phases))


def deltas(validations: Iterable[Validation]) -> dict[UUID, float]:
    """The mean over its tasks of how much better they went with the skill; a task that was tried
    several times counts once."""
    tried: dict[UUID, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in validations:
        tried[one.skill][one.task].append(one.with_skill - one.without)
    return {skill: fmean(fmean(each) for each in tasks.values()) for skill, tasks in tried.items()}


def shown(
    candidates: Sequence[Candidate], delta: dict[UUID, float], *, budget: int
) -> tuple[Candidate, ...]:
    """General skills first, then those that help most, as many as the budget allows; none whose
    Δ is below 0. One that was never validated counts as 0: nothing speaks against it."""
    kept = [one for one in candidates if delta.get(one.skill, 0.0) >= 0]
    kept.sort(key=lambda one: (not one.general, -delta.get(one.skill, 0.0), one.skill))
    return tuple(kept[: max(0, budget)])


def prompt(task: str, skills: Sequence[Candidate]) -> str:
    """What the model is asked, with the skills before the task. Without skills it is the task
    alone, and no word of theirs."""
    return "\n\n".join([*(one.text for one in skills), task])
