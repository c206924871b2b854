"""Long-running work: durable, resumable, cancellable, always with an end."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from memserver.domain.scope import Namespace


class State(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


TERMINAL = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED})

TRANSITIONS: dict[State, frozenset[State]] = {
    State.PENDING: frozenset({State.RUNNING, State.CANCELLED, State.FAILED}),
    State.RUNNING: frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLING, State.CANCELLED}),
    State.CANCELLING: frozenset({State.CANCELLED, State.SUCCEEDED, State.FAILED}),
    State.SUCCEEDED: frozenset(),
    State.FAILED: frozenset({State.PENDING}),
    State.CANCELLED: frozenset({State.PENDING}),
}


@dataclass(frozen=True, slots=True)
class Progress:
    done: int = 0
    total: int = 0
    doing: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One piece of long work as users see it. `params` and `report` are JSON objects whose
    shape belongs to the verb; `steps_done` are the markers that make a repeated step harmless;
    `attempt` counts retries, and with the id names the workflow that runs it."""

    id: UUID
    tenant: UUID
    namespace: Namespace
    verb: str
    params: dict[str, Any]
    state: State
    requested_by: UUID
    created_at: datetime
    updated_at: datetime
    progress: Progress = Progress()
    steps_done: tuple[str, ...] = ()
    report: dict[str, Any] | None = None
    error: str | None = None
    change_id: UUID | None = None
    attempt: int = 1

    @property
    def ended(self) -> bool:
        return self.state in TERMINAL
