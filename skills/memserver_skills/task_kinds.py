"""The runs of one kind of task side by side: what its successes do, in what order, and what only
its failures do. Several distillers say the same findings in forms of their own."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from memserver.domain.trajectories import Trajectory
from memserver_skills.goal_templates import read_grammar
from memserver_skills.open_slots import open_slots
from memserver_skills.run_groups import can_be_followed, shared_type
from memserver_skills.sequences import consensus
from memserver_skills.slots import Slotted, slotted
from memserver_skills.tallies import by_frequency
from memserver_skills.words import SLOT, slot_type

MOST = 0.6
"""The share of the successes that make an action usual."""
NEARLY_ALWAYS = 0.8
"""The share of the runs with both actions that make one come before the other."""
PARTED = 0.5
"""By how much larger a share of the successes than of the failures does what tells them apart."""
COMMON = 2


@dataclass(frozen=True, slots=True)
class Order:
    """`first` comes before `then` in (nearly) all successes that do both."""

    first: str
    then: str


@dataclass(frozen=True, slots=True)
class TaskKind:
    """`name` is the type that the runs were sent with or, where they have none, the template of
    their goals. `usual` is what most successes do, in their common order; `orders` are neighbours
    of that course that keep their order. `decisive` are usual actions that failures, as a rule,
    leave out, none where no failure says what it did. `wrong` are actions of failures and of no
    success, those of most failures first, none where there is no success to compare with."""

    name: str
    task_type: str | None
    templates: tuple[str, ...]
    good: tuple[Slotted, ...]
    bad: tuple[Slotted, ...]
    usual: tuple[str, ...]
    orders: tuple[Order, ...]
    decisive: tuple[str, ...]
    wrong: Mapping[str, tuple[Slotted, ...]]

    @property
    def runs(self) -> tuple[Slotted, ...]:
        return self.good + self.bad

    @property
    def success_rate(self) -> float:
        return len(self.good) / len(self.runs)

    @property
    def template(self) -> str:
        return self.templates[0]

    @property
    def acted_badly(self) -> tuple[Slotted, ...]:
        """The failures that say what they did; others say nothing of what they left out."""
        return tuple(run for run in self.bad if run.lines)

    def often_wrong(self) -> dict[str, tuple[Slotted, ...]]:
        """What more than one failure did wrong."""
        return {line: runs for line, runs in self.wrong.items() if len(runs) >= COMMON}


def kinds_of_task(runs: Sequence[Trajectory]) -> list[TaskKind]:
    """The kinds of task among the runs whose outcome is known, by name; a run counts once."""
    grammar = read_grammar(runs)
    kinds: dict[str, list[Slotted]] = defaultdict(list)
    seen: set[UUID] = set()
    for run in slotted(runs, grammar):
        if run.run.outcome is not None and run.run.id not in seen:
            seen.add(run.run.id)
            kinds[run.run.task.type or run.key].append(run)
    return [
        _kind(name, open_slots(tuple(members), grammar.heads))
        for name, members in sorted(kinds.items())
    ]


def _kind(name: str, members: Sequence[Slotted]) -> TaskKind:
    good = tuple(run for run in members if run.run.succeeded)
    bad = tuple(run for run in members if not run.run.succeeded)
    told = [run.lines for run in good if can_be_followed(run)]
    course = consensus(told) if told else ()
    usual = tuple(line for line in course if share(line, good) >= MOST)
    wordings = Counter(run.template for run in members)
    return TaskKind(
        name=name,
        task_type=shared_type(run.run.task.type for run in members),
        templates=tuple(by_frequency(wordings)),
        good=good,
        bad=bad,
        usual=usual,
        orders=_orders(usual, good),
        decisive=_decisive(usual, good, [run for run in bad if run.lines]),
        wrong=_wrong(good, bad),
    )


def _orders(usual: Sequence[str], good: Sequence[Slotted]) -> tuple[Order, ...]:
    found = dict.fromkeys(Order(a, b) for a, b in pairwise(usual) if a != b)
    return tuple(order for order in found if _holds(order, good))


def _holds(order: Order, good: Sequence[Slotted]) -> bool:
    both = [run for run in good if order.first in run.lines and order.then in run.lines]
    kept = sum(run.lines.index(order.first) < run.lines.index(order.then) for run in both)
    return len(both) >= COMMON and kept >= NEARLY_ALWAYS * len(both)


def _decisive(
    usual: Sequence[str], good: Sequence[Slotted], failed: Sequence[Slotted]
) -> tuple[str, ...]:
    if not failed:
        return ()
    lines = dict.fromkeys(usual)
    return tuple(line for line in lines if share(line, good) - share(line, failed) >= PARTED)


def _wrong(good: Sequence[Slotted], bad: Sequence[Slotted]) -> dict[str, tuple[Slotted, ...]]:
    if not good:
        return {}
    harmless = {line for run in good for line in run.lines}
    doers: dict[str, list[Slotted]] = defaultdict(list)
    for run in bad:
        for line in sorted(set(run.lines) - harmless):
            doers[line].append(run)
    ranked = sorted(doers, key=lambda line: (-len(doers[line]), line))
    return {line: tuple(doers[line]) for line in ranked}


def share(line: str, runs: Sequence[Slotted]) -> float:
    """The share of the runs that did it; 0 of none."""
    return sum(line in run.lines for run in runs) / len(runs) if runs else 0.0


def plain(line: str) -> str:
    """A line in words: what a slot stands for in place of its name in braces."""
    return SLOT.sub(lambda found: f"the {slot_type(found.group(1))}", line)
