"""What came of logged decisions, joined when it is asked for: feedback comes after the choice, and
may be taken back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.decisions import Decision
from memserver.domain.evidence import Evidence
from memserver.domain.ports import Reader
from memserver.domain.ports.store import RunBrief
from memserver.domain.scope import Scope
from memserver.domain.trajectories import OutcomeSource
from memserver.services.crediting import standing
from memserver.services.exporting.splits import group_of, group_of_goal

OUTCOME = "outcome"
TRUSTED = (OutcomeSource.ENVIRONMENT, OutcomeSource.JUDGE, OutcomeSource.HUMAN)
"""Whose word makes the outcome, the first that spoke. What an agent says of itself does not."""


@dataclass(frozen=True, slots=True)
class Rewarded:
    """`rewards` has a score in [0, 1] for each source that spoke, and the `outcome` that follows
    from them; it is empty where nothing is known. `credits` is the weight that the outcome gave
    each candidate, where it gave any. `group` names the task."""

    rewards: dict[str, float]
    credits: dict[UUID, float]
    group: str


def rewards_of(reader: Reader, scope: Scope, decisions: Sequence[Decision]) -> dict[UUID, Rewarded]:
    """For each decision what came of it, within the scope's reach. Two queries, however many.

    A source's score is what it credited to the decision's candidates; where it credited none of
    them, the outcome of the run counts. A run speaks only for what its own sender asked, which
    holds for all that was told in its name. Of a retrieve without a run only those may speak who
    may write the namespace whose policy decided.
    """
    evidence = reader.evidence_of_causes(scope, list({decision.unit for decision in decisions}))
    runs = _runs(reader, scope, decisions)
    return {
        decision.id: _rewarded(
            decision,
            evidence.get(decision.unit, ()),
            None if decision.trajectory_id is None else runs.get(decision.trajectory_id),
        )
        for decision in decisions
    }


def groups_of(reader: Reader, scope: Scope, decisions: Sequence[Decision]) -> dict[UUID, str]:
    """Only the task of each decision."""
    runs = _runs(reader, scope, decisions)
    return {
        decision.id: _group(
            decision, None if decision.trajectory_id is None else runs.get(decision.trajectory_id)
        )
        for decision in decisions
    }


def _runs(reader: Reader, scope: Scope, decisions: Sequence[Decision]) -> Mapping[UUID, RunBrief]:
    named = {decision.trajectory_id for decision in decisions if decision.trajectory_id}
    return reader.runs_in_brief(scope, list(named)) if named else {}


def _rewarded(decision: Decision, evidence: Sequence[Evidence], run: RunBrief | None) -> Rewarded:
    group = _group(decision, run)
    if run is not None and run.sender != decision.asked_by:
        return Rewarded({}, {}, group)
    candidates = {candidate.id for candidate in decision.candidates}
    beside = decision.namespaces[1:] if run is None else ()
    told: dict[str, list[Evidence]] = {}
    for piece in standing(evidence):
        if piece.subject in candidates and piece.namespace not in beside:
            told.setdefault(piece.source, []).append(piece)
    rewards = {source: _mean(pieces) for source, pieces in sorted(told.items())}
    if run is not None and run.outcome is not None:
        rewards.setdefault(run.outcome.source.value, run.outcome.score)
    decisive = next((source.value for source in TRUSTED if source.value in rewards), None)
    if decisive is None:
        return Rewarded(rewards, {}, group)
    credits = {piece.subject: piece.weight for piece in told.get(decisive, ())}
    return Rewarded({OUTCOME: rewards[decisive], **rewards}, credits, group)


def _group(decision: Decision, run: RunBrief | None) -> str:
    return group_of_goal(decision.query) if run is None else group_of(run.task)


def _mean(pieces: Sequence[Evidence]) -> float:
    """One outcome gives all of its pieces the same value; feedback on several retrieves of a run
    may not."""
    weight = sum(piece.weight for piece in pieces)
    mean = sum(piece.weight * piece.value for piece in pieces) / weight
    return min(1.0, max(0.0, mean))
