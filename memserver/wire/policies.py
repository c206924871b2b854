"""Policies: what is registered, how it does, and how a namespace explores."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from memserver.wire.base import Finite, Model, NamespacePath, Receipt, Unit

Role = Literal["retrieve", "write"]
State = Literal["shadow", "canary", "active", "retired"]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
GivenReason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class Policy(Model):
    """One learned policy in one namespace. `share` is the part of the runs that it gets as a
    canary; `since` is when it came into its state, and `reason` why."""

    id: UUID
    namespace: str
    role: Role
    kind: str
    state: State
    share: float
    reason: str
    previous: UUID | None
    weights_sha256: str
    created_at: AwareDatetime
    since: AwareDatetime
    manifest: dict[str, Any]


class PolicyMoved(Receipt):
    """A policy after what was asked."""

    policy: Policy


class MovePolicy(Model):
    reason: Reason = ""


class Canary(Model):
    """`share` of the runs get the policy, by a hash of their id. `override` is a person's reason
    to do so although the log does not show it to be better; it is logged."""

    share: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.1
    override: Reason = ""


class Promote(Model):
    """`override` is a person's reason to promote although no canary showed it to be better."""

    override: Reason = ""


class RollBack(Model):
    namespace: NamespacePath
    role: Role = "retrieve"
    reason: GivenReason


class Interval(Model):
    """Confidence 95%."""

    estimate: float
    low: float
    high: float


class Estimate(Model):
    """A policy's value an outcome, from the log of another one. `low` and `high` are the doubly
    robust estimate's; `ess` is the effective sample size, `support` the share of what the policy
    would choose that the log can speak of."""

    snips: float
    doubly_robust: float
    low: float
    high: float
    ess: float
    support: float


class PolicyEvaluation(Model):
    """What the server's own log says. `refusal` says why that opens no canary (null where it
    does); without exploration enough there is no number at all. `reward_model` is what the
    estimate assumes."""

    policy: UUID
    reference: str
    since: AwareDatetime | None
    target: Estimate | None
    reference_estimate: Estimate | None
    difference: Interval | None
    ess: float
    support: float
    decisions: int
    choices: int
    reward_model: str
    refusal: str | None


class Trial(Model):
    """How runs turned out under a policy that serves, against those beside a canary or before
    an active policy. The interval holds however often it is looked at."""

    runs: int
    mean: float | None
    compared_runs: int
    compared_mean: float | None
    difference: Interval | None
    verdict: Literal["undecided", "better", "worse"]
    told: str


class Agreement(Model):
    """How much of what was served lately a shadow would have served too."""

    decisions: int
    failed: int
    overlap: float | None


class PolicyStanding(Model):
    policy: Policy
    trial: Trial | None
    agreement: Agreement | None


class NewExploration(Model):
    """How a namespace explores. `fixed` leaves nothing to chance. In a `learning` one, `share`
    of the runs sample: places are drawn from softmax(score / `temperature`) without
    replacement, except for `exposure_slots` places filled uniformly from all else that passed
    the gates."""

    namespace: NamespacePath
    role: Role = "retrieve"
    mode: Literal["fixed", "learning"]
    temperature: Annotated[Finite, Field(ge=0, le=100)] = 0.0
    share: Unit = 0.0
    exposure_slots: Annotated[int, Field(ge=0, le=100)] = 0

    @model_validator(mode="after")
    def a_fixed_one_has_no_more_to_say(self) -> "NewExploration":
        if self.mode == "fixed" and (self.temperature or self.share or self.exposure_slots):
            raise ValueError("a fixed namespace leaves nothing to chance: give the mode alone")
        return self


class Exploration(Model):
    namespace: str
    role: Role
    mode: Literal["fixed", "learning"]
    temperature: float
    share: float
    exposure_slots: int


class ExplorationSet(Receipt):
    exploration: Exploration


class PolicyStatus(Model):
    """Where a namespace stands. `latest` counts its latest decisions (500 at most) by policy,
    `explored` those that explored; `serves` is the policy of runs that get no canary."""

    namespace: str
    role: Role
    serves: str
    exploration: Exploration
    policies: list[PolicyStanding]
    latest: dict[str, int]
    explored: int


class ConsideredItem(Model):
    """One candidate of a decision, with its features by name. Of a write, one way of dealing with
    what was told: `id` is the version of the neighbour that it would bear on, all zeros where there
    is none; which operation it is stands in the features."""

    id: UUID
    rank: int | None
    slot: str | None
    packed: bool
    gated: str | None
    score: float
    propensity: float
    features: dict[str, float]


class WriteChoice(Model):
    """What a write came to: `operation` on `target`, a version. `item` and `version` are what
    stands afterwards; `by` says who decided."""

    operation: Literal["ADD", "UPDATE", "DELETE", "NOOP"]
    target: UUID | None
    by: Literal["rules", "policy", "model"]
    reason: str
    item: UUID | None
    version: UUID | None


class Decision(Model):
    """One logged retrieve or write. `replays` says whether drawing again from its seed gives the
    same order. `choice` is set where the verb is `write`; `query` is then what was told."""

    id: UUID
    namespaces: list[str]
    verb: str
    query: str
    task_type: str | None
    trajectory_id: UUID | None
    policy: str
    explored: bool
    temperature: float
    exposure_slots: int
    k: int
    feature_schema: int
    encoder: str
    created_at: AwareDatetime
    replays: bool
    choice: WriteChoice | None = None
    candidates: list[ConsideredItem]
