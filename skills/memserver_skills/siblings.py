"""Distils what told sibling runs of one task apart: what the best did and the worst did not.

After Training-Free GRPO (Cai et al. 2025), whose group-relative advantage is such a contrast in
words, with GenEvolve and SGCD; the map and reduce over many traces after Combee (2026). There a
model words and merges the lessons; here they are the runs' own lines, merged as sets, so that it
does not matter who read which group, nor in which order."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from memserver.domain.items import HintBody, Kind, RuleBody
from memserver.domain.trajectories import Trajectory, normal_goal
from memserver_skills.proposals import Proposal, signature
from memserver_skills.run_groups import shared_type
from memserver_skills.slots import Slotted, slotted
from memserver_skills.sources import at_steps
from memserver_skills.tallies import commonest
from memserver_skills.words import shorten, stems

METHOD = "distill/siblings"

MOST_TO_DO = 3
MOST_TO_AVOID = 1
"""Lines that one group teaches at most. A run that went astray does many things that no other
does; the first of them led to the rest."""
PER_TASK = 8
SPREAD = 0.05
"""Siblings whose scores differ by less are told apart by nothing."""
TITLE = 100
WHEN = 240


@dataclass(frozen=True, slots=True, order=True)
class Lesson:
    """What one says, whoever says it: the kind of task, the line to do or to avoid, and after
    which one. Wordings that differ in endings only are one."""

    key: str
    avoid: bool
    said: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class Witness:
    """One run that speaks for a lesson, as it worded it, at its step."""

    run: UUID
    step: int
    good: bool
    template: str
    line: str
    after: str
    task_type: str


Lessons = Mapping[Lesson, frozenset[Witness]]


def distil_siblings(runs: Sequence[Trajectory]) -> list[Proposal]:
    """At most eight lessons for one kind of task, those that most runs speak for first."""
    read = reduce_lessons(map_group(group) for group in sibling_groups(runs))
    by_task: dict[str, list[Proposal]] = defaultdict(list)
    for lesson, witnesses in sorted(read.items()):
        by_task[lesson.key].append(_propose(lesson, witnesses))
    return [
        made
        for _, proposals in sorted(by_task.items())
        for made in sorted(proposals, key=lambda one: (-one.metadata["runs"], one.signature))[
            :PER_TASK
        ]
    ]


def sibling_groups(runs: Sequence[Trajectory]) -> list[tuple[Slotted, ...]]:
    """Runs of one goal, or of one generator of tasks where they name it; only groups of two or
    more, each run with actions and an outcome."""
    groups: dict[tuple[str, str], list[Slotted]] = defaultdict(list)
    for run in slotted(runs):
        if run.lines and run.run.outcome is not None:
            task = run.run.task
            name = ("template", task.template_id) if task.template_id else ("", "")
            groups[name if name[1] else ("goal", normal_goal(task.goal))].append(run)
    return [tuple(members) for _, members in sorted(groups.items()) if len(members) > 1]


def map_group(group: Sequence[Slotted]) -> Lessons:
    """What sets the best of a group apart from its worst: lines that all of the best have and
    none of the worst, and the other way round; where they have the same lines, what comes before
    what. What one of the best has alone is its own affair, and no lesson of the group."""
    scores = [run.score for run in group]
    best, worst = max(scores, default=0.0), min(scores, default=0.0)
    if best - worst < SPREAD:
        return {}
    good = [run for run, score in zip(group, scores, strict=True) if score == best]
    bad = [run for run, score in zip(group, scores, strict=True) if score == worst]
    do = _only_in(good, bad) or _earlier_in(good, bad)
    avoid = _only_in(bad, good)
    found: dict[Lesson, frozenset[Witness]] = {}
    sides = ((do[:MOST_TO_DO], good, bad, False), (avoid[:MOST_TO_AVOID], bad, good, True))
    for lines, speakers, others, shun in sides:
        for line in lines:
            lesson = _lesson(line, speakers[0], avoid=shun)
            told = [_witness(line, run, good=not shun) for run in speakers]
            # The siblings on the other side speak for it too: by where they went on otherwise.
            told += [_lacking(line, speakers[0], run, good=shun) for run in others]
            found[lesson] = found.get(lesson, frozenset()) | frozenset(told)
    return found


def reduce_lessons(parts: Iterable[Lessons]) -> Lessons:
    """All parts together: the union, lesson by lesson, which is associative, commutative and
    takes the same part twice without harm."""
    merged: dict[Lesson, frozenset[Witness]] = {}
    for part in parts:
        for lesson, witnesses in part.items():
            merged[lesson] = merged.get(lesson, frozenset()) | witnesses
    return merged


def _only_in(ours: Sequence[Slotted], theirs: Sequence[Slotted]) -> list[str]:
    """Lines that each of ours has and none of theirs, in the order of the first of ours."""
    shared = frozenset.intersection(*(frozenset(run.lines) for run in ours))
    others = frozenset(line for run in theirs for line in run.lines)
    alone = shared - others
    return [line for line in dict.fromkeys(ours[0].lines) if line in alone]


def _earlier_in(good: Sequence[Slotted], bad: Sequence[Slotted]) -> list[str]:
    """Of runs with the same lines, those that the best ones took before the line that the worst
    ones took first."""
    first = good[0].lines
    ours, theirs = ([_firsts(run) for run in side] for side in (good, bad))
    for line, following in pairwise(first):
        if all(_before(line, following, run) for run in ours) and all(
            _before(following, line, run) for run in theirs
        ):
            return [line]
    return []


def _firsts(run: Slotted) -> dict[str, int]:
    """Where each line comes first."""
    return {line: place for place, line in reversed(list(enumerate(run.lines)))}


def _before(one: str, other: str, firsts: Mapping[str, int]) -> bool:
    return one in firsts and other in firsts and firsts[one] < firsts[other]


def _lesson(line: str, run: Slotted, *, avoid: bool) -> Lesson:
    return Lesson(run.key, avoid, _said(line), _said(_preceding(line, run)))


def _said(line: str) -> tuple[str, ...]:
    """The line's sense: its stems, its slots among them, or itself where it has none."""
    return tuple(sorted(stems(line))) or ((line,) if line else ())


