"""The condensed ALFWorld runs that SkillRL published: one JSON array, a run an element.

Successes carry their steps, failures only what was done wrong."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memserver.domain.errors import InvalidImport
from memserver.domain.ports import Clock
from memserver.domain.scope import Namespace
from memserver.domain.trajectories import Outcome, Step, Task, Trajectory, as_sent
from memserver.services.importers.json_values import (
    Unreadable,
    content_id,
    decode,
    first_fault,
    parse,
)

_TYPE = re.compile(r"\bclassified as '([^']+)'")
_SPACE = re.compile(r"\s*")


class _Lenient(BaseModel):
    """Strict in types; fields that we have no use for are left alone."""

    model_config = ConfigDict(extra="ignore", strict=True)


class _Row(_Lenient):
    step_index: int
    action: str
    critical_observation: str = ""
    reasoning: str = ""


class _Rows(_Lenient):
    refined_trajectory: list[_Row]


class _Mistake(_Lenient):
    trigger_condition: str
    bad_action: str


class _Guidelines(_Lenient):
    planning_pattern: str | None = None
    mistakes_to_avoid: list[_Mistake] = []


class _TaskMeta(_Lenient):
    original_goal: str = Field(min_length=1, max_length=20_000)


class _Content(_Lenient):
    task_meta: _TaskMeta
    refined_trajectory: _Rows | None = None
    strategic_guidelines: _Guidelines = _Guidelines()


class _Tags(_Lenient):
    environment: str
    outcome: Literal["Success", "Failure"]


class _Memory(_Lenient):
    memory_id: str = Field(min_length=1)
    contextual_description: str = ""
    origin_env_id: str = ""
    tags: _Tags
    content: _Content


def read_alfworld(data: bytes, namespace: Namespace, clock: Clock) -> Iterator[Trajectory]:
    """The runs of the file, in order; ids follow from `memory_id`. Raises `InvalidImport` with
    the line on which the faulty element begins."""
    now = clock()
    try:
        text = decode(data)
    except Unreadable as fault:
        raise InvalidImport(1, str(fault)) from fault
    lines: dict[UUID, int] = {}
    for line, element in _elements(text):
        try:
            memory = _Memory.model_validate(element)
        except ValidationError as fault:
            raise InvalidImport(line, first_fault(fault)) from fault
        run = _trajectory(memory, namespace, now)
        if run.id in lines:
            raise InvalidImport(line, f"it repeats {memory.memory_id!r} of line {lines[run.id]}")
        lines[run.id] = line
        yield run


def _elements(text: str) -> Iterator[tuple[int, object]]:
    """The array's elements, each with the line on which it begins."""
    position, line, counted = _after_space(text, 0), 1, 0
    before = "["  # what must stand before the next element: the bracket first, commas later
    while True:
        line, counted = line + text.count("\n", counted, position), position
        mark = text[position : position + 1]
        if before == "," and mark == "]":
            break
        if mark != before:
            raise InvalidImport(line, f"a JSON array of runs is expected, with {before!r} here")
        position = _after_space(text, position + 1)
        if before == "[" and text[position : position + 1] == "]":
            break
        line, counted = line + text.count("\n", counted, position), position
        try:
            element, position = parse(text, position)
        except Unreadable as fault:
            raise InvalidImport(line, str(fault)) from fault
        yield line, element
        position, before = _after_space(text, position), ","
    if text[position + 1 :].strip():
        raise InvalidImport(line, "something follows the array")


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _trajectory(memory: _Memory, namespace: Namespace, now: datetime) -> Trajectory:
    content, success = memory.content, memory.tags.outcome == "Success"
    rows = content.refined_trajectory.refined_trajectory if content.refined_trajectory else []
    kind = _TYPE.search(memory.contextual_description)
    metadata = {
        "memory_id": memory.memory_id,
        "origin_env_id": memory.origin_env_id,
        "description": memory.contextual_description,
        "planning_pattern": content.strategic_guidelines.planning_pattern,
        "final_observation": rows[-1].critical_observation if rows else None,
    }
    run = Trajectory(
        id=content_id("alfworld-condensed", namespace, memory.memory_id),
        namespace=namespace,
        task=Task(
            goal=content.task_meta.original_goal,
            type=kind.group(1) if kind else None,
            environment=memory.tags.environment,
        ),
        agent="",
        steps=_steps(rows),
        outcome=Outcome(score=float(success), success=success),
        used=None,
        created_at=now,
        mistakes=tuple(
            f"When: {mistake.trigger_condition}\nAvoid: {mistake.bad_action}"
            for mistake in content.strategic_guidelines.mistakes_to_avoid
        ),
        metadata={name: value for name, value in metadata.items() if value},
    )
    return as_sent(run)


def _steps(rows: list[_Row]) -> tuple[Step, ...]:
    """A row's observation is what its action led to; a step's is what its action was taken on.
    So each row's observation moves to the next. The row before the first action describes the
    start: it is the first step's observation and no step of its own."""
    opening = rows[:1] if rows and rows[0].step_index < 0 else []
    acted = rows[len(opening) :]
    seen = ["", *(row.critical_observation for row in rows)][len(opening) :]
    return tuple(
        Step(
            observation=observation,
            action=row.action,
            metadata={"step_index": row.step_index, "reasoning": row.reasoning},
        )
        for observation, row in zip(seen, acted, strict=False)
    )
