"""Policies as the server keeps them: learned choosers with a state, and how far each namespace
explores."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid5

from memserver.domain.scope import Namespace

BUILT_IN = "fixed-1"
"""The policy that ranks where no learned one is active."""
WRITE_RULES = "rules-1"
"""What decides on writes there."""

EXPLORATION_IDS = UUID("5d2f9a5e-7a51-4b0e-9a0d-0c6f6f0d8f7e")


class PolicyRole(StrEnum):
    """What a policy chooses."""

    RETRIEVE = "retrieve"
    WRITE = "write"


BUILT_IN_OF: dict[PolicyRole, str] = {
    PolicyRole.RETRIEVE: BUILT_IN,
    PolicyRole.WRITE: WRITE_RULES,
}


class PolicyState(StrEnum):
    """`shadow` is scored and logged but never served; `canary` serves a share of the runs;
    `active` serves all others; `retired` is kept, so that it can come back."""

    SHADOW = "shadow"
    CANARY = "canary"
    ACTIVE = "active"
    RETIRED = "retired"


MOVES: dict[PolicyState, frozenset[PolicyState]] = {
    PolicyState.SHADOW: frozenset({PolicyState.CANARY, PolicyState.ACTIVE, PolicyState.RETIRED}),
    PolicyState.CANARY: frozenset({PolicyState.SHADOW, PolicyState.ACTIVE, PolicyState.RETIRED}),
    PolicyState.ACTIVE: frozenset({PolicyState.RETIRED}),
    PolicyState.RETIRED: frozenset({PolicyState.SHADOW, PolicyState.ACTIVE}),
}


@dataclass(frozen=True, slots=True)
class PolicyInUse:
    """Which policy chooses or is tried somewhere; all that may be told across tenants."""

    role: PolicyRole
    id: UUID
    state: PolicyState


@dataclass(frozen=True, slots=True)
class Policy:
    """One learned policy in one namespace. `share` is the part of the runs that it gets as a
    canary; `previous` is what was active before it (None: the built-in one); `baseline` holds the
    scores of runs under that one, which the guardrail compares with. `since` is when it came into
    its state, `reason` why; for a canary, when its trial began."""

    id: UUID
    namespace: Namespace
    role: PolicyRole
    kind: str
    state: PolicyState
    manifest: dict[str, Any]
    weights_hash: str
    created_at: datetime
    since: datetime
    reason: str = ""
    share: float = 0.0
    previous: UUID | None = None
    baseline: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """As decisions name it."""
        return str(self.id)


class Mode(StrEnum):
    """A `fixed` namespace leaves nothing to chance; a `learning` one explores."""

    FIXED = "fixed"
    LEARNING = "learning"


@dataclass(frozen=True, slots=True)
class Exploration:
    """How a namespace explores. `temperature` is that of the softmax over the policy's logits,
    `share` the part of the runs that sample, `exposure_slots` how many of a reply's places are
    filled uniformly from whatever else passed the gates."""

    id: UUID
    namespace: Namespace
    role: PolicyRole = PolicyRole.RETRIEVE
    mode: Mode = Mode.FIXED
    temperature: float = 0.0
    share: float = 0.0
    exposure_slots: int = 0


def exploration_id(namespace: Namespace, role: PolicyRole) -> UUID:
    """The id of a namespace's exploration settings, of which it has one a role."""
    return uuid5(EXPLORATION_IDS, f"{namespace.tenant}:{namespace.id}:{role}")


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """One run that a policy served, and how it turned out, in [0, 1]. One that `explored` tells
    less of the policy."""

    policy: str
    unit: UUID
    score: float
    at: datetime
    explored: bool = False
