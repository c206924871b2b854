"""Our own format: one run a line, in the words of the API."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from memserver.domain.errors import InvalidImport
from memserver.domain.ports import Clock
from memserver.domain.scope import Namespace
from memserver.domain.trajectories import (
    Outcome,
    OutcomeSource,
    Step,
    Task,
    Trajectory,
    as_sent,
)
from memserver.services.importers.json_values import (
    Unreadable,
    content_id,
    decode,
    first_fault,
    parse,
)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("Input should be a string")
    return value


_Short = Annotated[str, StringConstraints(max_length=500)]
_Subject = Annotated[str, StringConstraints(min_length=1, max_length=500)]
_Id = Annotated[UUID, Field(strict=False), BeforeValidator(_text)]
_Time = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_text)]
_Number = Annotated[float, Field(allow_inf_nan=False)]
_Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Source = Annotated[OutcomeSource, Field(strict=False), BeforeValidator(_text)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _TaskLine(_Strict):
    goal: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
    type: _Short | None = None
    environment: _Short | None = None
    template_id: _Short | None = None


class _StepLine(_Strict):
    observation: str = ""
    action: str = ""
    reward: _Number | None = None
    metadata: dict[str, Any] = {}


class _OutcomeLine(_Strict):
    score: _Unit
    success: bool
    source: _Source = OutcomeSource.ENVIRONMENT
    cost: _Number | None = None


class _RunLine(_Strict):
    id: _Id | None = None
    task: _TaskLine
    agent: _Short = ""
    steps: Annotated[list[_StepLine], Field(max_length=10_000)] = []
    outcome: _OutcomeLine | None = None
    used: Annotated[list[_Id], Field(max_length=1_000)] | None = None
    mistakes: Annotated[list[str], Field(max_length=1_000)] = []
    metadata: dict[str, Any] = {}
    created_at: _Time | None = None
    subject: _Subject | None = None


def read_jsonl(data: bytes, namespace: Namespace, clock: Clock) -> Iterator[Trajectory]:
    """The runs of a JSON lines file, in order. Blank lines are skipped. A run without an id gets
    one from its content. Raises `InvalidImport` at the first line that is not a run, or that
    repeats the id of an earlier one."""
    now = clock()
    lines: dict[UUID, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            run = _read(line, namespace, now)
        except Unreadable as fault:
            raise InvalidImport(number, str(fault)) from fault
        if run.id in lines:
            raise InvalidImport(number, f"it repeats the run of line {lines[run.id]} ({run.id})")
        lines[run.id] = number
        yield run


def _read(line: bytes, namespace: Namespace, now: datetime) -> Trajectory:
    text = decode(line).strip()
    value, end = parse(text)
    if end < len(text):
        raise Unreadable("it holds more than one JSON value")
    try:
        run = _RunLine.model_validate(value)
    except ValidationError as fault:
        raise Unreadable(first_fault(fault)) from fault
    sent = run.model_dump(
        mode="json", exclude={"id", "created_at"} | ({"subject"} if run.subject is None else set())
    )
    stored = Trajectory(
        id=run.id or content_id("jsonl", namespace, sent),
        namespace=namespace,
        task=Task(**run.task.model_dump()),
        agent=run.agent,
        steps=tuple(Step(**step.model_dump()) for step in run.steps),
        outcome=None if run.outcome is None else Outcome(**run.outcome.model_dump()),
        used=None if run.used is None else tuple(run.used),
        created_at=run.created_at or now,
        mistakes=tuple(run.mistakes),
        metadata=run.metadata,
        subject=run.subject,
    )
    return as_sent(stored)
