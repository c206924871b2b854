"""Distils hints: where a failed run first left the path of a successful one of the same task."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.items import HintBody, Kind, Source
from memserver.domain.trajectories import Trajectory, normal_goal
from memserver_skills.proposals import Proposal, signature
from memserver_skills.run_groups import shared_type
from memserver_skills.sequences import common_start
from memserver_skills.slots import Slotted, slotted
from memserver_skills.sources import at_steps
from memserver_skills.words import one_line, shorten

METHOD = "distill/hints"

PER_TASK = 8
TITLE = 100
SEEN = 120
WHEN = 160


@dataclass(frozen=True, slots=True)
class _Parting:
    """One failed run next to the success that it follows longest; `at` is the first line in
    which they differ."""

    good: Slotted
    bad: Slotted
    at: int

    @property
    def before(self) -> str:
        return self.good.lines[self.at - 1] if self.at else ""

    @property
    def do(self) -> str:
        return self.good.lines[self.at]

    @property
    def avoid(self) -> str:
        return self.bad.lines[self.at] if self.at < len(self.bad.lines) else ""

    @property
    def seen(self) -> str:
        """The observation at the parting, where it is short and the same for both."""
        if self.at >= len(self.bad.lines):
            return ""
        good, bad = (
            one_line(side.run.steps[side.positions[self.at]].observation)
            for side in (self.good, self.bad)
        )
        return good if good == bad and len(good) <= SEEN else ""


def distil_hints(runs: Sequence[Trajectory]) -> list[Proposal]:
    """One hint per point at which failures left the path, most often seen first, at most eight
    for one kind of task."""
    told = [run for run in slotted(runs) if run.lines and run.run.outcome is not None]
    good = [run for run in told if run.run.succeeded]
    bad = [run for run in told if not run.run.succeeded]
    usual = {(run.key, *pair) for run in good for pair in _pairs(run)}
    points: dict[tuple[str, str, str], list[_Parting]] = defaultdict(list)
    for parting in _partings(good, bad):
        # What other successes did at that point as well was not the mistake.
        if (parting.good.key, parting.before, parting.avoid) not in usual:
            points[parting.good.key, parting.before, parting.do].append(parting)
    by_task: dict[str, list[Proposal]] = defaultdict(list)
    for (key, before, do), partings in sorted(points.items()):
        by_task[key].append(_propose(key, before, do, partings))
    return [
        hint
        for _, hints in sorted(by_task.items())
        for hint in sorted(hints, key=lambda made: (-made.metadata["failures"], made.signature))[
            :PER_TASK
        ]
    ]


def _partings(good: Sequence[Slotted], bad: Sequence[Slotted]) -> Iterable[_Parting]:
    by_goal = _grouped((normal_goal(run.run.task.goal), run) for run in good)
    by_template = _grouped(
        (run.run.task.template_id, run) for run in good if run.run.task.template_id
    )
    for failed in bad:
        rivals = by_goal.get(normal_goal(failed.run.task.goal)) or by_template.get(
            failed.run.task.template_id or "", []
        )
        best = max(
            rivals,
            default=None,
            key=lambda run: (
                common_start(run.lines, failed.lines),
                -len(run.lines),
                -run.run.id.int,
            ),
        )
        at = 0 if best is None else common_start(best.lines, failed.lines)
        if best is not None and at < len(best.lines):
            yield _Parting(best, failed, at)


def _grouped(pairs: Iterable[tuple[str | None, Slotted]]) -> dict[str, list[Slotted]]:
    grouped: dict[str, list[Slotted]] = defaultdict(list)
    for name, run in pairs:
        if name is not None:
            grouped[name].append(run)
    return grouped


def _pairs(run: Slotted) -> Iterable[tuple[str, str]]:
    return zip(("", *run.lines), run.lines, strict=False)


def _propose(key: str, before: str, do: str, partings: Sequence[_Parting]) -> Proposal:
    avoided = Counter(parting.avoid for parting in partings if parting.avoid)
    avoid = " or ".join(line for _, line in sorted((-n, line) for line, n in avoided.items())[:2])
    template = min(parting.good.template for parting in partings)
    seen = {parting.seen for parting in partings}
    point = f"after {before}" if before else "at the start"
    shown = seen.pop() if len(seen) == 1 else ""
    sides = [side for parting in partings for side in (parting.good, parting.bad)]
    return Proposal(
        signature=signature(METHOD, key, before, do),
        kind=Kind.HINT,
        title=shorten(f"{do}, not {avoid}" if avoid else f"go on with {do}", TITLE),
        body=HintBody(
            when=f"{shorten(template, WHEN)}; {point}" + (f"; seeing: {shown}" if shown else ""),
            do=do,
            avoid=avoid,
        ),
        method=METHOD,
        sources=_sources(partings),
        task_type=shared_type(side.run.task.type for side in sides),
        metadata={"failures": len(partings)},
    )


def _sources(partings: Sequence[_Parting]) -> tuple[Source, ...]:
    steps: dict[UUID, set[int]] = defaultdict(set)
    for parting in partings:
        for side in (parting.good, parting.bad):
            at = min(parting.at, len(side.positions) - 1)
            steps[side.run.id].add(side.positions[at])
    return at_steps(steps)
