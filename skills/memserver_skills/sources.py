"""Which runs, and which of their steps, something is drawn from."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from memserver.domain.items import Source
from memserver_skills.sequences import aligned
from memserver_skills.slots import Slotted


def at_steps(steps: Mapping[UUID, Iterable[int]]) -> tuple[Source, ...]:
    """Runs by id, each step once."""
    return tuple(Source(run, tuple(sorted(set(places)))) for run, places in sorted(steps.items()))


def doing(lines: Iterable[str], runs: Iterable[Slotted]) -> tuple[Source, ...]:
    """The runs that did one of these lines, by id, each with the steps at which it did."""
    wanted = frozenset(lines)
    found: dict[UUID, list[int]] = {}
    for run in runs:
        pairs = zip(run.lines, run.positions, strict=True)
        steps = [place for line, place in pairs if line in wanted]
        if steps:
            found[run.run.id] = steps
    return at_steps(found)


def along(lines: Sequence[str], runs: Iterable[Slotted]) -> tuple[Source, ...]:
    """All of the runs, in their order, each with the steps at which it went the way of the lines
    (a longest common subsequence)."""
    return tuple(
        Source(run.run.id, tuple(run.positions[there] for _, there in aligned(lines, run.lines)))
        for run in runs
    )


def joined(*sources: Iterable[Source]) -> tuple[Source, ...]:
    """All of them, a run once, with all steps named; all of a run where one names none."""
    held: dict[UUID, set[int] | None] = {}
    for source in (one for several in sources for one in several):
        known = held.get(source.trajectory_id, set())
        whole = known is None or not source.steps
        held[source.trajectory_id] = None if whole else {*(known or ()), *source.steps}
    return at_steps({run: steps or () for run, steps in held.items()})
