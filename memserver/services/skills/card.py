"""All that is known of one skill: what it says, where it came from, when it was used and what came
of it, and why it is offered or is not."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from memserver.domain.changes import Change, Verb
from memserver.domain.errors import ItemNotFound
from memserver.domain.evidence import Belief, Evidence, total
from memserver.domain.items import Entry, Status
from memserver.domain.ports import Clock, PageRequest, Reader, RunBrief, Store
from memserver.domain.scope import Scope
from memserver.services.crediting import standing
from memserver.services.remembering import Known, holds
from memserver.services.skills.importing import IMPORT
from memserver.services.skills.quarantine import found_in
from memserver.services.skills.tools_allowed import tools_of
from memserver.services.tracing import Trace, Tracing
from memserver_skills.beliefs.gates import admits
from memserver_skills.suspicions import Finding

MOST_USES = 50
MOST_MOVES = 20
LATEST_CHANGES = 100
NEW_CONTENT = frozenset({Verb.REMEMBER, Verb.DISTILL, Verb.FEEDBACK, Verb.ADD_TRAJECTORIES})
"""Changes that write of an item without moving it."""


class Place(StrEnum):
    """Whether a skill is offered: `offered` it is; `held_back` because its outcomes say that it
    does not help; `ended` because what it said, or it itself, holds no longer; else its status."""

    OFFERED = "offered"
    HELD_BACK = "held_back"
    ENDED = "ended"
    QUARANTINED = "quarantined"
    MERGED = "merged"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """`because` says it in words; `change` is the one that brought it there, where one did."""

    place: Place
    because: str
    change: Change | None = None
    merged_into: UUID | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """One outcome that speaks for a version. `run` is None where the outcome came without one, or
    the run is gone or out of reach."""

    at: datetime
    version: UUID
    run: UUID | None
    goal: str
    agent: str
    context: str
    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class Share:
    """What came of it for one agent or in one type of task: how many uses, and the credited success
    and failure."""

    name: str
    uses: int
    successes: float
    failures: float
    last: datetime | None


@dataclass(frozen=True, slots=True)
class Card:
    """`versions` newest first, `uses` the newest `MOST_USES` of `used`, `moves` the latest changes
    of the item, newest first. `imported` says where it was imported from, None where it was not."""

    current: Known
    versions: tuple[Known, ...]
    whereabouts: Whereabouts
    trace: Trace
    imported: Mapping[str, Any] | None
    findings: tuple[Finding, ...]
    tools: tuple[str, ...]
    used: int
    uses: tuple[Use, ...]
    by_context: tuple[Share, ...]
    by_agent: tuple[Share, ...]
    moves: tuple[Change, ...] = field(default=())


class Cards:
    def __init__(self, store: Store, tracing: Tracing, *, clock: Clock) -> None:
        self._store = store
        self._tracing = tracing
        self._clock = clock

    def __call__(self, scope: Scope, item_id: UUID) -> Card:
        """Raises `ItemNotFound`, for a deleted item, too."""
        trace = self._tracing(scope, item_id)
        with self._store.reading() as reader:
            entry = reader.item(scope, item_id)
            if entry is None or entry.item.status is Status.DELETED:
                raise ItemNotFound(item_id)
            versions = reader.versions(scope, item_id)
            ids = [version.id for version in versions]
            beliefs = reader.beliefs(scope, ids)
            moves = _moves(reader, scope, entry)
            uses = _uses(reader, scope, ids)
        present = beliefs.get(entry.version.id, ())
        known = tuple(
            Known(Entry(entry.item, version), total(version.id, beliefs.get(version.id, ())))
            for version in versions
        )
        return Card(
            current=Known(entry, total(entry.version.id, present)),
            versions=known,
            whereabouts=_whereabouts(entry, present, moves, self._clock()),
            trace=trace,
            imported=_imported(entry),
            findings=found_in(entry),
            tools=tools_of(entry.version.body),
            used=len(uses),
            uses=tuple(uses[-MOST_USES:][::-1]),
            by_context=_shares(uses, lambda use: use.context),
            by_agent=_shares(uses, lambda use: use.agent),
            moves=moves[:MOST_MOVES],
        )


def _imported(entry: Entry) -> Mapping[str, Any] | None:
    origin = entry.version.metadata.get(IMPORT)
    return origin if isinstance(origin, dict) else None


def _moves(reader: Reader, scope: Scope, entry: Entry) -> tuple[Change, ...]:
    """The latest changes that touched the item itself."""
    page = PageRequest(LATEST_CHANGES)
    return reader.changes(scope, [entry.item.namespace.id], page, entry.item.id).rows


def _uses(reader: Reader, scope: Scope, versions: Sequence[UUID]) -> list[Use]:
    """All standing outcomes of the item's versions and of what was merged into them, oldest first;
    each piece once, though it counts for several versions."""
    pieces: dict[UUID, Evidence] = {}
    for evidence in reader.lineage_evidence(scope, versions).values():
        pieces |= {piece.id: piece for piece in standing(evidence)}
    ordered = sorted(pieces.values(), key=lambda piece: (piece.recorded_at, piece.id.int))
    causes = {piece.cause for piece in ordered if piece.cause is not None}
    briefs = reader.runs_in_brief(scope, sorted(causes))
    return [
        _use(piece, None if piece.cause is None else briefs.get(piece.cause)) for piece in ordered
    ]


def _use(piece: Evidence, run: RunBrief | None) -> Use:
    return Use(
        at=piece.recorded_at,
        version=piece.subject,
        run=None if run is None else run.id,
        goal="" if run is None else run.task.goal,
        agent="" if run is None else run.agent,
        context=piece.context,
        value=piece.value,
        weight=piece.weight,
    )


def _shares(uses: Iterable[Use], name: Callable[[Use], str]) -> tuple[Share, ...]:
    groups: dict[str, list[Use]] = defaultdict(list)
    for use in uses:
        groups[name(use)].append(use)
    return tuple(
        Share(
            name=one,
            uses=len(group),
            successes=sum(use.weight * use.value for use in group),
            failures=sum(use.weight * (1 - use.value) for use in group),
            last=max(use.at for use in group),
        )
        for one, group in sorted(groups.items(), key=lambda named: (-len(named[1]), named[0]))
    )


def _whereabouts(
    entry: Entry, beliefs: Sequence[Belief], moves: Sequence[Change], now: datetime
) -> Whereabouts:
    item = entry.item
    if item.status is not Status.ACTIVE:
        # Where new content came to what is out of use, that is not what took it out.
        moved = next((move for move in moves if move.verb not in NEW_CONTENT), None)
        change = moved or (moves[0] if moves else None)
        reason = (
            "" if change is None else f" by {change.verb.value}: {change.reason or 'no reason'}"
        )
        return Whereabouts(
            Place(item.status.value), f"{item.status.value}{reason}", change, item.merged_into
        )
    if not holds(entry, now):
        ended = item.expires_at if item.expires_at is not None else entry.version.valid_to
        return Whereabouts(Place.ENDED, f"ended at {ended.isoformat() if ended else now}")
    overall = total(entry.version.id, beliefs)
    said = (
        f"{overall.outcomes} outcomes, lower bound {overall.lower_bound:.2f}"
        if overall.outcomes
        else "no outcome yet"
    )
    if not admits(beliefs, None):
        return Whereabouts(Place.HELD_BACK, f"its outcomes say that it does not help: {said}")
    closed = [one.context for one in beliefs if one.context and not admits(beliefs, one.context)]
    if closed:
        said += f"; not for {', '.join(closed)}, where it does not help"
    return Whereabouts(Place.OFFERED, f"in use: {said}")
