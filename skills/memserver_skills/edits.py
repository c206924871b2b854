"""Edits of a library by what it foretells: its errors on logs propose rules, and a rule is taken
only if the share of held-out actions that the library foretells strictly rises.

After TeleTune (2026), which learns a textual skill library from logs with no goals and no replay;
there a model words the edits, here they are the logs' own lines with their things left open."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.items import HintBody, Kind
from memserver.domain.trajectories import Trajectory, normal_goal
from memserver_skills.experience import Experience
from memserver_skills.proposals import Proposal, signature
from memserver_skills.run_groups import shared_type
from memserver_skills.sequels import (
    LOOKED_BACK,
    Forecast,
    Forecasting,
    Procedure,
    library_of,
    rules_for,
)
from memserver_skills.sources import at_steps
from memserver_skills.untangling import untangle
from memserver_skills.words import one_line, shorten

METHOD = "distill/edits"
INTERLEAVED = "interleaved"
"""A run whose metadata has this as true is a log of several tasks, which is taken apart first."""

SUPPORT = 3
TRIED = 16
MOST_EDITS = 24
TASKS = 240
LONGEST = 200
TITLE = 100
SOURCES = 40
HELD_OUT = 4
"""One task of so many is held out."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A rule that was taken, and the share foretold before and with it."""

    rule: Procedure
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Improved:
    library: tuple[Procedure, ...]
    edits: tuple[Edited, ...]


def accepts(
    library: Sequence[Procedure], rule: Procedure, held_out: Sequence[Sequence[str]]
) -> Edited | None:
    """The edit, where with the rule strictly more of what was held out is foretold; else None."""
    forecasting = Forecasting()
    before = forecasting.accuracy(library, held_out)
    after = forecasting.accuracy((rule, *library), held_out)
    return Edited(rule, before, after) if after > before else None


def improve(
    library: Sequence[Procedure],
    training: Sequence[Sequence[str]],
    held_out: Sequence[Sequence[str]],
) -> Improved:
    """The library with every rule that its errors on the training tasks propose, most errors
    first, and that what was held out accepts. The share foretold there never falls."""
    known, judged = _Foretold(library, training), _Foretold(library, held_out)
    taken: list[Edited] = []
    settled: set[Procedure] = set()
    proposals = [rules_for(place.history, place.action) for place in known.places]
    while len(taken) < MOST_EDITS:
        edit = None
        for rule in _proposed(known, proposals, settled)[:TRIED]:
            settled.add(rule)
            edit = judged.tried(rule)
            if edit is not None:
                break
        if edit is None:
            break
        known.take(edit.rule)
        judged.take(edit.rule)
        taken.append(edit)
    return Improved(judged.library, tuple(taken))


def _proposed(
    known: "_Foretold", proposals: Sequence[frozenset[Procedure]], settled: set[Procedure]
) -> list[Procedure]:
    """The rules that most errors speak for, of those not tried yet; of equals the one that says
    more of when it holds."""
    counted: Counter[Procedure] = Counter()
    for hit, rules in zip(known.hits, proposals, strict=True):
        if not hit:
            counted.update(rules)
    ranked = sorted(
        (-count, -len(rule), rule)
        for rule, count in counted.items()
        if count >= SUPPORT and rule not in settled
    )
    return [rule for _, _, rule in ranked]


@dataclass(frozen=True, slots=True)
class _Place:
    history: Sequence[str]
    action: str


