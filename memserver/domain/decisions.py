"""Logged choices: what was on offer, what was known about it, what was taken and how likely."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memserver.domain.scope import Namespace


@dataclass(frozen=True, slots=True)
class Considered:
    """One candidate of a decision. `features` follow the decision's feature schema, in order;
    `score` is the logit that its policy gave it. `rank` is its place from 1 where it has one,
    `slot` how that place was filled (`policy`, `exposure`, `forced`), and `propensity` the
    probability with which it came there, given the kind of place and what stood before it.
    `gated` says why it was left out before ranking, if it was."""

    id: UUID
    features: tuple[float, ...]
    rank: int | None
    packed: bool
    propensity: float = 1.0
    gated: str | None = None
    score: float = 0.0
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class Shadowed:
    """What a policy that does not serve yet would have answered: ids, best first, and of a write
    the `operation`. `failed` is the name of the error where it could not answer."""

    policy: str
    order: tuple[UUID, ...]
    failed: str | None = None
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """What a write decision came to: `operation` is ADD, UPDATE, DELETE or NOOP, `target` the
    neighbour's version that it bears on. `by` says who decided (`rules`, `policy`, `model`),
    `reason` why; `item` and `version` are what stands afterwards."""

    operation: str
    target: UUID | None = None
    by: str = "rules"
    reason: str = ""
    item: UUID | None = None
    version: UUID | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """One logged choice. A retrieve is a decision; its id is the `retrieval_id`, which also
    seeds what was left to chance, so that it can be replayed. `asked_by` is the key that asked:
    a run's outcome speaks only for what its own sender was offered.

    The first of `namespaces` is the one whose policy decided. `query_vector` is float32 of the
    `encoder`; items' vectors are kept by reference. `temperature` and `exposure_slots` are those
    that were used, 0 unless it `explored`. `choice` is set where the verb is `write`: `query` is
    then the text of the candidate, and the candidates are the neighbours it was held against.
    """

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
    k: int = 0
    explored: bool = False
    temperature: float = 0.0
    exposure_slots: int = 0
    encoder: str = ""
    query_vector: bytes | None = None
    shadows: tuple[Shadowed, ...] = ()
    choice: Choice | None = None

    @property
    def packed(self) -> tuple[UUID, ...]:
        return tuple(candidate.id for candidate in self.candidates if candidate.packed)

    @property
    def unit(self) -> UUID:
        """What is assigned to canaries and to exploring: the run or, without one, the retrieve."""
        return self.trajectory_id or self.id

    @property
    def admitted(self) -> Sequence[Considered]:
        """The candidates that the gates let through, in the order in which they were ranked."""
        return [candidate for candidate in self.candidates if candidate.gated is None]
