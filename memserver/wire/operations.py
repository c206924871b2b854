"""Long-running work, and the requests that start it."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from memserver.wire.base import Model, NamespacePath, Receipt, ShortText


class Distill(Model):
    """Turn a namespace's runs into items. `methods` defaults to the usual ones (workflows, hints,
    mistakes). With `words` "model" the chat model words what is new, where its words say the
    same."""

    namespace: NamespacePath
    methods: Annotated[list[ShortText], Field(min_length=1, max_length=50)] | None = None
    words: Literal["rules", "model"] = "rules"


class Consolidate(Model):
    """Shrink a namespace's bank. Without `apply` the operation's report is a plan to read;
    `plan` applies that operation's plan, or nothing where it no longer fits."""

    namespace: NamespacePath
    apply: bool = False
    plan: UUID | None = None


class Progress(Model):
    done: int
    total: int
    doing: str


class Operation(Model):
    id: UUID
    namespace: str
    verb: str
    state: Literal["pending", "running", "cancelling", "succeeded", "failed", "cancelled"]
    progress: Progress
    params: dict[str, Any]
    report: dict[str, Any] | None
    error: str | None
    change_id: UUID | None
    created_at: AwareDatetime
    updated_at: AwareDatetime
    attempt: int


class Change(Model):
    """One entry of the change log. The hashes are over all rows that it touched."""

    id: UUID
    position: int
    verb: str
    reason: str
    actor: UUID
    created_at: AwareDatetime
    rows: int
    before_hash: str
    after_hash: str
    undoes: UUID | None
    undone_by: UUID | None
    operation: UUID | None


class RowChange(Model):
    table: str
    id: UUID
    action: str


class ChangeDetail(Model):
    change: Change
    row_changes: list[RowChange]
    next_cursor: str | None = None


class Undone(Receipt):
    """The change that put the rows back; `undoes` is the one taken back."""

    undoes: UUID
    rows: int
