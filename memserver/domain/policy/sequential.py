"""Whether one policy does better than another, said at any time while outcomes come in.

An ordinary interval that is looked at after every outcome will cry wolf sooner or later. These
hold at all times at once, so a canary can be promoted or stopped the moment one of them leaves 0
on one side.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.interval import Interval

MIN_PER_ARM = 20  # outcomes of each arm before anything is said
TIGHTEST_AT = 200  # the number of outcomes at which the boundary is made narrowest

Floats = npt.NDArray[np.float64]
Outcomes = Sequence[float] | npt.NDArray[np.floating] | npt.NDArray[np.bool_]


def difference(
    treated: Outcomes, control: Outcomes, *, share: float, confidence: float = 0.95
) -> Interval | None:
    """The mean of `treated` less that of `control`, where each unit went to the treated arm with
    probability `share`. Outcomes are in [0, 1]; None while an arm has fewer than MIN_PER_ARM.

    An asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2021,
    "Time-uniform central limit theory and asymptotic confidence sequences": the boundary of
    theorem 2.2, for the treatment effect of section 3 with the arms' means as outcome model).
    Each variance counts two outcomes of 0 and two of 1 more than were seen: an arm that has only
    succeeded so far is not certain, and the first looks, where the theorem promises least, cry
    wolf less often.
    """
    if not 0 < share < 1:
        raise ValueError(f"The treated arm's share is between 0 and 1, not {share}.")
    first, second = _outcomes(treated), _outcomes(control)
    if min(first.size, second.size) < MIN_PER_ARM:
        return None
    seen = first.size + second.size
    # By the share that an arm should have or the one it got, whichever says less.
    parts = (min(share, first.size / seen), min(1 - share, second.size / seen))
    variance = _variance(first) / parts[0] + _variance(second) / parts[1]
    reach = math.sqrt(variance) * _boundary(seen, alpha=1 - confidence)
    estimate = float(first.mean() - second.mean())
    return Interval(estimate, estimate - reach, estimate + reach)


def against(values: Outcomes, baseline: Outcomes, *, confidence: float = 0.95) -> Interval | None:
    """The mean of `values`, which keep coming, less that of `baseline`, outcomes that were
    settled before the first of them. Outcomes are in [0, 1]; None while either has fewer than
    MIN_PER_ARM.

    Half of what may go wrong is spent on `values`, by the confidence sequence of `difference`,
    and half on the baseline. The baseline's outcomes get the same boundary, since they may have
    been stopped because of what they showed.
    """
    coming, settled = _outcomes(values), _outcomes(baseline)
    if min(coming.size, settled.size) < MIN_PER_ARM:
        return None
    alpha = (1 - confidence) / 2
    reach = sum(
        math.sqrt(_variance(one)) * _boundary(one.size, alpha=alpha) for one in (coming, settled)
    )
    estimate = float(coming.mean() - settled.mean())
    return Interval(estimate, estimate - reach, estimate + reach)


def _boundary(seen: int, *, alpha: float) -> float:
    """Half the interval's width for a deviation of 1. Its parameter makes it narrowest, nearly,
    at TIGHTEST_AT (appendix B.2 of the paper); it holds at every other time as well."""
    if not 0 < alpha < 1:
        raise ValueError(f"A confidence is between 0 and 1, not {1 - alpha}.")
    square = (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / TIGHTEST_AT
    grown = seen * square + 1
    return math.sqrt(2 * grown / (seen**2 * square) * math.log(math.sqrt(grown) / alpha))


def _variance(outcomes: Floats) -> float:
    count = outcomes.size + 4
    return (float(outcomes @ outcomes) + 2) / count - ((float(outcomes.sum()) + 2) / count) ** 2


def _outcomes(values: Outcomes) -> Floats:
    outcomes = np.asarray(values, np.float64)
    if outcomes.ndim != 1 or not ((outcomes >= 0) & (outcomes <= 1)).all():
        raise ValueError("Outcomes are a row of numbers between 0 and 1.")
    return outcomes
