"""Long work: what services ask of a job engine, and what the engine calls back."""

from typing import Protocol
from uuid import UUID


class Work(Protocol):
    """What a job engine drives. Every call may be repeated after a crash without harm: an
    effect and its marker are committed together in our SQL."""

    def begin(self, operation_id: UUID, attempt: int) -> tuple[str, ...]:
        """Marks the operation running and gives its steps' names, the same at every call. No
        names where nothing is left to do: it has ended, has no steps (and so ends now), or has
        come to a later attempt. Then `succeed` must not be called."""

    def step(self, operation_id: UUID, name: str) -> None:
        """Does one step, unless its marker is there. Raises `OperationCancelled`."""

    def succeed(self, operation_id: UUID) -> None: ...

    def fail(self, operation_id: UUID, error: BaseException) -> None:
        """Records failure, or cancellation where `error` is `OperationCancelled`. Never raises
        for an operation that has ended."""


class Jobs(Protocol):
    """A job engine. Submitting the same attempt twice runs it once."""

    def submit(self, operation_id: UUID, attempt: int) -> None: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...
