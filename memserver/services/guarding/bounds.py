"""How sure one may be of a guard: the lower bound of its posterior."""

from scipy.special import betaincinv

DOUBT = 0.05
DEFAULT_BOUND = 0.5
"""A guard is used where it is more likely right than wrong, with all but `DOUBT` certainty. Four
reports that all agree reach it; it stays below what a fifth of wrong labels still allows."""


def lower_bound(successes: float, failures: float) -> float:
    """The `DOUBT` quantile of Beta(1 + successes, 1 + failures): after one of one .224, after a
    hundred of a hundred .971."""
    return float(betaincinv(1.0 + successes, 1.0 + failures, DOUBT))
