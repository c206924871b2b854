"""From policies and decisions to response models."""

from dataclasses import asdict
from typing import get_args

from memserver.domain import policies as domain
from memserver.domain.changes import Change
from memserver.domain.decisions import Decision
from memserver.domain.policies import BUILT_IN_OF, PolicyState
from memserver.domain.policy.interval import Interval
from memserver.domain.policy.manifest import SCHEMAS
from memserver.domain.policy.off_policy import Estimate
from memserver.services.policies.lifecycle import Moved
from memserver.services.policies.overview import Overview, Standing
from memserver.services.policies.proving import Proof
from memserver.services.policies.watching import Trial
from memserver.services.retrieval.recording import in_order, replayed
from memserver.wire import policies as wire

assert {state.value for state in PolicyState} == set(get_args(wire.State))


def policy(of: domain.Policy) -> wire.Policy:
    return wire.Policy(
        id=of.id,
        namespace=of.namespace.path,
        role=of.role.value,
        kind=of.kind,
        state=of.state.value,
        share=of.share,
        reason=of.reason,
        previous=of.previous,
        weights_sha256=of.weights_hash,
        created_at=of.created_at,
        since=of.since,
        manifest=of.manifest,
    )


def moved(of: Moved) -> wire.PolicyMoved:
    return wire.PolicyMoved(
        policy=policy(of.policy), change_id=str(of.change.id), position=of.change.position
    )


def evaluation(of: Proof) -> wire.PolicyEvaluation:
    found = of.evaluation
    return wire.PolicyEvaluation(
        policy=of.policy,
        reference=of.reference,
        since=of.since,
        target=_estimate(found.target),
        reference_estimate=_estimate(found.reference),
        difference=_interval(found.difference),
        ess=found.ess,
        support=found.support,
        decisions=found.decisions,
        choices=found.choices,
        reward_model=found.reward_model,
        refusal=of.refusal,
    )


def exploration(of: domain.Exploration) -> wire.Exploration:
    return wire.Exploration(
        namespace=of.namespace.path,
        role=of.role.value,
        mode=of.mode.value,
        temperature=of.temperature,
        share=of.share,
        exposure_slots=of.exposure_slots,
    )


def exploration_set(settings: domain.Exploration, change: Change) -> wire.ExplorationSet:
    return wire.ExplorationSet(
        exploration=exploration(settings), change_id=str(change.id), position=change.position
    )


def status(of: Overview) -> wire.PolicyStatus:
    active = [one.policy for one in of.standings if one.policy.state is PolicyState.ACTIVE]
    return wire.PolicyStatus(
        namespace=of.namespace.path,
        role=of.role.value,
        serves=active[0].name if active else BUILT_IN_OF[of.role],
        exploration=exploration(of.exploration),
        policies=[_standing(one) for one in of.standings],
        latest=of.latest,
        explored=of.explored,
    )


def decision(of: Decision) -> wire.Decision:
    names = SCHEMAS[of.verb][1] if of.verb in SCHEMAS else ()
    return wire.Decision(
        id=of.id,
        namespaces=[namespace.path for namespace in of.namespaces],
        verb=of.verb,
        query=of.query,
        task_type=of.task_type,
        trajectory_id=of.trajectory_id,
        policy=of.policy,
        explored=of.explored,
        temperature=of.temperature,
        exposure_slots=of.exposure_slots,
        k=of.k,
        feature_schema=of.schema,
        encoder=of.encoder,
        created_at=of.created_at,
        replays=replayed(of) == in_order(of),
        choice=None if of.choice is None else wire.WriteChoice(**asdict(of.choice)),
        candidates=[
            wire.ConsideredItem(
                id=candidate.id,
                rank=candidate.rank,
                slot=candidate.slot,
                packed=candidate.packed,
                gated=candidate.gated,
                score=candidate.score,
                propensity=candidate.propensity,
                features=dict(zip(names, candidate.features, strict=False)),
            )
            for candidate in of.candidates
        ],
    )


def _standing(of: Standing) -> wire.PolicyStanding:
    return wire.PolicyStanding(
        policy=policy(of.policy),
        trial=None if of.trial is None else _trial(of.trial),
        agreement=None if of.agreement is None else wire.Agreement(**asdict(of.agreement)),
    )


def _trial(of: Trial) -> wire.Trial:
    return wire.Trial(
        runs=of.runs,
        mean=of.mean,
        compared_runs=of.compared_runs,
        compared_mean=of.compared_mean,
        difference=_interval(of.difference),
        verdict=of.verdict.value,
        told=of.told,
    )


def _estimate(of: Estimate | None) -> wire.Estimate | None:
    return None if of is None else wire.Estimate(**asdict(of))


def _interval(of: Interval | None) -> wire.Interval | None:
    return None if of is None else wire.Interval(**asdict(of))
