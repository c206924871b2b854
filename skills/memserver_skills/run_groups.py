"""Runs that belong together, and what a proposal that is drawn from all of them says of them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from memserver.domain.items import Slot
from memserver.domain.trajectories import normal_goal
from memserver_skills.proposals import signature
from memserver_skills.slots import Slotted
from memserver_skills.tallies import commonest
from memserver_skills.words import SLOT, slot_type

FOLLOWED = 120
"""Steps of the longest run that is learned from as a whole: no agent follows more, and the work
grows with the cube of their number."""


def can_be_followed(run: Slotted) -> bool:
    return 0 < len(run.lines) <= FOLLOWED


def by_task(runs: Iterable[Slotted]) -> dict[str, list[Slotted]]:
    """Runs whose goals count as the same task, under its normal form."""
    tasks: dict[str, list[Slotted]] = defaultdict(list)
    for run in runs:
        tasks[normal_goal(run.run.task.goal)].append(run)
    return tasks


def solved_by_kind(runs: Iterable[Slotted]) -> dict[str, list[Slotted]]:
    """The successes that can be followed, under the template of their goals."""
    kinds: dict[str, list[Slotted]] = defaultdict(list)
    for run in runs:
        if run.run.succeeded and can_be_followed(run):
            kinds[run.key].append(run)
    return kinds


def shared_type(types: Iterable[str | None]) -> str | None:
    """The type of task that all have; None where they differ."""
    found = set(types)
    return found.pop() if len(found) == 1 else None


def known_as(method: str, runs: Sequence[Slotted]) -> tuple[str, ...]:
    """The signatures of what `method` draws from runs of one kind: its own, and those that it had,
    or would have had, with fewer runs."""
    keys = [run.key for run in runs] + [earlier for run in runs for earlier in run.earlier]
    return tuple(signature(method, key) for key in dict.fromkeys(keys))


def slots_of(runs: Iterable[Slotted], *, goal: str, lines: Iterable[str]) -> tuple[Slot, ...]:
    """The slots of a goal and lines. One that the goal names has the longest value seen as its
    example, since that is how many words it may take; an open one has its likeliest value."""
    named = frozenset(SLOT.findall(goal))
    used = named.union(*(SLOT.findall(line) for line in lines))
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for run in runs:
        for slot in run.slots:
            values[slot.name][slot.example] += 1
    return tuple(
        Slot(name, slot_type(name), _longest(held) if name in named else commonest(held))
        for name, held in sorted(values.items())
        if name in used
    )


def _longest(values: Iterable[str]) -> str:
    return max(values, key=lambda value: (len(value.split()), value))
