"""What agents send: one run of one task, with its outcome."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from memserver.domain.scope import Namespace


class OutcomeSource(StrEnum):
    """Who says how the task went."""

    ENVIRONMENT = "environment"
    JUDGE = "judge"
    HUMAN = "human"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Task:
    """What was to be done. `template_id` names the generator of sibling tasks, where known."""

    goal: str
    type: str | None = None
    environment: str | None = None
    template_id: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One observation and the action taken on it; either may be empty."""

    observation: str = ""
    action: str = ""
    reward: float | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the task went. `score` is in [0, 1]; `cost` is in the sender's own unit."""

    score: float
    success: bool
    source: OutcomeSource = OutcomeSource.ENVIRONMENT
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One run. `used` are the item versions that the agent says it used; None means that it
    does not say, and every version packed for it is credited instead. `sent_hash` is over the
    run as it was sent, so that a retry is known even after feedback has changed the outcome."""

    id: UUID
    namespace: Namespace
    task: Task
    agent: str
    steps: tuple[Step, ...]
    outcome: Outcome | None
    used: tuple[UUID, ...] | None
    created_at: datetime
    mistakes: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    sent_hash: str = ""


def normal_goal(goal: str) -> str:
    """The normal form under which two goals count as the same task: case, white space and
    closing punctuation do not matter."""
    return re.sub(r"\s+", " ", goal).strip().rstrip(".!?").casefold()
