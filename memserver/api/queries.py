"""Query parameters, one closed model a list: an unknown parameter is refused by name."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from memserver.wire.base import NamespacePath, NamespacePattern, Time
from memserver.wire.items import Kind, Status

OperationState = Literal["pending", "running", "cancelling", "succeeded", "failed", "cancelled"]


class Query(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WriteQuery(Query):
    """`wait` asks to be answered when the write can be found by retrieve (or 202 if that takes
    too long)."""

    wait: bool = True


class UndoQuery(WriteQuery):
    reason: Annotated[str, Field(max_length=500)] = ""


class ImportQuery(WriteQuery):
    namespace: NamespacePath
    format: Literal["jsonl", "alfworld-condensed"] = "jsonl"


class SkillImportQuery(WriteQuery):
    namespace: NamespacePath


class SkillExportQuery(Query):
    format: Literal["agent-skill"] = "agent-skill"


class BankExportQuery(Query):
    """`status` says which are taken: those in use, those in quarantine, or both."""

    namespace: NamespacePath
    format: Literal["skillrl", "jsonl"] = "skillrl"
    status: Literal["active", "quarantined", "any"] = "active"


class PageQuery(Query):
    limit: Annotated[int, Field(ge=1)] | None = None
    cursor: Annotated[str, Field(max_length=500)] | None = None


class UnsealQuery(Query):
    """`unseal` asks for what privacy took out of texts, which the key must be allowed to see."""

    unseal: bool = False


class TrajectoryQuery(PageQuery, UnsealQuery):
    namespace: NamespacePattern
    task_type: str | None = None
    environment: str | None = None
    agent: str | None = None
    success: bool | None = None


class TimeQuery(UnsealQuery):
    """`as_of` asks for what held at that moment, `known_at` for what was in the records then;
    the latter alone asks for what held at that moment too."""

    as_of: Time | None = None
    known_at: Time | None = None


class SkillQuery(PageQuery, TimeQuery):
    namespace: NamespacePattern
    status: Status = "active"


class ItemQuery(SkillQuery):
    kind: Kind | None = None


class EntityQuery(PageQuery):
    namespace: NamespacePattern


class AroundQuery(Query):
    """`entity` in any spelling of the same normal form; `hops` says how many links to follow."""

    namespace: NamespacePath
    entity: Annotated[str, Field(min_length=1, max_length=500)]
    hops: Annotated[int, Field(ge=1, le=3)] = 1


class ChangeQuery(PageQuery):
    """`row` names a trajectory, an item or a version whose history is asked for."""

    namespace: NamespacePattern
    row: UUID | None = None


class SessionQuery(PageQuery, UnsealQuery):
    """`ended` leaves out those that have not ended, or those that have."""

    namespace: NamespacePattern
    agent: str | None = None
    ended: bool | None = None


class EventListQuery(PageQuery, UnsealQuery):
    pass


class StateQuery(UnsealQuery):
    """`format=json` asks for the state as values beside the text."""

    budget_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 2_000
    format: Literal["text", "json"] = "text"


class ToolsQuery(Query):
    format: Literal["openai", "anthropic"] = "openai"


class OperationQuery(PageQuery):
    state: OperationState | None = None


class RegisterQuery(Query):
    namespace: NamespacePath


class PolicyListQuery(PageQuery):
    namespace: NamespacePattern


class PolicyQuery(Query):
    namespace: NamespacePath
    role: Literal["retrieve", "write"] = "retrieve"


class EvaluationQuery(Query):
    """`since` leaves out older decisions."""

    since: Time | None = None


class EventQuery(Query):
    """`seconds` bounds how long the stream stays open."""

    seconds: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = 600.0


class RestoreQuery(Query):
    replace: bool = False


class ReadyQuery(Query):
    audit: bool = False


class VectorExportQuery(Query):
    """`since` leaves out older decisions, `split` those of other tasks."""

    namespace: NamespacePath
    since: Time | None = None
    split: Literal["train", "validation", "test"] | None = None


class DecisionExportQuery(VectorExportQuery):
    """`text=false` leaves out the queries, which are redacted otherwise."""

    text: bool = True


class RunExportQuery(DecisionExportQuery):
    """The same for runs; `redact=false` leaves their text as it is."""

    redact: bool = True


class ItemExportQuery(Query):
    namespace: NamespacePattern
    text: bool = True
    redact: bool = True
