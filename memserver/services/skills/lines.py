"""Skills as JSON lines of our own: one skill a line, in the words of the API."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from memserver.domain.errors import InvalidImport
from memserver.domain.items import BODY_OF, Body, Kind, fields_of
from memserver.services.exporting.lines import line_of
from memserver.services.importers.json_values import Unreadable, decode, first_fault, parse
from memserver_skills.incoming import Incoming

_BODIES: dict[str, TypeAdapter[Body]] = {
    kind.value: TypeAdapter(BODY_OF[kind]) for kind in (Kind.SKILL, Kind.RULE)
}


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["skill", "rule"] = "skill"
    title: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    task_type: Annotated[str, StringConstraints(max_length=500)] | None = None
    body: dict[str, Any]
    metadata: dict[str, Any] = Field(default_factory=dict)


def read_lines(data: bytes) -> tuple[Incoming, ...]:
    """Raises `InvalidImport` at the first line that is no skill; blank lines are skipped."""
    found = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(_read(line, number))
        except Unreadable as fault:
            raise InvalidImport(number, str(fault)) from fault
    return tuple(found)


def write_lines(shelf: Iterable[Incoming]) -> bytes:
    return b"".join(
        line_of(
            {
                "kind": one.kind.value,
                "title": one.title,
                "task_type": one.task_type,
                "body": fields_of(one.body),
                "metadata": one.metadata,
            }
        )
        for one in shelf
    )


def _read(line: bytes, number: int) -> Incoming:
    text = decode(line).strip()
    value, end = parse(text)
    if end < len(text):
        raise Unreadable("it holds more than one JSON value")
    try:
        told = _Line.model_validate(value)
        unknown = told.body.keys() - _fields(told.kind)
        if unknown:
            raise Unreadable(f"body.{min(unknown)[:80]}: a {told.kind} has no such field")
        body = _BODIES[told.kind].validate_python(told.body)
    except ValidationError as fault:
        raise Unreadable(first_fault(fault)) from fault
    return Incoming(
        where=f"line {number}",
        kind=Kind(told.kind),
        title=told.title,
        body=body,
        task_type=told.task_type,
        metadata=told.metadata,
    )


def _fields(kind: str) -> frozenset[str]:
    return frozenset(BODY_OF[Kind(kind)].__dataclass_fields__)
