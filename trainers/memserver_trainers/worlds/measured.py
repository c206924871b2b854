"""What is said of one world and one seed."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measured:
    """`score` is to reach `gate`; `baseline` is what goes without learning. `details` are further
    figures by name."""

    world: str
    seed: int
    score: float
    baseline: float
    gate: float
    gate_met: bool
    details: Mapping[str, object]
