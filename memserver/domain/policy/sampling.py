"""The one sampler of rankings: what serving draws is what off-policy evaluation can reweigh.

Nothing here keeps a random state: a seed (the decision's id) makes the whole draw, so that a
logged decision can be drawn again.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.errors import InvalidScores

Floats = npt.NDArray[np.float64]

_TINIEST = 2.0**-54  # below every positive double that Generator.random gives


class SlotKind(StrEnum):
    """How a slot of a ranking was filled: by the policy, uniformly at random from what was left,
    or by a rule (a prerequisite put in front), which says nothing of the policy."""

    POLICY = "policy"
    EXPOSURE = "exposure"
    FORCED = "forced"


@dataclass(frozen=True, slots=True)
class Slot:
    """Candidate `index` at one slot of a ranking. `propensity` is the probability with which it
    was put there, given the slot's kind and the candidates in the slots before it."""

    index: int
    kind: SlotKind
    propensity: float


def draw(
    logits: npt.ArrayLike, k: int, *, temperature: float, exposure_slots: int, seed: UUID
) -> tuple[Slot, ...]:
    """A ranking of min(k, n) candidates out of the n that `logits` [n] score, best first.

    At temperature 0 a policy slot takes the highest score that is left, ties by index, with
    propensity 1. Else policy slots are drawn without replacement from softmax(logits /
    temperature): a Plackett-Luce ranking, drawn by adding Gumbel noise to the scores and taking
    the highest (Kool, van Hoof and Welling 2019, section 2). Which of the k slots are exposure
    slots is settled first and without looking at the candidates; each of these takes uniformly
    from what is left. Asked for k or more of them, every slot is one.

    The stream is numpy's Philox keyed by `seed`, read as raw doubles only, which numpy keeps
    stable between versions. Raises InvalidScores for a score that is not finite and ValueError
    for a negative number or a temperature that is not finite.
    """
    scores = _scores(logits)
    _check_temperature(temperature)
    if k < 0 or exposure_slots < 0:
        raise ValueError(
            f"A draw takes no negative numbers: k={k}, exposure_slots={exposure_slots}."
        )
    random = np.random.Generator(np.random.Philox(key=seed.int))
    exposed = np.zeros(k, bool)
    exposed[np.argsort(random.random(k), kind="stable")[:exposure_slots]] = True
    positions = random.random(k)
    noise = -np.log(np.maximum(-np.log1p(-random.random(scores.size)), _TINIEST))

    left = np.arange(scores.size)
    slots: list[Slot] = []
    for at in range(min(k, scores.size)):
        if exposed[at]:
            # Rounding can carry a double just below 1 up to the length itself.
            place = min(int(positions[at] * left.size), left.size - 1)
            slots.append(Slot(int(left[place]), SlotKind.EXPOSURE, 1 / left.size))
        else:
            logs = _log_softmax(scores[left], temperature)
            place = int(np.argmax(logs + noise[left] if temperature > 0 else logs))
            slots.append(Slot(int(left[place]), SlotKind.POLICY, math.exp(logs[place])))
        left = np.concatenate((left[:place], left[place + 1 :]))
    return tuple(slots)


def probabilities(
    logits: npt.ArrayLike, *, temperature: float, taken: Sequence[int] = ()
) -> Floats:
    """The probability [n] with which a policy slot takes each candidate once those in `taken`
    are gone; 0 for these, and 0 for all where none is left."""
    scores = _scores(logits)
    _check_temperature(temperature)
    left = np.ones(scores.size, bool)
    left[_indices(taken, scores.size)] = False
    chances = np.zeros(scores.size)
    if left.any():
        chances[left] = np.exp(_log_softmax(scores[left], temperature))
    return chances


def log_probability(logits: npt.ArrayLike, order: Sequence[int], *, temperature: float) -> float:
    """The log-probability that the first len(order) slots, all of them policy slots, come out
    as `order`: the sum of the slots' logs. Minus infinity where greedy ranks otherwise."""
    scores = _scores(logits)
    _check_temperature(temperature)
    left = np.ones(scores.size, bool)
    total = 0.0
    for index in _indices(order, scores.size):
        if not left[index]:
            raise ValueError(f"Candidate {index} stands twice in the order.")
        place = int(np.count_nonzero(left[:index]))
        total += float(_log_softmax(scores[left], temperature)[place])
        left[index] = False
    return total


def assigned(unit: UUID, share: float, *, salt: str) -> bool:
    """Whether `unit` (a trajectory) is among the given share of all units.

    Settled by SHA-256 of salt and unit, so every server gives the same answer. For one salt
    shares nest: a unit that is in at .1 is in at .2. Another salt picks independently.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"A share is between 0 and 1, not {share}.")
    digest = hashlib.sha256(salt.encode() + unit.bytes).digest()
    # Python compares an int with a float exactly, so share 1 takes in every unit.
    return int.from_bytes(digest[:8]) < share * 2.0**64


def _log_softmax(scores: Floats, temperature: float) -> Floats:
    """Scores are measured from the highest of them first: however small the temperature, one
    candidate keeps a finite value."""
    if temperature == 0:
        best = np.full(scores.size, -np.inf)
        best[np.argmax(scores)] = 0.0
        return best
    with np.errstate(over="ignore"):
        scaled = (scores - scores.max()) / temperature
    logs: Floats = scaled - np.log(np.exp(scaled).sum())
    return logs


def _scores(logits: npt.ArrayLike) -> Floats:
    scores = np.asarray(logits, np.float64)
    if scores.ndim != 1:
        raise ValueError(f"Scores are one number a candidate, not of shape {scores.shape}.")
    finite = np.isfinite(scores)
    if not finite.all():
        first = int(np.argmin(finite))
        raise InvalidScores(first, float(scores[first]))
    return scores


def _check_temperature(temperature: float) -> None:
    if not (math.isfinite(temperature) and temperature >= 0):
        raise ValueError(f"A temperature is 0 or above and finite, not {temperature}.")


def _indices(indices: Sequence[int], size: int) -> list[int]:
    for index in indices:
        if not 0 <= index < size:
            raise ValueError(f"There is no candidate {index} among {size}.")
    return list(indices)
