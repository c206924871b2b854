"""Trajectories and feedback on them."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from memserver.wire.base import (
    Finite,
    Model,
    NamespacePath,
    Receipt,
    ShortText,
    Subject,
    Time,
    Unit,
)

OutcomeSource = Literal["environment", "judge", "human", "agent"]


class Task(Model):
    goal: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
    type: ShortText | None = None
    environment: ShortText | None = None
    template_id: ShortText | None = None


class Step(Model):
    observation: str = ""
    action: str = ""
    reward: Finite | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class Outcome(Model):
    score: Unit
    success: bool
    source: OutcomeSource = "environment"
    cost: Finite | None = None


class Run(Model):
    """One run of one task. Mint the id yourself (`memserver.ids.uuid7`) and a retry is
    harmless. `used` are the item versions that the agent used; leave it out and every version
    that was packed for the run is credited. `subject` is the person whom the run is about, by a
    name of yours that says no more than it must: erasure goes by it."""

    id: UUID | None = None
    task: Task
    agent: ShortText = ""
    steps: Annotated[list[Step], Field(max_length=10_000)] = Field(default_factory=list)
    outcome: Outcome | None = None
    used: Annotated[list[UUID], Field(max_length=1_000)] | None = None
    mistakes: Annotated[list[str], Field(max_length=1_000)] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    created_at: Time | None = None
    subject: Subject | None = None


class NewTrajectory(Run):
    namespace: NamespacePath


class NewTrajectories(Model):
    namespace: NamespacePath
    trajectories: Annotated[list[Run], Field(min_length=1, max_length=1_000)]


class Trajectory(Model):
    id: UUID
    namespace: str
    task: Task
    agent: str
    steps: list[Step]
    outcome: Outcome | None
    used: list[UUID] | None
    mistakes: list[str]
    metadata: dict[str, Any]
    created_at: AwareDatetime
    subject: str | None = None


class TrajectoryStored(Receipt):
    """`existing` says that this very run was stored before; `credited` counts the item versions
    that its outcome was credited to."""

    id: UUID
    existing: bool = False
    credited: int = 0


class TrajectoriesStored(Receipt):
    ids: list[UUID]
    stored: int
    existing: int
    credited: int


class Feedback(Model):
    """How a task went, told later or by someone else. Feedback from the same source replaces
    its earlier feedback on the same trajectory or retrieval."""

    trajectory_id: UUID | None = None
    retrieval_id: UUID | None = None
    score: Unit
    success: bool | None = None
    source: OutcomeSource = "human"
    used: Annotated[list[UUID], Field(max_length=1_000)] | None = None

    @model_validator(mode="after")
    def names_one_cause(self) -> "Feedback":
        if (self.trajectory_id is None) == (self.retrieval_id is None):
            raise ValueError("name either trajectory_id or retrieval_id")
        return self


class FeedbackStored(Receipt):
    credited: int
    replaced: int
