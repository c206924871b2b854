"""Asking what was learnt: a skill's guidance for a run under way, and cases like a task."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from memserver.wire.base import Model, NamespacePattern, ShortText
from memserver.wire.trajectories import Step

Goal = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


class GuideRequest(Model):
    """A run under way. A step's action answers the observation before it, so that the last step
    may be an observation alone: what came of the action before."""

    goal: Goal
    steps: Annotated[list[Step], Field(max_length=10_000)] = Field(default_factory=list)


class Milestone(Model):
    """`number` counts from 1. `expect` is what is seen when it is reached. `at` is the step (from
    0) whose action reached it; null where it is still ahead, or was passed unseen."""

    number: int
    action: str
    expect: str
    at: int | None = None


class Guidance(Model):
    """`milestone` is the one to reach next, null where all are reached; `done` those reached, in
    order; `gap` the actions that lead to the next one and are still to do. `correction` says what
    to do after an action that failed, and is null after one that did not."""

    milestone: Milestone | None
    done: list[Milestone]
    gap: list[str]
    correction: str | None


class SimilarCasesRequest(Model):
    """`operations` are the kinds of step of the plan in mind, in order, such as `["query",
    "filter", "aggregate"]`; without any, likeness of goals alone decides."""

    namespace: NamespacePattern
    goal: Goal
    operations: Annotated[list[ShortText], Field(max_length=1_000)] = Field(default_factory=list)
    k: Annotated[int, Field(ge=1, le=100)] = 5


class SimilarCase(Model):
    """A case with both parts of its `score`: `semantic` is the likeness of what is said (cosine),
    `structural` that of the order of operations (longest common subsequence). Where `solved` is
    false it is an example of what not to do, and `notes` say why."""

    id: UUID
    version_id: UUID
    namespace: str
    title: str
    goal: str
    steps: list[str]
    operations: list[str]
    notes: list[str]
    solved: bool
    outcome_score: float
    semantic: float
    structural: float
    score: float


class SimilarCases(Model):
    """The best first."""

    cases: list[SimilarCase]
