"""What a ranking policy would have earned, told from the log of another one.

The value of a decision is the sum over its slots of the slots' rewards. A slot is reweighed by
what the policy asked about would have taken there, given the candidates that the log has in the
slots before it: exact where a decision has one slot, and an item-position additive model with
prefixes as logged where it has more. Every result says which.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.choice_arrays import Chances, Log, LoggedChoice, Rows, arrays
from memserver.domain.policy.interval import Interval, clustered_mean
from memserver.domain.policy.reward_model import cross_fitted

__all__ = ["Estimate", "Evaluation", "LoggedChoice", "evaluate"]

Floats = npt.NDArray[np.float64]

SUPPORT_FLOOR = 0.001  # a choice that the log takes less often counts as never taken
MIN_SUPPORT = 0.9
MIN_EFFECTIVE = 30
MIN_CLUSTERS = 10

SINGLE = "single choice"
ADDITIVE = "item-position additive, prefixes as logged"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A policy's value a decision. `low` and `high` are the interval of `doubly_robust`; `ess`
    is the effective sample size and `support` the share of the policy's choices that the log
    can speak of."""

    snips: float
    doubly_robust: float
    low: float
    high: float
    ess: float
    support: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Target and reference on the same log. `difference` is target less reference, paired by
    decision, from the doubly robust estimates; `ess` and `support` are the target's. Where
    `refusal` says why the log cannot answer, there is no estimate at all."""

    target: Estimate | None
    reference: Estimate | None
    difference: Interval | None
    ess: float
    support: float
    decisions: int
    choices: int
    reward_model: str
    refusal: str | None


def evaluate(
    choices: Sequence[LoggedChoice],
    *,
    folds: int = 5,
    seed: int = 0,
    confidence: float = 0.95,
) -> Evaluation:
    """Estimates both policies of `choices`, or refuses.

    Self-normalised inverse propensity (Swaminathan and Joachims 2015, section 4), within each
    slot position; doubly robust (Dudik, Langford and Li 2011, section 3) with a ridge regression
    on features and position, fitted for each fold of clusters on the others (`folds` of them,
    dealt by `seed`). Intervals are over clusters: see `clustered_mean`. Raises InvalidChoice for
    a choice whose numbers do not fit together.
    """
    if not choices:
        return _refused("no data: the log holds no choice with a reward")
    log, target, reference = arrays(choices, floor=SUPPORT_FLOOR)
    refusal = _refusal(log, target, reference)
    if refusal is not None:
        return _refused(refusal, log, target)
    taken, by_target, by_reference = cross_fitted(
        log, (log.taken, target.expected, reference.expected), folds=folds, seed=seed
    )
    values = [
        decision_values(doubly_robust(chances.weights, log.rewards, taken, predicted), log)
        for chances, predicted in ((target, by_target), (reference, by_reference))
    ]
    return Evaluation(
        target=_estimate(log, target, values[0], confidence=confidence),
        reference=_estimate(log, reference, values[1], confidence=confidence),
        difference=clustered_mean(values[0] - values[1], log.clusters, confidence=confidence),
        ess=_ess(log, target),
        support=support(target),
        decisions=log.decision_count,
        choices=log.rewards.size,
        reward_model=_reward_model(log),
        refusal=None,
    )


# --- the estimators, on arrays with one entry a choice -------------------------------------


def snips(weights: Floats, rewards: Floats, positions: Rows, *, decisions: int) -> float:
    """Each position's weighted mean reward, times its choices, over the decisions. A position
    where no choice has weight adds nothing."""
    total = 0.0
    for position in np.unique(positions):
        at = positions == position
        mass = float(weights[at].sum())
        if mass > 0:
            total += int(np.count_nonzero(at)) * float(weights[at] @ rewards[at]) / mass
    return total / decisions


def doubly_robust(weights: Floats, rewards: Floats, taken: Floats, expected: Floats) -> Floats:
    """Each choice's value: what the reward model expects of the policy (`expected`), put right
    by what it got wrong about the candidate that was taken (`taken`)."""
    values: Floats = expected + weights * (rewards - taken)
    return values


def decision_values(values: Floats, log: Log) -> Floats:
    """The sums of `values` over the slots of each decision."""
    sums: Floats = np.bincount(log.decisions, values, log.decision_count).astype(np.float64)
    return sums


def effective_size(weights: Floats) -> float:
    """How many equally weighted decisions would tell as much: (sum w)^2 / sum w^2 (Kish 1965)."""
    squares = float(weights @ weights)
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def support(chances: Chances) -> float:
    """The mean, over choices, of the policy's mass on candidates that the log takes at least
    now and then."""
    return float(chances.supported.mean())


def _ess(log: Log, chances: Chances) -> float:
    """Over decisions: a decision's weight is the mean of its slots', which is what its outcome
    is multiplied by where the slots share it alike."""
    slots = np.bincount(log.decisions, minlength=log.decision_count)
    return effective_size(decision_values(chances.weights, log) / slots)


# --- what is said --------------------------------------------------------------------------


def _estimate(log: Log, chances: Chances, values: Floats, *, confidence: float) -> Estimate:
    interval = clustered_mean(values, log.clusters, confidence=confidence)
    return Estimate(
        snips=snips(chances.weights, log.rewards, log.positions, decisions=log.decision_count),
        doubly_robust=interval.estimate,
        low=interval.low,
        high=interval.high,
        ess=_ess(log, chances),
        support=support(chances),
    )


def _refusal(log: Log, target: Chances, reference: Chances) -> str | None:
    for name, chances in (("target", target), ("reference", reference)):
        if support(chances) < MIN_SUPPORT:
            return (
                f"not enough exploration: {support(chances):.2f} of what the {name} policy would "
                f"choose has a probability above {SUPPORT_FLOOR} in the log, and "
                f"{MIN_SUPPORT} is needed"
            )
    for name, chances in (("target", target), ("reference", reference)):
        if _ess(log, chances) < MIN_EFFECTIVE:
            return (
                f"too few decisions: for the {name} policy the {log.decision_count} in the log "
                f"tell as much as {_ess(log, chances):.1f}, and {MIN_EFFECTIVE} are needed"
            )
    clusters = int(log.clusters.max()) + 1
    if clusters < MIN_CLUSTERS:
        return (
            f"too few clusters: the decisions come from {clusters} that are independent, and "
            f"{MIN_CLUSTERS} are needed"
        )
    return None


def _refused(reason: str, log: Log | None = None, target: Chances | None = None) -> Evaluation:
    return Evaluation(
        target=None,
        reference=None,
        difference=None,
        ess=_ess(log, target) if log is not None and target is not None else 0.0,
        support=support(target) if target is not None else 0.0,
        decisions=log.decision_count if log is not None else 0,
        choices=log.rewards.size if log is not None else 0,
        reward_model=_reward_model(log) if log is not None else SINGLE,
        refusal=reason,
    )


def _reward_model(log: Log) -> str:
    return SINGLE if log.rewards.size == log.decision_count else ADDITIVE
