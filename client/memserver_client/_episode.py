"""One run of one task, recorded as it happens and sent when its block ends."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any
from uuid import UUID

from memserver.ids import uuid7
from memserver.wire.retrieval import Retrieved
from memserver.wire.trajectories import NewTrajectory, Outcome, Step, TrajectoryStored
from memserver_client._call import Call, Steps, asked
from memserver_client._calls import retrieval, runs
from memserver_client._errors import EpisodeClosed, MemserverError
from memserver_client._requests import Id, checked, id_of, json_body
from memserver_client._transport import AsyncConnection, Connection


def new_run(
    task: Mapping[str, str | None], *, namespace: str, agent: str, subject: str | None = None
) -> NewTrajectory:
    given = {name: value for name, value in task.items() if value is not None}
    return checked(NewTrajectory, namespace=namespace, task=given, agent=agent, subject=subject)


class Recording:
    """What both kinds of episode share: all but reaching the server."""

    def __init__(self, new: NewTrajectory) -> None:
        self.id: UUID = uuid7()
        self.receipt: TrajectoryStored | None = None
        self._new = new.model_copy(update={"id": self.id})
        self._steps: list[Step] = []
        self._outcome: Outcome | None = None
        self._used: list[UUID] | None = None
        self._error: dict[str, str] | None = None
        self._over = False

    @property
    def run(self) -> NewTrajectory:
        """The run as recorded so far."""
        recorded: dict[str, Any] = {"steps": list(self._steps)}
        if self._outcome is not None:
            recorded["outcome"] = self._outcome
        if self._used is not None:
            recorded["used"] = self._used
        if self._error is not None:
            recorded["metadata"] = {"error": self._error}
        return self._new.model_copy(update=recorded)

    def step(
        self,
        *,
        observation: str = "",
        action: str = "",
        reward: float | None = None,
        **metadata: Any,
    ) -> None:
        """One observation and what was done about it; further keywords become its metadata."""
        self._must_be_open("take a step")
        fields = {"observation": observation, "action": action, "reward": reward}
        step = checked(Step, **fields, metadata=metadata or None)
        json_body(step)  # what cannot be sent is refused here, at the line that brought it
        self._steps.append(step)

    def finish(
        self,
        *,
        score: float,
        success: bool,
        source: str = "environment",
        used: Sequence[Id] | None = None,
        cost: float | None = None,
    ) -> None:
        """How it went: `score` in [0, 1], by whose judgement (`environment`, `judge`, `human` or
        `agent`), and the item versions that were used. Without `used` every version that the
        episode's retrieves packed is credited."""
        self._must_be_open("finish")
        if self._outcome is not None:
            raise EpisodeClosed(self.id, "finish twice")
        outcome = checked(Outcome, score=score, success=success, source=source, cost=cost)
        if used is not None:
            self._used = [id_of(version) for version in used]
        self._outcome = outcome

    def _question(
        self, query: str | None, *, budget_tokens: int | None, k: int, kinds: Sequence[str] | None
    ) -> Call[Retrieved]:
        return retrieval.retrieve(
            self._new.task.goal if query is None else query,
            namespace=self._new.namespace,
            k=k,
            budget_tokens=budget_tokens,
            kinds=kinds,
            task_type=self._new.task.type,
            trajectory_id=self.id,
        )

    def _end(self, error: BaseException | None) -> Steps[None]:
        if error is not None:
            self._fail(error)
        self._over = True
        try:
            self.receipt = yield from asked(runs.add_trajectory(self.run))
        except MemserverError as unsent:
            if error is None:
                raise
            # What went wrong in the block matters more than that it could not be reported.
            error.add_note(f"The episode {self.id} was not stored: {unsent}")

    def _fail(self, error: BaseException) -> None:
        self._error = {"class": type(error).__qualname__, "message": str(error)}
        if self._outcome is None and isinstance(error, Exception):
            self._outcome = Outcome(score=0.0, success=False, source="agent")

    def _must_be_open(self, wanted: str) -> None:
        if self._over:
            raise EpisodeClosed(self.id, wanted)


class Episode(Recording):
    """Made by `Memory.episode`, used in a with-block.

    Steps are kept here and sent when the block ends: with the outcome that `finish` was given, or
    with none where it was not called. An exception that leaves the block is recorded in the run's
    metadata as `error`, makes the run a failed one unless `finish` had already said how it went,
    and goes on to the caller. An interruption (Ctrl-C, exit) says nothing about the task, so that
    run is sent without an outcome.

    After the block `receipt` is the server's, and `run` what was sent; should sending fail, `run`
    is there to be sent again.
    """

    def __init__(self, server: Connection, new: NewTrajectory) -> None:
        super().__init__(new)
        self._server = server

    def __enter__(self) -> "Episode":
        self._must_be_open("start again")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.perform(self._end(error))

    def retrieve(
        self,
        query: str | None = None,
        *,
        budget_tokens: int | None = None,
        k: int = 10,
        kinds: Sequence[str] | None = None,
    ) -> Retrieved:
        """What helps with `query`, or with the goal; the run's outcome is credited to it."""
        question = self._question(query, budget_tokens=budget_tokens, k=k, kinds=kinds)
        return self._server.perform(question)


class AsyncEpisode(Recording):
    """Made by `AsyncMemory.episode`, used in an `async with` block; as `Episode`. A task that is
    cancelled in the block is interrupted: its run is sent without an outcome, unless the task is
    cancelled once more while that happens."""

    def __init__(self, server: AsyncConnection, new: NewTrajectory) -> None:
        super().__init__(new)
        self._server = server

    async def __aenter__(self) -> "AsyncEpisode":
        self._must_be_open("start again")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._server.perform(self._end(error))

    async def retrieve(
        self,
        query: str | None = None,
        *,
        budget_tokens: int | None = None,
        k: int = 10,
        kinds: Sequence[str] | None = None,
    ) -> Retrieved:
        """As `Episode.retrieve`."""
        question = self._question(query, budget_tokens=budget_tokens, k=k, kinds=kinds)
        return await self._server.perform(question)
