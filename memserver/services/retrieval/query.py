"""What a retrieve is asked, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.evidence import Belief
from memserver.domain.items import Source, Turn
from memserver.domain.policy.features import KINDS
from memserver.domain.scope import Namespace
from memserver.domain.times import TimeFrame
from memserver.services.retrieval.presets import DEFAULT, MemoryClass, Preset, memory_class

TRAJECTORY = "trajectory"
ITEM_KINDS = tuple(kind for kind in KINDS if kind != TRAJECTORY)


@dataclass(frozen=True, slots=True)
class Query:
    """One question. `kinds` defaults to every kind of item; trajectories come only when asked
    for. `vector`, shape [dimension] and any length, replaces the encoding of `text`.
    `frame` asks for what held at other times than now; a version then counts for itself.
    `quotas` is how many of a kind are handed out at most; `neighbours` how many turns on either
    side come with a turn that is."""

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
    frame: TimeFrame | None = None
    preset: Preset = DEFAULT
    quotas: Mapping[str, int] = field(default_factory=dict)
    neighbours: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an arm put a candidate: rank from 1, and the arm's own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing found: an item's version, or a run. `document` is the version's or the run's
    id, `id` the item's or the run's; `fused` is the score that the arms' ranks add up to.
    `brief` is the text with less detail, where there is any, for a budget that it does not fit;
    `indexed` is the text whose vector the index holds, before any slot was filled. `parts` says
    what a rerank made of it, in plain words; `decay` is what time has left of its standing; `worth`
    is the built-in policy's score, decay and all, where something else than arms and outcomes has
    set it. `here` is what is believed of it in the context that was asked for, once enough is known
    of that."""

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
    recorded_at: datetime
    belief: Belief
    arms: Mapping[str, Standing]
    fused: float
    source_success_rate: float = 0.0
    grounded: bool = False
    turn: Turn | None = None
    expires_at: datetime | None = None
    decay: float = 1.0
    parts: Mapping[str, float] = field(default_factory=dict)
    worth: float | None = None
    here: Belief | None = None
    brief: str = ""

    @property
    def memory(self) -> MemoryClass:
        """The class of memory that it belongs to."""
        return memory_class(self.kind, is_turn=self.turn is not None)

    @property
    def said(self) -> str:
        """A turn's own words, without the title that they were stored under."""
        return self.text.removeprefix(self.title).strip() or self.title


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A turn that was said `offset` places after a hit (before it where that is negative)."""

    candidate: Candidate
    offset: int


@dataclass(frozen=True, slots=True)
class Packed:
    """A candidate as it is handed out, with its neighbours in the order said: its own text may be
    cut, and its size is in tokens, theirs included."""

    candidate: Candidate
    score: float
    text: str
    tokens: int
    truncated: bool = False
    neighbours: tuple[Neighbour, ...] = ()

    @property
    def passage(self) -> str:
        """Its text among those of its neighbours."""
        return passage(self.text, self.neighbours)


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
    preset: str = DEFAULT.name


def passage(text: str, neighbours: Sequence[Neighbour]) -> str:
    before = [one.candidate.text for one in neighbours if one.offset < 0]
    after = [one.candidate.text for one in neighbours if one.offset > 0]
    return "\n".join([*before, text, *after])