class _Foretold:
    """What is foretold of some tasks, kept up as rules are taken: a rule changes only what it has
    a say in."""

    def __init__(self, library: Sequence[Procedure], tasks: Sequence[Sequence[str]]) -> None:
        self.library = tuple(library)
        self._forecasting = Forecasting()
        self.places = [
            _Place(actions[max(0, place - LOOKED_BACK) : place], actions[place])
            for actions in tasks
            for place in range(1, len(actions))
        ]
        self._now = [
            self._forecasting.predict(place.history, self.library) for place in self.places
        ]
        self.hits = [
            self._forecasting.comes_true(now, place.action)
            for now, place in zip(self._now, self.places, strict=True)
        ]

    def tried(self, rule: Procedure) -> Edited | None:
        """The edit, where the rule makes strictly more of this foretold."""
        won = sum(hit - self.hits[at] for at, _, hit in self._changed(rule))
        if won <= 0:
            return None
        hits, total = sum(self.hits), len(self.places)
        return Edited(rule, hits / total, (hits + won) / total)

    def take(self, rule: Procedure) -> None:
        for at, said, hit in list(self._changed(rule)):
            self._now[at], self.hits[at] = said, hit
        self.library = (rule, *self.library)

    def _changed(self, rule: Procedure) -> Iterator[tuple[int, Forecast, bool]]:
        """Where the rule would speak, coming first of those that explain as much."""
        for at, place in enumerate(self.places):
            said = self._forecasting.forecast(place.history, rule)
            now = self._now[at]
            if said is not None and (now is None or said.matched >= now.matched):
                yield at, said, self._forecasting.comes_true(said, place.action)


@dataclass(frozen=True, slots=True)
class _Task:
    """The actions of one task, each with the step it was."""

    run: Trajectory
    actions: tuple[str, ...]
    positions: tuple[int, ...]

    @property
    def held_out(self) -> bool:
        """By its goal, so that no two runs of one task are on both sides."""
        digest = hashlib.sha256(normal_goal(self.run.task.goal).encode()).digest()
        return digest[0] % HELD_OUT == 0


def distil_edits(experience: Experience) -> list[Proposal]:
    """The rules that the namespace's bank lacks to foretell what its runs do, goals unread but to
    keep runs of one task together. Runs known to have failed are nobody's example."""
    tasks = _tasks(experience.runs)
    training = [task.actions for task in tasks if not task.held_out]
    held_out = [task.actions for task in tasks if task.held_out]
    improved = improve(library_of(experience.bank, but=METHOD), training, held_out)
    made = [_propose(edit, tasks) for edit in improved.edits]
    return sorted(made, key=lambda one: one.signature)


def _tasks(runs: Sequence[Trajectory]) -> list[_Task]:
    found: list[_Task] = []
    for run in sorted(runs, key=lambda run: (run.created_at, run.id.int)):
        if run.outcome is None or run.succeeded:
            found += (task for task in _apart(run) if 1 < len(task.actions) <= LONGEST)
    if len(found) <= TASKS:
        return found
    return [found[place * len(found) // TASKS] for place in range(TASKS)]


def _apart(run: Trajectory) -> list[_Task]:
    labels = untangle(run.steps) if run.metadata.get(INTERLEAVED) is True else (0,) * len(run.steps)
    by_label: dict[int, list[int]] = defaultdict(list)
    for position, (step, label) in enumerate(zip(run.steps, labels, strict=True)):
        if step.action.strip():
            by_label[label].append(position)
    return [
        _Task(run, tuple(one_line(run.steps[place].action) for place in places), tuple(places))
        for _, places in sorted(by_label.items())
    ]


def _propose(edit: Edited, tasks: Sequence[_Task]) -> Proposal:
    *before, then = edit.rule
    steps: dict[UUID, set[int]] = defaultdict(set)
    forecasting = Forecasting()
    types: set[str | None] = set()
    for task in tasks:
        for place in range(1, len(task.actions)):
            history = task.actions[max(0, place - LOOKED_BACK) : place]
            said = forecasting.forecast(history, edit.rule)
            if forecasting.comes_true(said, task.actions[place]):
                steps[task.run.id].add(task.positions[place])
                types.add(task.run.task.type)
    return Proposal(
        signature=signature(METHOD, *edit.rule),
        kind=Kind.HINT,
        title=shorten(f"After {before[-1]}: {then}", TITLE),
        body=HintBody(when=f"after {', then '.join(before)}", do=then),
        method=METHOD,
        sources=at_steps(steps)[:SOURCES],
        task_type=shared_type(types),
        metadata={
            "runs": len(steps),
            "foretold_before": round(edit.before, 4),
            "foretold_after": round(edit.after, 4),
        },
    )
