"""What an item is worth by what came of it, folded from the evidence at the time of asking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memserver.domain.errors import ItemNotFound, TrajectoryNotFound
from memserver.domain.evidence import Belief, Evidence, total
from memserver.domain.items import Status
from memserver.domain.ports import Reader, Store
from memserver.domain.scope import Scope
from memserver.domain.trajectories import Trajectory
from memserver_skills.beliefs.credit import distilled_credit, ranking_reward
from memserver_skills.beliefs.gates import admits
from memserver_skills.beliefs.utility import Utility, utilities, utility
from memserver_skills.evolution.admission import on_trial, waits_for
from memserver_skills.plans import Rated


@dataclass(frozen=True, slots=True)
class ContextWorth:
    """What is believed in one context, and whether it may be offered there."""

    belief: Belief
    utility: Utility
    offered: bool


@dataclass(frozen=True, slots=True)
class Worth:
    """What an item's present version is worth, over all and by context. `credits` is what the
    making of it earned, by the run that it was made from. On trial it is offered and not counted as
    proven; what `awaits` something is not offered."""

    item: UUID
    version: UUID
    overall: ContextWorth
    contexts: tuple[ContextWorth, ...]
    on_trial: bool
    awaits: str | None
    credits: Mapping[UUID, float]


@dataclass(frozen=True, slots=True)
class RunCredit:
    """What a run's outcome says of what was distilled from it, and of each order in which it was
    offered something, by retrieve."""

    distilled: float
    rankings: Mapping[UUID, float]


class Valuing:
    def __init__(self, store: Store) -> None:
        self._store = store

    def worth(self, scope: Scope, item_id: UUID) -> Worth:
        """Raises `ItemNotFound`."""
        with self._store.reading() as reader:
            entry = reader.item(scope, item_id)
            if entry is None or entry.item.status is Status.DELETED:
                raise ItemNotFound(item_id)
            version = entry.version
            beliefs = reader.beliefs(scope, [version.id]).get(version.id, ())
            evidence = reader.lineage_evidence(scope, [version.id]).get(version.id, ())
            sources = [source.trajectory_id for source in version.sources]
            runs = reader.trajectories_by_id(scope, sources) if sources else {}
            credits = {
                run.id: _credit(reader, scope, run).distilled
                for run in runs.values()
                if run.outcome is not None
            }
            admission = reader.namespace_settings(entry.item.namespace).admission
        by_context = utilities(evidence)
        overall = total(version.id, beliefs)
        return Worth(
            item_id,
            version.id,
            ContextWorth(overall, utility(evidence), admits(beliefs, None)),
            tuple(
                ContextWorth(
                    belief,
                    by_context.get(belief.context, Utility()),
                    admits(beliefs, belief.context),
                )
                for belief in beliefs
            ),
            on_trial(version, overall, admission),
            waits_for(Rated(entry, overall)),
            credits,
        )

    def credit(self, scope: Scope, run_id: UUID) -> RunCredit | None:
        """None where nobody has said yet how the run went. Raises `TrajectoryNotFound`."""
        with self._store.reading() as reader:
            run = reader.trajectory(scope, run_id)
            if run is None:
                raise TrajectoryNotFound(run_id)
            return None if run.outcome is None else _credit(reader, scope, run)


def _credit(reader: Reader, scope: Scope, run: Trajectory) -> RunCredit:
    """By what was known before the run was told: its own outcome is no reason to have expected
    it."""
    assert run.outcome is not None
    decisions = [
        one for one in reader.decisions_of_trajectory(scope, run.id) if one.verb == "retrieve"
    ]
    orders = {
        one.id: [
            candidate.id
            for candidate in sorted(one.admitted, key=lambda candidate: candidate.rank or 0)
            if candidate.packed
        ]
        for one in decisions
    }
    offered = list(dict.fromkeys(version for order in orders.values() for version in order))
    told = reader.first_recorded(scope, [run.id]).get(run.id, run.created_at)
    evidence = reader.lineage_evidence(scope, offered) if offered else {}
    worth = {
        version: utility(_before(evidence.get(version, ()), told, run.id)).value
        for version in offered
    }
    return RunCredit(
        distilled_credit(run.outcome.score, worth.values()),
        {retrieve: ranking_reward(order, worth) for retrieve, order in orders.items()},
    )


def _before(evidence: Sequence[Evidence], told: datetime, run: UUID) -> list[Evidence]:
    return [piece for piece in evidence if piece.recorded_at <= told and piece.cause != run]
