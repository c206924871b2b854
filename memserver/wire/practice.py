"""Goals to practise on, and what became of the runs of them."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from memserver.wire.base import Model, NamespacePath, Receipt
from memserver.wire.trajectories import Run, Task

PracticeState = Literal["proposed", "accepted", "rejected"]
Refusal = Literal[
    "another_goal",
    "no_steps",
    "not_judged",
    "infeasible",
    "failed",
    "nothing_happened",
    "unverified",
]


class PracticeRequest(Model):
    """Asks for the `k` goals that are most worth trying; `seed` decides between equals."""

    namespace: NamespacePath
    k: Annotated[int, Field(ge=1, le=100)] = 5
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0


class PracticeWhy(Model):
    """The parts of a score, which is novelty · learnability · feasibility. `learnability` is
    p · (1 − p), with `p` the chance of success; `coverage` names what no goal had before;
    `redundancy` is the share of values that the likest goal before had as well."""

    score: float
    novelty: float
    p: float
    learnability: float
    feasibility: float
    redundancy: float
    coverage: list[str]


class PracticeGoal(Model):
    """A goal that was made up, `template` with `values` in its slots, and what became of it. Agents
    are never offered it. `trajectory_id` is the run that decided it, which is stored only where it
    was accepted."""

    id: UUID
    namespace: str
    goal: str
    task: Task
    template: str
    values: dict[str, str]
    why: PracticeWhy
    state: PracticeState
    refusal: Refusal | None = None
    reason: str = ""
    created_at: AwareDatetime
    decided_at: AwareDatetime | None = None
    trajectory_id: UUID | None = None


class PracticeProposed(Model):
    """The goals, the best first; fewer than were asked for where there are no more."""

    namespace: str
    proposals: list[PracticeGoal]


class ValidatePractice(Model):
    """A run of a goal that was proposed, by the proposal's id."""

    namespace: NamespacePath
    proposal: UUID
    run: Run


class PracticeDecided(Receipt):
    """Whether the run was let into memory. `existing` says that this very run was decided on
    before."""

    accepted: bool
    proposal: PracticeGoal
    existing: bool = False
    credited: int = 0
