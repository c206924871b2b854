"""What a verb that takes long must offer so that its work can be stopped, resumed and repeated:
its steps, and for each the slow part apart from the short effect."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from memserver.domain.operations import Operation
from memserver.domain.ports import Writer


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step adds to its operation. `report` is merged key by key into the report so far,
    `change_id` replaces an earlier one, `note` is the progress text that users see."""

    report: dict[str, Any] | None = None
    change_id: UUID | None = None
    note: str = ""


Effect = Callable[[Writer], Outcome]
"""The part of a step that writes. It runs in the transaction that also stores the step's
marker, so it must be short, must not call the store, and may run again after a roll-back."""


class Runner(Protocol):
    """The work of one verb."""

    @property
    def verb(self) -> str: ...

    def steps(self, operation: Operation) -> tuple[str, ...]:
        """The names of the operation's steps, in order and without repeats; the same at every
        call for one operation, also after a restart."""

    def prepare(self, operation: Operation, step: str) -> Effect:
        """Does the step's slow part, outside any transaction, and returns what to write.
        `Unavailable` is tried again a few times; any other error fails the operation."""
