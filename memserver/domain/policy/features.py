"""The feature schema, version 1: what is known of a candidate when it is ranked."""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

SCHEMA_VERSION = 1

KINDS = (
    "skill",
    "principle",
    "hint",
    "case",
    "rule",
    "fact",
    "summary",
    "preference",
    "note",
    "trajectory",
)


@dataclass(frozen=True, slots=True)
class Features:
    """One candidate's features. Ranks count from 1 and are 0 where the arm did not find it;
    ages are in days; length is in tokens of the named counter."""

    dense_rank: float = 0.0
    dense_score: float = 0.0
    sparse_rank: float = 0.0
    sparse_score: float = 0.0
    task_type_rank: float = 0.0
    task_type_score: float = 0.0
    graph_rank: float = 0.0
    graph_score: float = 0.0
    recency_rank: float = 0.0
    recency_score: float = 0.0
    cosine: float = 0.0
    belief_mean: float = 0.5
    belief_lower: float = 0.0
    belief_outcomes: float = 0.0
    age_days: float = 0.0
    days_since_use: float = 0.0
    length_tokens: float = 0.0
    same_task_type: float = 0.0
    source_success_rate: float = 0.0
    prerequisite_position: float = 0.0
    kind: str = "note"

    def vector(self) -> npt.NDArray[np.float32]:
        """The features in schema order, the kind as one-hot; shape [len(NAMES)]."""
        numbers = [float(getattr(self, name)) for name in _NUMERIC]
        return np.array([*numbers, *(float(self.kind == kind) for kind in KINDS)], np.float32)


_NUMERIC = tuple(field.name for field in fields(Features) if field.name != "kind")
NAMES: tuple[str, ...] = (*_NUMERIC, *(f"kind_{kind}" for kind in KINDS))
