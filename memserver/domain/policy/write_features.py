"""The feature schema of write decisions, version 1: what is known of one way of dealing with a
candidate, which is an operation and, but for ADD, the neighbour that it would bear on."""

from dataclasses import dataclass, fields
from enum import StrEnum

import numpy as np
import numpy.typing as npt

SCHEMA_VERSION = 1


class Operation(StrEnum):
    """What may become of a candidate. UPDATE gives its target a new version, DELETE ends what
    its target says, NOOP keeps nothing new (where it has a target, that was said again)."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    NOOP = "NOOP"


@dataclass(frozen=True, slots=True)
class WriteFeatures:
    """One option's features. All but those named `candidate_…` are of the candidate and the target
    together, and 0 where there is no target; ages are in days.

    `searched` says whether the index was asked, without which `cosine` and `sparse_score` are 0,
    and beliefs were read; `rules` whether the rules alone would take this option. Without an
    `operation` it is a neighbour on which no option was admitted.
    """

    operation: Operation | None = None
    rules: float = 0.0
    searched: float = 0.0
    candidate_fact: float = 0.0
    candidate_retraction: float = 0.0
    candidate_correction: float = 0.0
    candidate_words: float = 0.0
    target: float = 0.0
    cosine: float = 0.0
    sparse_score: float = 0.0
    overlap: float = 0.0
    same_entity: float = 0.0
    same_key: float = 0.0
    same_value: float = 0.0
    names_differ: float = 0.0
    numbers_differ: float = 0.0
    negations_differ: float = 0.0
    target_live: float = 0.0
    target_age_days: float = 0.0
    target_mentions: float = 0.0
    target_belief_mean: float = 0.0
    target_outcomes: float = 0.0

    def row(self) -> tuple[float, ...]:
        """The features in schema order, the operation as one-hot; of length len(NAMES)."""
        chosen = (float(self.operation is one) for one in Operation)
        return (*chosen, *(float(getattr(self, name)) for name in _NUMERIC))


_NUMERIC = tuple(field.name for field in fields(WriteFeatures) if field.name != "operation")
OPERATION_NAMES = tuple(f"operation_{one.value.lower()}" for one in Operation)
NAMES: tuple[str, ...] = (*OPERATION_NAMES, *_NUMERIC)


def matrix(options: list[tuple[float, ...]]) -> npt.NDArray[np.float32]:
    """Options' rows as an array, shape [n, len(NAMES)]."""
    return np.array(options, np.float32).reshape(len(options), len(NAMES))
