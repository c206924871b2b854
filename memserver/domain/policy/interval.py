"""What an estimate says: a number and the range around it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the range that covers the truth at the confidence asked for."""

    estimate: float
    low: float
    high: float
