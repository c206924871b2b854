"""Proposes goals to practise on: what is new, and neither sure to be reached nor sure to fail.

After RATs (its play before tasks, by novelty × p(1 − p)) and Preping (pre-task memory: a proposer
with a memory of its own, which goes by coverage, redundancy and feasibility). Here goals are made
of the templates and values of the runs themselves, so that no model is needed."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from random import Random

from memserver.domain.practice import PracticeGoal, PracticeState, Refusal, Why
from memserver.domain.trajectories import Task, Trajectory
from memserver_skills.practice.chances import Outcomes, Possible
from memserver_skills.practice.space import Family, Said, Unit, fold, read_space, said, units

# A part that a goal had is new to this degree, one that n goals had to its n-th power.
RARE = 0.25

Place = tuple[str, str | None]
"""A template in an environment."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """A goal that nobody has set yet, and why it is worth trying."""

    task: Task
    template: str
    values: Mapping[str, str]
    why: Why


@dataclass(slots=True)
class _Past:
    """What was run, proposed or rejected before."""

    goals: set[tuple[str | None, Said]] = field(default_factory=set)
    counts: Counter[tuple[Place, Unit]] = field(default_factory=Counter)
    known: dict[Place, set[frozenset[Unit]]] = field(default_factory=dict)
    most_parts: int = 1

    def add(self, place: Place, slots: Sequence[str], values: Sequence[str]) -> None:
        self.counts.update((place, unit) for unit in units(slots, values))
        self.known.setdefault(place, set()).add(_as_set(slots, values))

    def novelty(self, place: Place, slots: Sequence[str], values: Sequence[str]) -> float:
        """How rare its parts are, as a share of the most parts that a goal may have: of two goals
        that are all new, the one that shows more of what is new is the newer."""
        parts = units(slots, values)
        return sum(RARE ** self.counts[place, unit] for unit in parts) / self.most_parts

    def redundancy(self, place: Place, slots: Sequence[str], values: Sequence[str]) -> float:
        """The share of its values that the likest goal of the kind had in the same slots."""
        held = _as_set(slots, values)
        return max((len(held & one) for one in self.known.get(place, ())), default=0) / len(held)


@dataclass(frozen=True, slots=True)
class _Candidate:
    family: Family
    values: tuple[str, ...]
    goal: str
    p: float
    feasibility: float

    @property
    def place(self) -> Place:
        return (self.family.template, self.family.environment)


def propose(
    runs: Sequence[Trajectory], memory: Sequence[PracticeGoal], *, k: int, seed: int = 0
) -> tuple[Exercise, ...]:
    """The `k` goals that score best, each chosen as if those before it had been set; fewer where
    there are no more. `memory` is what was proposed before. The same runs, memory and seed give the
    same goals; the seed decides between equals, and what is looked at where there is too much.

    Every value was seen in its role and in the environment of its goal. What was run, proposed or
    rejected, in these words or others of the same template, is not proposed again.
    """
    space = read_space(runs)
    past, outcomes, possible = _Past(), Outcomes(), Possible()
    widest = max((len(family.slots) for family in space.families), default=1)
    past.most_parts = widest * (widest + 1) // 2
    for run in space.runs:
        task = run.run.task
        place = (run.key, task.environment)
        past.goals.add((task.environment, said(task.goal)))
        if run.slots:
            names = [slot.name for slot in run.slots]
            values = [slot.example for slot in run.slots]
            past.add(place, names, values)
            possible.ran.update((*place, n, fold(v)) for n, v in zip(names, values, strict=True))
        if run.run.outcome is not None:
            outcomes.add(run.key, task.type, success=run.run.succeeded)
    _remember(memory, space.families, past, outcomes, possible)
    candidates = _candidates(space.families, past, outcomes, possible, Random(seed))
    return tuple(_best(candidates, past, k=k, seed=seed))


def _remember(
    memory: Sequence[PracticeGoal],
    families: Sequence[Family],
    past: _Past,
    outcomes: Outcomes,
    possible: Possible,
) -> None:
    by_place = {(family.template, family.environment): family for family in families}
    for goal in memory:
        environment = goal.task.environment
        past.goals.add((environment, said(goal.task.goal)))
        if goal.state is PracticeState.ACCEPTED:
            possible.fine[environment] += 1
        if goal.refusal is Refusal.INFEASIBLE:
            possible.infeasible[environment] += 1
        found = _family_of(goal, by_place)
        if found is None:
            continue
        family, values = found
        place = (family.template, environment)
        if goal.refusal is Refusal.FAILED:
            outcomes.add(family.template, family.type, success=False)
        if goal.refusal is Refusal.INFEASIBLE:
            possible.refused.update((*place, name, value) for name, value in values.items())
        if goal.state is not PracticeState.ACCEPTED:  # its run is among the runs
            past.add(place, list(values), list(values.values()))


def _family_of(
    goal: PracticeGoal, by_place: Mapping[Place, Family]
) -> tuple[Family, dict[str, str]] | None:
    """More runs may have given the goal another template than it was made of."""
    environment = goal.task.environment
    own = by_place.get((goal.template, environment))
    others = (one for one in by_place.values() if one.environment == environment)
    for family in [own] if own is not None else others:
        values = family.bound(goal.task.goal)
        if values is not None:
            return family, values
    return None


def _candidates(
    families: Sequence[Family],
    past: _Past,
    outcomes: Outcomes,
    possible: Possible,
    random: Random,
) -> Iterator[_Candidate]:
    for family in families:
        place = (family.template, family.environment)
        p = outcomes.p(family.template, family.type)
        known = past.known.get(place, set())
        for values in family.combinations(random):
            if _as_set(family.slots, values) in known:
                continue
            goal = family.goal(dict(zip(family.slots, values, strict=True)))
            if goal is None or (family.environment, said(goal)) in past.goals:
                continue
            feasibility = 1.0
            for slot, value in zip(family.slots, values, strict=True):
                feasibility *= possible.of((*place, slot, fold(value)))
            yield _Candidate(family, values, goal, p, feasibility)


def _best(candidates: Iterator[_Candidate], past: _Past, *, k: int, seed: int) -> list[Exercise]:
    """Greedy. What is chosen only ever makes others less new, so that one whose score has not
    fallen since it was looked at last is the best of all."""
    heap = [
        (-_score(one, past), hashlib.sha256(f"{seed}\x1f{one.goal}".encode()).digest(), place, one)
        for place, one in enumerate(candidates)
    ]
    heapify(heap)
    chosen: list[Exercise] = []
    while heap and len(chosen) < k:
        score, tie, place, one = heappop(heap)
        now = -_score(one, past)
        if now > score:
            heappush(heap, (now, tie, place, one))
            continue
        spoken = (one.family.environment, said(one.goal))
        if spoken in past.goals:
            continue
        chosen.append(_exercise(one, past))
        past.goals.add(spoken)
        past.add(one.place, one.family.slots, one.values)
    return chosen


def _novelty(one: _Candidate, past: _Past) -> float:
    return past.novelty(one.place, one.family.slots, one.values)


def _score(one: _Candidate, past: _Past) -> float:
    return _novelty(one, past) * one.p * (1 - one.p) * one.feasibility


def _exercise(one: _Candidate, past: _Past) -> Exercise:
    family = one.family
    new = [u for u in units(family.slots, one.values) if not past.counts[one.place, u]]
    return Exercise(
        Task(one.goal, family.type, family.environment),
        family.template,
        dict(zip(family.slots, one.values, strict=True)),
        Why(
            score=_score(one, past),
            novelty=_novelty(one, past),
            p=one.p,
            feasibility=one.feasibility,
            redundancy=past.redundancy(one.place, family.slots, one.values),
            coverage=tuple(_told(unit) for unit in new),
        ),
    )


def _as_set(slots: Sequence[str], values: Sequence[str]) -> frozenset[Unit]:
    return frozenset((slot, fold(value)) for slot, value in zip(slots, values, strict=True))


def _told(unit: Unit) -> str:
    return ", ".join(f"{unit[n]}: {unit[n + 1]}" for n in range(0, len(unit), 2))
