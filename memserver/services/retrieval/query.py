"""What a retrieve is asked, and what it answers."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.evidence import Belief
from memserver.domain.items import Source
from memserver.domain.policy.features import KINDS
from memserver.domain.scope import Namespace

TRAJECTORY = "trajectory"
ITEM_KINDS = tuple(kind for kind in KINDS if kind != TRAJECTORY)


@dataclass(frozen=True, slots=True)
class Query:
    """One question. `kinds` defaults to every kind of item; trajectories come only when asked
    for. `vector`, shape [dimension] and any length, replaces the encoding of `text`."""

    text: str
    namespaces: tuple[str, ...]
    k: int = 10
    budget_tokens: int | None = None
    kinds: tuple[str, ...] = ITEM_KINDS
    task_type: str | None = None
    only_task_types: tuple[str, ...] | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None
    trajectory_id: UUID | None = None
    exclude_task: str | None = None
    vector: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an arm put a candidate: rank from 1, and the arm's own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing found: an item's version, or a run. `document` is the version's or the run's
    id, `id` the item's or the run's; `fused` is the score that the arms' ranks add up to.
    `indexed` is the text whose vector the index holds, before any slot was filled."""

    document: UUID
    id: UUID
    namespace: Namespace
    kind: str
    status: str
    title: str
    text: str
    indexed: str
    task_type: str | None
    sources: tuple[Source, ...]
    created_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    belief: Belief
    arms: dict[str, Standing]
    fused: float
    source_success_rate: float = 0.0
    grounded: bool = False


@dataclass(frozen=True, slots=True)
class Packed:
    """A candidate as it is handed out: its text may be cut, its size is in tokens."""

    candidate: Candidate
    score: float
    text: str
    tokens: int
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Retrieved:
    """`left_out` counts the refused by gate; `tokens` is the whole text's by `token_counter`.
    `explored` says that places were left to chance."""

    retrieval_id: UUID
    packed: tuple[Packed, ...]
    text: str
    tokens: int
    token_counter: str
    budget_tokens: int | None
    policy: str
    left_out: dict[str, int]
    explored: bool = False
