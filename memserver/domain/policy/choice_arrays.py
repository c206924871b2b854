"""Logged choices, checked and laid out as arrays.

A candidate set is needed only for its mean features under a policy, since the reward model is
linear in them: so a log of ten thousand rankings fits in memory.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.errors import InvalidChoice

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class LoggedChoice:
    """One slot of one decision: what could have been put there, given the candidates in the
    slots before it as logged, and what came of it.

    `features` [n, f] are those of the candidates that were left; `behaviour`, `target` and
    `reference` [n] the probabilities with which the logging policy and the two asked about take
    each of them; `propensity` the logged one of candidate `taken`. `reward` is this slot's part
    of the decision's outcome. Choices of one `cluster` (a task, a trajectory) may depend on one
    another.
    """

    decision: str
    cluster: str
    slot: int
    features: npt.NDArray[np.floating]
    taken: int
    propensity: float
    behaviour: Floats
    target: Floats
    reference: Floats
    reward: float


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """c choices of d decisions: `decisions` [c] the number of a choice's decision, `clusters`
    [d] the number of a decision's cluster and `choice_clusters` [c] of a choice's, `positions`
    [c] its slot, `rewards` [c], and `taken` [c, f] the features of what was taken. `center` and
    `scale` [f] are the mean and deviation of the features of all candidates."""

    decisions: Rows
    clusters: Rows
    choice_clusters: Rows
    positions: Rows
    rewards: Floats
    taken: Floats
    center: Floats
    scale: Floats

    @property
    def decision_count(self) -> int:
        return int(self.clusters.size)


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """One policy on a log: `weights` [c] its probability of what was taken over the log's,
    `expected` [c, f] the mean features of what it would take, and `supported` [c] its mass on
    candidates that the log takes with a probability above the floor."""

    weights: Floats
    expected: Floats
    supported: Floats


def arrays(choices: Sequence[LoggedChoice], *, floor: float) -> tuple[Log, Chances, Chances]:
    """The log, the target and the reference. Raises InvalidChoice."""
    width = choices[0].features.shape[-1]
    for choice in choices:
        _check(choice, width)
    decisions = {name: at for at, name in enumerate(dict.fromkeys(c.decision for c in choices))}
    names = sorted({choice.cluster for choice in choices})
    numbers = {name: at for at, name in enumerate(names)}
    clusters = np.full(len(decisions), -1, np.intp)
    for choice in choices:
        at, number = decisions[choice.decision], numbers[choice.cluster]
        if clusters[at] not in (-1, number):
            raise InvalidChoice(choice.decision, choice.slot, "its decision is in two clusters")
        clusters[at] = number
    center, scale = _moments(choices)
    rows = np.array([decisions[choice.decision] for choice in choices], np.intp)
    log = Log(
        decisions=rows,
        clusters=clusters,
        choice_clusters=clusters[rows],
        positions=np.array([choice.slot for choice in choices], np.intp),
        rewards=np.array([choice.reward for choice in choices], np.float64),
        taken=np.array([choice.features[choice.taken] for choice in choices], np.float64),
        center=center,
        scale=scale,
    )
    target = _chances(choices, [choice.target for choice in choices], floor)
    reference = _chances(choices, [choice.reference for choice in choices], floor)
    return log, target, reference


def _chances(choices: Sequence[LoggedChoice], masses: list[Floats], floor: float) -> Chances:
    pairs = list(zip(choices, masses, strict=True))
    return Chances(
        weights=np.array([mass[choice.taken] / choice.propensity for choice, mass in pairs]),
        expected=np.array([mass @ choice.features for choice, mass in pairs]),
        supported=np.array([mass[choice.behaviour > floor].sum() for choice, mass in pairs]),
    )


def _moments(choices: Sequence[LoggedChoice]) -> tuple[Floats, Floats]:
    """Of all candidates, taken or not: a feature that hardly varies among those taken must not
    blow up where a policy would have taken another."""
    count = sum(len(choice.features) for choice in choices)
    center = sum(choice.features.sum(axis=0, dtype=np.float64) for choice in choices) / count
    squares = sum(((choice.features - center) ** 2).sum(axis=0) for choice in choices) / count
    scale = np.sqrt(squares)
    # A constant feature has no deviation but what rounding leaves.
    return center, np.where(scale > 1e-9 * (1 + np.abs(center)), scale, 1.0)


def _check(choice: LoggedChoice, width: int) -> None:
    def refuse(reason: str) -> InvalidChoice:
        return InvalidChoice(choice.decision, choice.slot, reason)

    count = len(choice.features)
    if choice.features.shape != (count, width):
        raise refuse(f"its features have the shape {choice.features.shape}, others {width} a row")
    if not 0 <= choice.taken < count:
        raise refuse(f"it took candidate {choice.taken} of {count}")
    if not np.isfinite(choice.features).all():
        raise refuse("a feature is not finite")
    if not math.isfinite(choice.reward):
        raise refuse(f"its reward is {choice.reward}")
    for name in ("behaviour", "target", "reference"):
        mass: Floats = getattr(choice, name)
        if mass.shape != (count,):
            raise refuse(f"its {name} has the shape {mass.shape} for {count} candidates")
        if not (mass >= 0).all() or abs(mass.sum() - 1) > 1e-6:
            raise refuse(f"its {name} is no distribution: it sums to {mass.sum()}")
    replayed = float(choice.behaviour[choice.taken])
    # The log's own number counts; another one here means that it was replayed wrongly.
    if not abs(replayed - choice.propensity) <= 1e-3 * choice.propensity + 1e-9:
        raise refuse(f"its propensity is logged as {choice.propensity} and replayed as {replayed}")
    if not choice.propensity > 0:
        raise refuse(f"its propensity is {choice.propensity}")
