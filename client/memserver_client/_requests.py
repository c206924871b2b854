"""Builds request bodies. What the wire models refuse is refused here, before anything is sent, with
the error that the server would answer."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from pydantic import BaseModel, ValidationError

from memserver.ids import uuid7
from memserver.wire.access import FieldError
from memserver.wire.items import BODY_OF
from memserver.wire.trajectories import NewTrajectories, Run, TrajectoriesStored
from memserver_client._errors import invalid

M = TypeVar("M", bound=BaseModel)
Id = UUID | str
Fact = Sequence[str] | Mapping[str, str]

BATCH_RUNS = 500
BATCH_BYTES = 4_000_000


def checked(model: type[M], **fields: Any) -> M:
    """The model, of the fields that are not None."""
    return parsed(model, {name: value for name, value in fields.items() if value is not None})


def parsed(model: type[M], data: object, *, where: str = "") -> M:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        fields = [
            FieldError(where=_place(where, found["loc"]), what=found["msg"])
            for found in error.errors(include_url=False, include_input=False)
        ]
        raise invalid("The request does not fit the API; it was not sent.", fields) from error


def json_body(model: BaseModel) -> bytes:
    return encoded(model.model_dump(mode="python", by_alias=True, exclude_unset=True))


def encoded(data: Any) -> bytes:
    """JSON in UTF-8. NaN, infinity, half a surrogate pair and foreign types are refused rather
    than turned into something else."""
    try:
        text = json.dumps(
            data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
        )
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise invalid(f"The request cannot be written as JSON: {error}") from error


def id_of(value: Id) -> UUID:
    """Anything but a UUID in a path could name another path."""
    try:
        return value if isinstance(value, UUID) else UUID(value)
    except ValueError as error:
        raise invalid(f"{value!r} is no id: ids are UUIDs.") from error


# --- memories ----------------------------------------------------------------------------


def text_body(kind: str, text: str) -> dict[str, str]:
    """A text as a body, for the kinds that need no more than a text."""
    model = BODY_OF.get(kind)
    if model is not None and "text" not in model.model_fields:
        names = ", ".join(model.model_fields)
        raise invalid(f"A {kind} is more than a text: pass body= with {names}.")
    return {"text": text}


def fact_bodies(facts: Iterable[Fact]) -> list[dict[str, str]]:
    """Facts as (entity, key, value) or as mappings of these names."""
    bodies = []
    for number, fact in enumerate(facts):
        if isinstance(fact, Mapping):
            bodies.append(dict(fact))
        elif isinstance(fact, str) or len(fact) != 3:
            raise invalid(f"facts.{number} is not (entity, key, value).")
        else:
            bodies.append(dict(zip(("entity", "key", "value"), fact, strict=True)))
    return bodies


# --- batches of runs ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs that go in one request."""

    content: bytes
    runs: int


class TrajectoriesAdded(TrajectoriesStored):
    """The receipts of all batches as one: counts add up, `ids` are in the order of the runs, and
    `change_ids` has one change a batch that stored anything new."""

    change_ids: list[str]

    @classmethod
    def merged(cls, receipts: Sequence[TrajectoriesStored]) -> "TrajectoriesAdded":
        changes = [receipt.change_id for receipt in receipts if receipt.change_id is not None]
        return cls(
            change_id=changes[-1] if changes else None,
            change_ids=changes,
            position=max((receipt.position for receipt in receipts), default=0),
            searchable=all(receipt.searchable for receipt in receipts),
            ids=[row for receipt in receipts for row in receipt.ids],
            stored=sum(receipt.stored for receipt in receipts),
            existing=sum(receipt.existing for receipt in receipts),
            credited=sum(receipt.credited for receipt in receipts),
        )


def with_id(run: Run) -> Run:
    """A run that can be sent twice and is stored once."""
    return run if run.id is not None else run.model_copy(update={"id": uuid7()})


def run_batches(
    runs: Iterable[Run | Mapping[str, Any]],
    namespace: str,
    *,
    most_runs: int = BATCH_RUNS,
    most_bytes: int = BATCH_BYTES,
) -> Iterator[Batch]:
    """Bodies of at most so many runs and bytes; a run that is longer goes alone."""
    checked(NewTrajectories, namespace=namespace, trajectories=[_ANY_RUN])
    head = b'{"namespace":' + encoded(namespace) + b',"trajectories":['
    waiting: list[bytes] = []
    size = 0
    for number, run in enumerate(runs):
        fields = run.model_dump(exclude_unset=True) if isinstance(run, Run) else run
        content = json_body(with_id(parsed(Run, fields, where=f"trajectories.{number}")))
        if waiting and (len(waiting) == most_runs or size + len(content) > most_bytes):
            yield Batch(head + b",".join(waiting) + b"]}", len(waiting))
            waiting, size = [], 0
        waiting.append(content)
        size += len(content) + 1
    if waiting:
        yield Batch(head + b",".join(waiting) + b"]}", len(waiting))


_ANY_RUN = {"task": {"goal": "any"}}


def _place(where: str, loc: tuple[int | str, ...]) -> str:
    return ".".join([*filter(None, [where]), *(str(part) for part in loc)])


def _plain(value: object) -> str:
    if isinstance(value, UUID):
        return str(value)
    isoformat = getattr(value, "isoformat", None)
    if callable(isoformat):
        return str(isoformat())
    raise TypeError(f"{type(value).__name__} has no JSON form")
