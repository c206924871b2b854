"""What agents send: one run of one task, with its outcome."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field, replace
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
    run as it was sent, so that a retry is known even after feedback has changed the outcome;
    `sender` is the key that sent it. `subject` is the person it is about, by the
    caller's name for them, which erasure goes by."""

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
    sender: UUID | None = None
    subject: str | None = None

    @property
    def succeeded(self) -> bool:
        """A run whose outcome is not known has not."""
        return self.outcome is not None and self.outcome.success


def as_sent(run: Trajectory) -> Trajectory:
    """The run with the hash of what its sender said: all but id, namespace and time. The same
    run has the same hash by whatever route it came."""
    said = {
        "task": asdict(run.task),
        "agent": run.agent,
        "steps": [asdict(step) for step in run.steps],
        "outcome": None if run.outcome is None else asdict(run.outcome),
        "used": None if run.used is None else [str(version) for version in run.used],
        "mistakes": run.mistakes,
        "metadata": run.metadata,
    }
    if run.subject is not None:
        # Left out where it is not said, so that runs sent before there were subjects hash alike.
        said["subject"] = run.subject
    canonical = json.dumps(said, sort_keys=True, ensure_ascii=False)
    return replace(run, sent_hash=hashlib.sha256(canonical.encode()).hexdigest())


def normal_goal(goal: str) -> str:
    """The normal form under which two goals count as the same task: case, white space and
    closing punctuation do not matter."""
    return re.sub(r"\s+", " ", goal).strip().rstrip(".!?").casefold()
