"""Grep: a pattern in, the lines that match."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from memserver.wire.base import Model, NamespacePattern, Time
from memserver.wire.items import Kind

GreppedKind = Kind | Annotated[str, StringConstraints(pattern=r"^(trajectory|session)$")]
Lines = Annotated[int, Field(ge=0, le=50)]


class GrepRequest(Model):
    """What is asked. Name one `namespace` or several `namespaces`; `path/**` reads a subtree.

    `pattern` is a regular expression in RE2's syntax, which every line is held against by itself;
    `literal` takes it as plain characters. `before` and `after` count lines of context. `from` and
    `to` bound when it was said: when an item began to hold, a run's own time, a turn's.
    """

    pattern: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    namespace: NamespacePattern | None = None
    namespaces: Annotated[list[NamespacePattern], Field(max_length=50)] | None = None
    literal: bool = False
    ignore_case: bool = False
    kinds: Annotated[list[GreppedKind], Field(min_length=1, max_length=20)] | None = None
    before: Lines = 0
    after: Lines = 0
    from_: Annotated[Time | None, Field(alias="from")] = None
    to: Time | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    cursor: Annotated[str, Field(max_length=500)] | None = None

    @model_validator(mode="before")
    @classmethod
    def names_its_namespaces(cls, data: Any) -> Any:
        if isinstance(data, dict) and not (data.get("namespace") or data.get("namespaces")):
            raise ValueError("name a namespace, or several namespaces")
        return data


class GrepHit(Model):
    """A line that matches. `id` is an item's, a run's or a session's, by `kind`.

    `part` says what of it: an item's `text`; a run's `goal`, or the `observation` or `action` of
    the `step` (from 0); the `message`, `call` or `result` that is a session's event number `step`.
    `line_number` counts from 1 within that part. `line` holds the match in
    [`match_start`, `match_end`); of a long line it is a piece, and `cut` is true. `before` and
    `after` are the lines around it, in the run or session across its parts.
    """

    id: UUID
    version_id: UUID | None
    namespace: str
    kind: str
    part: str
    step: int | None
    line_number: int
    line: str
    match_start: int
    match_end: int
    cut: bool
    before: list[str]
    after: list[str]
    at: AwareDatetime


class Grepped(Model):
    """Matches in the order of storing, items before runs before sessions. `next_cursor` goes on
    after the last line that was searched, and is null at the end; `truncated` says that time ran
    out before `limit` lines were found."""

    rows: list[GrepHit]
    next_cursor: str | None = None
    truncated: bool = False
