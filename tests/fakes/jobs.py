"""A job engine that works at once in the thread that submits, and runners for tests."""

from collections.abc import Callable
from uuid import UUID

from memserver.domain.operations import Operation
from memserver.domain.ports import Work, Writer
from memserver.services.operations import Effect, Outcome


class InlineJobs:
    """Fulfils the `Jobs` port; every submitted attempt has ended when `submit` returns."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._submitted: set[tuple[UUID, int]] = set()

    def submit(self, operation_id: UUID, attempt: int) -> None:
        if (operation_id, attempt) in self._submitted:
            return
        self._submitted.add((operation_id, attempt))
        try:
            names = self._work.begin(operation_id, attempt)
            for name in names:
                self._work.step(operation_id, name)
            if names:
                self._work.succeed(operation_id)
        except Exception as error:
            self._work.fail(operation_id, error)

    def start(self) -> None:
        """Nothing runs between submits."""

    def stop(self) -> None:
        """Nothing runs between submits."""


class ScriptedRunner:
    """A runner whose steps are named in the operation's params, with a hook before each."""

    verb = "scripted"

    def __init__(self, before: Callable[[Operation, str], None] | None = None) -> None:
        self.before = before
        self.prepared: list[str] = []

    def steps(self, operation: Operation) -> tuple[str, ...]:
        return tuple(operation.params["steps"])

    def prepare(self, operation: Operation, step: str) -> Effect:
        self.prepared.append(step)
        if self.before is not None:
            self.before(operation, step)

        def effect(tx: Writer) -> Outcome:
            tx.effects.append(step)  # type: ignore[attr-defined]  # the fake store's content
            return Outcome(report={step: "done"}, note=f"{step} was done")

        return effect
