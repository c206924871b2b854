"""Takes a log in which tasks are interleaved, and which names no goals, apart into its tasks.

After TeleTune (2026), which cuts logs into segments with a model; here an event belongs to the
task whose last action its observation speaks of, whose things its action is about, and after whose
last kind of action such a kind comes. What comes after what is learnt from the log itself, by
cutting it, counting and cutting it again (hard expectation maximisation)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memserver.domain.trajectories import Step
from memserver_skills.structures import operation
from memserver_skills.words import stems

ROUNDS = 4
OPEN_TASKS = 4
"""Tasks that are kept in mind at once; of more, the one that is longest idle is taken for done."""
BEAM = 10

ANSWERS = 4.0
ABOUT = 3.0
STAYS = 0.75

_START = ""


@dataclass(frozen=True, slots=True)
class _Event:
    head: str
    seen: frozenset[str]
    done: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Task:
    """A task under way: its last action, and all that it has been about."""

    label: int
    head: str
    last: frozenset[str]
    things: frozenset[str]
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    """One way to read the log so far: its last event is the task's named `label`, and what came
    before is as in `before`."""

    score: float = 0.0
    tasks: tuple[_Task, ...] = ()
    begun: int = 0
    label: int = -1
    before: "_Reading | None" = None

    def labels(self) -> tuple[int, ...]:
        found: list[int] = []
        at: _Reading | None = self
        while at is not None and at.before is not None:
            found.append(at.label)
            at = at.before
        return tuple(reversed(found))


@dataclass(slots=True)
class _Habits:
    """How often a kind of action follows a kind within a task; "" stands for its beginning."""

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    firsts: Counter[str] = field(default_factory=Counter)
    kinds: int = 1

    def follows(self, head: str, before: str) -> float:
        """The logarithm of its chance, with one made-up observation spread over all kinds."""
        if not self.kinds:
            return 0.0
        return math.log((self.pairs[before, head] + 1 / self.kinds) / (self.firsts[before] + 1))


def untangle(log: Sequence[Step]) -> tuple[int, ...]:
    """For each step the number of its task, numbered from 0 in the order of their beginning. A
    step's observation is what came of the action before it in its own task."""
    events = [
        _Event(operation(step.action), stems(step.observation), stems(step.action)) for step in log
    ]
    # The kinds of action are what all tasks have in common; what they are done with tells apart.
    heads = frozenset(word for event in events for word in stems(event.head))
    events = [replace(event, done=event.done - heads) for event in events]
    weight = _weights(events)
    labels: tuple[int, ...] = ()
    habits = _Habits(kinds=0)
    for _ in range(ROUNDS):
        read = _read(events, weight, habits)
        if read == labels:
            break
        labels = read
        habits = _learnt(events, labels)
    return labels


def boundaries(labels: Sequence[int]) -> frozenset[int]:
    """The places at which the log goes over to another task."""
    return frozenset(place for place in range(1, len(labels)) if labels[place] != labels[place - 1])


def boundary_f1(found: Sequence[int], true: Sequence[int]) -> float:
    """F1 of the places; 1 where neither has any."""
    ours, theirs = boundaries(found), boundaries(true)
    if not ours and not theirs:
        return 1.0
    return 2 * len(ours & theirs) / (len(ours) + len(theirs))


def _weights(events: Sequence[_Event]) -> Mapping[str, float]:
    """How much a word tells apart: the logarithm of how rare it is."""
    held = Counter(word for event in events for word in event.seen | event.done)
    return {word: math.log((len(events) + 1) / count) for word, count in held.items()}


def _learnt(events: Sequence[_Event], labels: Sequence[int]) -> _Habits:
    habits = _Habits(kinds=len({event.head for event in events}))
    last: dict[int, str] = {}
    for event, label in zip(events, labels, strict=True):
        before = last.get(label, _START)
        habits.pairs[before, event.head] += 1
        habits.firsts[before] += 1
        last[label] = event.head
    # A task that is over is followed by nothing: its last action counts as one without a sequel.
    habits.firsts.update(last.values())
    return habits


def _read(
    events: Sequence[_Event], weight: Mapping[str, float], habits: _Habits
) -> tuple[int, ...]:
    """The likeliest reading, by beam search."""
    readings = [_Reading()]
    # Where most events see something, one that sees nothing answers no action before it.
    silent = -ANSWERS if sum(bool(event.seen) for event in events) > len(events) / 2 else 0.0
    for place, event in enumerate(events):
        moment = _Moment(place, event, weight, silent)
        grown = [one for reading in readings for one in _grown(reading, moment, habits)]
        grown.sort(key=lambda one: -one.score)
        readings = grown[:BEAM]
    return readings[0].labels()


@dataclass(slots=True)
class _Moment:
    """One event, and how it hangs together with tasks. Most readings have most tasks in common,
    so that each is looked at once."""

    place: int
    event: _Event
    weight: Mapping[str, float]
    silent: float
    _known: dict[tuple[frozenset[str], frozenset[str]], float] = field(default_factory=dict)

    def belongs(self, task: _Task) -> float:
        """What speaks half for the task and half against it leaves it even with a new one."""
        key = (task.last, task.things)
        if key not in self._known:
            seen, done = self.event.seen, self.event.done
            answers = ANSWERS * (_share(task.last, seen, self.weight) - 0.5)
            about = ABOUT * (_share(done, task.things, self.weight) - 0.5)
            self._known[key] = (answers if seen else self.silent) + about
        return self._known[key]

    def after(self, label: int, things: frozenset[str] = frozenset()) -> _Task:
        """The task as it is with this event as its last."""
        event = self.event
        things = things | event.done | event.seen
        return _Task(label, event.head, event.done, things, self.place)


def _grown(reading: _Reading, moment: _Moment, habits: _Habits) -> list[_Reading]:
    head = moment.event.head
    begins = habits.follows(head, _START)
    fresh = _kept((*reading.tasks, moment.after(reading.begun)))
    grown = [_Reading(reading.score + begins, fresh, reading.begun + 1, reading.begun, reading)]
    for task in reading.tasks:
        score = reading.score + moment.belongs(task) + habits.follows(head, task.head)
        score += STAYS if task.label == reading.label else 0.0
        others = (one for one in reading.tasks if one is not task)
        going = (*others, moment.after(task.label, task.things))
        grown.append(_Reading(score, going, reading.begun, task.label, reading))
    return grown


def _kept(tasks: tuple[_Task, ...]) -> tuple[_Task, ...]:
    return tuple(sorted(tasks, key=lambda one: one.at)[-OPEN_TASKS:])


def _share(wanted: frozenset[str], held: frozenset[str], weight: Mapping[str, float]) -> float:
    """How much of the weight of the words wanted is held; a half where none is wanted."""
    total = sum(weight[word] for word in wanted)
    return sum(weight[word] for word in wanted & held) / total if total else 0.5
