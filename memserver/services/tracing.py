"""Where an item comes from: its versions, what was merged into it, and the very steps and turns
that all of them were drawn from."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.errors import ItemNotFound
from memserver.domain.items import Entry, Kind, Source, Status, Version
from memserver.domain.ports import Reader, Store
from memserver.domain.scope import Scope
from memserver.domain.trajectories import Trajectory

MOST_ITEMS = 200
"""Items that one trace follows: a consolidation may have merged thousands."""
MOST_STEPS = 100
"""Steps of one run that a trace shows."""


@dataclass(frozen=True, slots=True)
class SourceStep:
    """A step of a run, by its place from 0."""

    number: int
    observation: str
    action: str


@dataclass(frozen=True, slots=True)
class SourceRun:
    """A run that a version was drawn from: the steps that it names or, where it names none, all
    of them. `score` is the run's outcome, None where none is known."""

    trajectory_id: UUID
    goal: str
    agent: str
    score: float | None
    steps: tuple[SourceStep, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """What was said, where a version was drawn from a conversation. `text` is None where the turn
    itself was not kept, or is out of reach."""

    session: UUID
    ordinal: int
    speaker: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Origin:
    """One version and what it was drawn from. `out_of_reach` counts source runs that are gone, or
    that this caller may not read."""

    entry: Entry
    runs: tuple[SourceRun, ...]
    turn: SourceTurn | None
    out_of_reach: int


@dataclass(frozen=True, slots=True)
class Trace:
    """The item's own versions, newest first, then those of everything that was merged into it;
    `cut` says that there was more than is followed."""

    item: Entry
    own: tuple[Origin, ...]
    merged: tuple[Origin, ...]
    cut: bool


class Tracing:
    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, scope: Scope, item_id: UUID) -> Trace:
        """Raises `ItemNotFound`, for a deleted item, too."""
        with self._store.reading() as reader:
            entry = reader.item(scope, item_id)
            if entry is None or entry.item.status is Status.DELETED:
                raise ItemNotFound(item_id)
            own = [Entry(entry.item, version) for version in reader.versions(scope, item_id)]
            merged, cut = _merged(reader, scope, own)
            runs = _runs(reader, scope, [*own, *merged])
            return Trace(
                item=entry,
                own=tuple(_origin(reader, scope, one, runs) for one in own),
                merged=tuple(_origin(reader, scope, one, runs) for one in merged),
                cut=cut,
            )


def _merged(reader: Reader, scope: Scope, own: Sequence[Entry]) -> tuple[list[Entry], bool]:
    """All versions of all that stands behind these, each item once, and whether there was more."""
    seen = {entry.item.id for entry in own}
    found: list[Entry] = []
    frontier = [entry.version.id for entry in own]
    while frontier:
        behind = [e for e in reader.merged_into(scope, frontier) if e.item.id not in seen]
        frontier = []
        for entry in behind:
            if len(seen) > MOST_ITEMS:
                return found, True
            if entry.item.id in seen:
                continue
            seen.add(entry.item.id)
            versions = reader.versions(scope, entry.item.id)
            found += [Entry(entry.item, version) for version in versions]
            frontier += [version.id for version in versions]
    return found, False


def _runs(reader: Reader, scope: Scope, entries: Sequence[Entry]) -> dict[UUID, Trajectory]:
    named = {source.trajectory_id for entry in entries for source in entry.version.sources}
    return reader.trajectories_by_id(scope, sorted(named))


def _origin(reader: Reader, scope: Scope, entry: Entry, runs: dict[UUID, Trajectory]) -> Origin:
    sources = entry.version.sources
    there = [source for source in sources if source.trajectory_id in runs]
    return Origin(
        entry=entry,
        runs=tuple(_source_run(runs[source.trajectory_id], source) for source in there),
        turn=_turn(reader, scope, entry),
        out_of_reach=len(sources) - len(there),
    )


def _source_run(run: Trajectory, source: Source) -> SourceRun:
    numbers = source.steps or range(len(run.steps))
    steps = [
        SourceStep(number, run.steps[number].observation, run.steps[number].action)
        for number in numbers
        if number < len(run.steps)
    ]
    return SourceRun(
        trajectory_id=run.id,
        goal=run.task.goal,
        agent=run.agent,
        score=None if run.outcome is None else run.outcome.score,
        steps=tuple(steps[:MOST_STEPS]),
        whole=not source.steps,
    )


def _turn(reader: Reader, scope: Scope, entry: Entry) -> SourceTurn | None:
    turn = entry.version.turn
    if turn is None:
        return None
    if entry.item.kind is Kind.NOTE:
        text: str | None = _said(entry.version)
    else:
        place = turn.ordinal
        kept = reader.turns(scope, entry.item.namespace, turn.session, first=place, last=place)
        text = _said(kept[0].version) if kept else None
    return SourceTurn(turn.session, turn.ordinal, turn.speaker, text)


def _said(version: Version) -> str:
    return getattr(version.body, "text", version.text)