def _preceding(line: str, run: Slotted) -> str:
    place = run.lines.index(line)
    return run.lines[place - 1] if place else ""


def _witness(line: str, run: Slotted, *, good: bool) -> Witness:
    return Witness(
        run=run.run.id,
        step=run.positions[run.lines.index(line)],
        good=good,
        template=run.template,
        line=line,
        after=_preceding(line, run),
        task_type=run.run.task.type or "",
    )


def _lacking(line: str, speaker: Slotted, run: Slotted, *, good: bool) -> Witness:
    """The other side at the point where the line was to come: after the last line that both had
    taken till then."""
    before = speaker.lines[: speaker.lines.index(line)]
    firsts = _firsts(run)
    place = max((firsts[held] + 1 for held in before if held in firsts), default=0)
    place = min(place, len(run.lines) - 1)
    return Witness(
        run=run.run.id,
        step=run.positions[place],
        good=good,
        template=run.template,
        line="",
        after="",
        task_type=run.run.task.type or "",
    )


def _propose(lesson: Lesson, witnesses: frozenset[Witness]) -> Proposal:
    ordered = sorted(witnesses)
    line = commonest(Counter(one.line for one in ordered if one.line))
    after = commonest(Counter(one.after for one in ordered if one.line))
    template = commonest(Counter(one.template for one in ordered))
    point = f"after {after}" if after else "at the start"
    steps: dict[UUID, set[int]] = defaultdict(set)
    for one in ordered:
        steps[one.run].add(one.step)
    told = len({one.run for one in ordered if one.line})
    when = f"{shorten(template, WHEN)}; {point}"
    return Proposal(
        signature=signature(METHOD, lesson.key, str(lesson.avoid), *lesson.said, "", *lesson.after),
        kind=Kind.RULE if lesson.avoid else Kind.HINT,
        title=shorten(f"Avoid: {line}" if lesson.avoid else line, TITLE),
        body=RuleBody(f"Avoid: {line}. The worst of sibling runs did it, the best did not.", when)
        if lesson.avoid
        else HintBody(when=when, do=line),
        method=METHOD,
        sources=at_steps(steps),
        task_type=shared_type(one.task_type for one in ordered) or None,
        metadata={
            "runs": told,
            "best": len({one.run for one in ordered if one.good}),
            "worst": len({one.run for one in ordered if not one.good}),
        },
    )
