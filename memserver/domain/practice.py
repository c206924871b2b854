"""What a proposer of practice remembers: goals that it made up, and what became of each. Agents are
never offered any of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from memserver.domain.scope import Namespace
from memserver.domain.trajectories import Task


class PracticeState(StrEnum):
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Refusal(StrEnum):
    """Why a run of practice may not enter memory."""

    ANOTHER_GOAL = "another_goal"
    NO_STEPS = "no_steps"
    NOT_JUDGED = "not_judged"
    INFEASIBLE = "infeasible"
    FAILED = "failed"
    NOTHING_HAPPENED = "nothing_happened"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True)
class Why:
    """The parts of a proposal's score, which is novelty · p · (1 − p) · feasibility.

    `coverage` names what no goal had before: a value in its place, or two together. `novelty` says
    how many and how new all such parts are, `p` is the chance of success, `redundancy` the share
    of values that the likest goal before had as well. All numbers are in [0, 1].
    """

    score: float
    novelty: float
    p: float
    feasibility: float
    redundancy: float
    coverage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PracticeGoal:
    """`template` is the kind of goal in the form in which kinds are compared, `values` what stands
    in its slots. What is decided has a time, the run that it was decided by, and that run's hash;
    a rejected one has the code of the reason and the reason in words."""

    id: UUID
    namespace: Namespace
    task: Task
    template: str
    values: Mapping[str, str]
    why: Why
    created_at: datetime
    state: PracticeState = PracticeState.PROPOSED
    refusal: Refusal | None = None
    reason: str = ""
    decided_at: datetime | None = None
    trajectory: UUID | None = None
    sent_hash: str = ""
