"""Logged choices: what was on offer, what was known about it, what was taken and how likely."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memserver.domain.scope import Namespace


@dataclass(frozen=True, slots=True)
class Considered:
    """One candidate of a decision. `features` follow the decision's feature schema, in order.
    `propensity` is the probability with which it was put at its rank (1 where nothing was left
    to chance); `gated` says why it was left out before ranking, if it was."""

    id: UUID
    features: tuple[float, ...]
    rank: int | None
    packed: bool
    propensity: float = 1.0
    gated: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """One logged choice. A retrieve is a decision; its id is the `retrieval_id`. `asked_by` is
    the key that asked: a run's outcome speaks only for what its own sender was offered."""

    id: UUID
    tenant: UUID
    namespaces: tuple[Namespace, ...]
    verb: str
    query: str
    task_type: str | None
    trajectory_id: UUID | None
    schema: int
    policy: str
    candidates: tuple[Considered, ...]
    created_at: datetime
    asked_by: UUID | None = None

    @property
    def packed(self) -> tuple[UUID, ...]:
        return tuple(candidate.id for candidate in self.candidates if candidate.packed)
