"""Every table of the store. The models do not validate: domain values have done so before.

Content (trajectory, item, version, evidence) is written only through the change log. The foreign
key to (namespace, tenant) makes a row in another tenant's namespace impossible to store.

No index of a content table begins with the tenant: SQLite, which has no statistics here, takes it
for as good as any other, and would read all of a tenant's rows to find one. A namespace's id says
its tenant anyway, and a primary key that begins with the row's id lets an index rebuild walk a
table in id order over all tenants.
"""

from datetime import datetime
from typing import Any, ClassVar, cast
from uuid import UUID

from sqlalchemy import (
    Column,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy import UniqueConstraint as Unique
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from memserver.storage.sql.types import EXACT_JSON, PATH, POSITION, UtcDateTime

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


class Base(SQLModel, registry=registry(metadata=metadata)):
    """The root of the store's own tables, apart from any other use of SQLModel."""

    metadata: ClassVar[MetaData] = metadata


def _in_namespace() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["namespace_id", "tenant_id"], ["namespace.id", "namespace.tenant_id"]
    )


def _where_set(column: str) -> dict[str, Any]:
    """Confines an index to the few rows that have a value in the column."""
    condition = text(f"{column} IS NOT NULL")
    return {"sqlite_where": condition, "postgresql_where": condition}


# --- access ------------------------------------------------------------------------------


class TenantRow(Base, table=True):
    __tablename__ = "tenant"

    id: UUID = Field(primary_key=True)
    name: str = Field(unique=True)


class KeyRow(Base, table=True):
    __tablename__ = "api_key"
    __table_args__ = (Index(None, "tenant_id", "created_at", "id"),)

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(foreign_key="tenant.id")
    digest: str = Field(unique=True)
    role: str
    grants: list[str] = Field(sa_type=EXACT_JSON)
    label: str
    created_at: datetime = Field(sa_type=UtcDateTime)
    revoked_at: datetime | None = Field(sa_type=UtcDateTime)
    unseals: bool


class NamespaceRow(Base, table=True):
    __tablename__ = "namespace"
    __table_args__ = (Unique("tenant_id", "path"), Unique("id", "tenant_id"))

    id: int | None = Field(default=None, primary_key=True)
    tenant_id: UUID = Field(foreign_key="tenant.id")
    path: str = Field(sa_type=PATH)


# --- content -----------------------------------------------------------------------------


class TrajectoryRow(Base, table=True):
    __tablename__ = "trajectory"
    __table_args__ = (
        _in_namespace(),
        Index(None, "namespace_id", "position", "id", "tenant_id"),
        Index(None, "goal_hash", "tenant_id"),
        Index(None, "template_hash", "tenant_id"),
        Index(None, "subject", "tenant_id", **_where_set("subject")),
    )

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    namespace_id: int
    position: int = Field(sa_type=POSITION)
    goal: str = Field(sa_type=Text)
    goal_hash: str
    task_type: str | None
    environment: str | None
    template_id: str | None
    template_hash: str | None
    agent: str
    steps: list[dict[str, Any]] = Field(sa_type=EXACT_JSON)
    outcome: dict[str, Any] | None = Field(sa_type=EXACT_JSON)
    success: bool | None
    used: list[str] | None = Field(sa_type=EXACT_JSON)
    mistakes: list[str] = Field(sa_type=EXACT_JSON)
    metadata_: dict[str, Any] = Field(sa_column=Column("metadata", EXACT_JSON, nullable=False))
    sent_hash: str
    sender: UUID | None
    created_at: datetime = Field(sa_type=UtcDateTime)
    subject: str | None = Field(sa_type=Text)


class ItemRow(Base, table=True):
    __tablename__ = "item"
    __table_args__ = (
        _in_namespace(),
        Index(None, "namespace_id", "position", "id", "tenant_id"),
        Index(None, "merged_into", "tenant_id"),
        Index(None, "subject", "tenant_id", **_where_set("subject")),
        Index(None, "expires_at", "namespace_id", **_where_set("expires_at")),
    )

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    namespace_id: int
    position: int = Field(sa_type=POSITION)
    kind: str
    title: str = Field(sa_type=Text)
    status: str
    head: UUID
    merged_into: UUID | None
    created_at: datetime = Field(sa_type=UtcDateTime)
    subject: str | None = Field(sa_type=Text)
    expires_at: datetime | None = Field(sa_type=UtcDateTime)


class VersionRow(Base, table=True):
    """`entity` is the normal form of the entity that a fact is about."""

    __tablename__ = "version"
    __table_args__ = (
        _in_namespace(),
        ForeignKeyConstraint(["item_id", "tenant_id"], ["item.id", "item.tenant_id"]),
        Index(None, "item_id", "tenant_id", "number"),
        Index(None, "content_hash", "tenant_id"),
        Index(None, "namespace_id", "entity", **_where_set("entity")),
        Index(None, "session", "namespace_id", "ordinal", **_where_set("session")),
    )

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    namespace_id: int
    position: int = Field(sa_type=POSITION)
    item_id: UUID
    number: int
    title: str = Field(sa_type=Text)
    body_type: str
    body: dict[str, Any] = Field(sa_type=EXACT_JSON)
    content_hash: str
    valid_from: datetime = Field(sa_type=UtcDateTime)
    valid_to: datetime | None = Field(sa_type=UtcDateTime)
    recorded_at: datetime = Field(sa_type=UtcDateTime)
    parent: UUID | None
    method: str
    sources: list[dict[str, Any]] = Field(sa_type=EXACT_JSON)
    task_type: str | None
    metadata_: dict[str, Any] = Field(sa_column=Column("metadata", EXACT_JSON, nullable=False))
    entity: str | None = Field(sa_type=Text)
    session: UUID | None
    ordinal: int | None
    speaker: str | None = Field(sa_type=Text)
    context: str | None = Field(sa_type=Text)
    closed_at: datetime | None = Field(sa_type=UtcDateTime)


class EvidenceRow(Base, table=True):
    __tablename__ = "evidence"
    __table_args__ = (
        _in_namespace(),
        Index(None, "subject", "tenant_id", "context", "seq"),
        Index(None, "cause", "tenant_id"),
        Index(None, "retracts", "tenant_id", **_where_set("retracts")),
    )

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    namespace_id: int
    position: int = Field(sa_type=POSITION)
    subject: UUID
    context: str
    seq: int
    event: str
    value: float = Field(sa_type=Double)
    weight: float = Field(sa_type=Double)
    recorded_at: datetime = Field(sa_type=UtcDateTime)
    source: str
    cause: UUID | None
    retracts: UUID | None


class BeliefRow(Base, table=True):
    """The fold over a subject's evidence in one context. `pieces` counts the evidence that it
    was folded from (a belief without any is as if absent); `last_seq` only ever rises, so that
    evidence which an undo took away and a redo brings back meets nobody in its place."""

    __tablename__ = "belief"
    __table_args__ = (_in_namespace(),)

    subject: UUID = Field(primary_key=True)
    context: str = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    namespace_id: int
    successes: float = Field(sa_type=Double)
    failures: float = Field(sa_type=Double)
    outcomes: int
    last: datetime | None = Field(sa_type=UtcDateTime)
    pieces: int
    last_seq: int
    mentions: int


class PolicyRow(Base, table=True):
    __tablename__ = "policy"
    __table_args__ = (_in_namespace(), Index(None, "namespace_id", "role", "state"))

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    namespace_id: int
    position: int = Field(sa_type=POSITION)
    role: str
    kind: str
    state: str
    share: float = Field(sa_type=Double)
    manifest: dict[str, Any] = Field(sa_type=EXACT_JSON)
    weights_hash: str
    created_at: datetime = Field(sa_type=UtcDateTime)
    since: datetime = Field(sa_type=UtcDateTime)
    reason: str = Field(sa_type=Text)
    previous: UUID | None
    baseline: list[float] = Field(sa_type=EXACT_JSON)


class ExplorationRow(Base, table=True):
    """How a namespace explores; its id derives from namespace and role."""

    __tablename__ = "exploration"
    __table_args__ = (_in_namespace(),)

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    namespace_id: int
    position: int = Field(sa_type=POSITION)
    role: str
    mode: str
    temperature: float = Field(sa_type=Double)
    share: float = Field(sa_type=Double)
    exposure_slots: int


class NamespaceSettingsRow(Base, table=True):
    """How a namespace keeps its memory; its id derives from the namespace."""

    __tablename__ = "namespace_settings"
    __table_args__ = (_in_namespace(),)

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    namespace_id: int
    position: int = Field(sa_type=POSITION)
    half_life_days: float | None = Field(sa_type=Double)
    most_items: int | None
    secrets: bool
    personal_data: bool
    consolidate_every_writes: int | None
    consolidate_every_hours: float | None = Field(sa_type=Double)
    consolidate_when_idle_minutes: float | None = Field(sa_type=Double)
    time_zone: str


# --- the log -----------------------------------------------------------------------------


class ChangeRow(Base, table=True):
    __tablename__ = "change"
    __table_args__ = (Unique("id", "tenant_id"), Index(None, "tenant_id", "position"))

    position: int = Field(
        sa_column=Column("position", POSITION, primary_key=True, autoincrement=False)
    )
    id: UUID
    tenant_id: UUID = Field(foreign_key="tenant.id")
    verb: str
    actor: UUID
    reason: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcDateTime)
    before_hash: str
    after_hash: str
    rows: int
    undoes: UUID | None
    undone_by: UUID | None
    operation: UUID | None


class RowChangeRow(Base, table=True):
    """What a change did to one row. `owner_id` is the item of a version and else the row itself,
    so that the history of an item holds that of its versions."""

    __tablename__ = "row_change"
    __table_args__ = (
        Index(None, "row_id", "tenant_id"),
        Index(None, "owner_id", "tenant_id"),
        Index(None, "namespace_id", "position", "tenant_id"),
    )

    position: int = Field(sa_type=POSITION, primary_key=True, foreign_key="change.position")
    ordinal: int = Field(primary_key=True)
    tenant_id: UUID
    table_name: str
    row_id: UUID
    owner_id: UUID
    action: str
    namespace_id: int = Field(foreign_key="namespace.id")
    before: dict[str, Any] | None = Field(sa_type=EXACT_JSON)
    after_hash: str | None


# --- plain rows: never undone ------------------------------------------------------------


class DecisionRow(Base, table=True):
    """`features` holds the candidates' features as compressed float64, one after another.
    `namespace_id` is the first of `namespaces`, whose policy decided."""

    __tablename__ = "decision"
    __table_args__ = (
        Index(None, "trajectory_id", "tenant_id"),
        Index(None, "namespace_id", "created_at", "id"),
        Index(None, "created_at", "tenant_id", "id"),
    )

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True, foreign_key="tenant.id")
    namespace_id: int
    namespaces: list[int] = Field(sa_type=EXACT_JSON)
    verb: str
    query: str = Field(sa_type=Text)
    task_type: str | None
    trajectory_id: UUID | None
    schema_: int = Field(sa_column=Column("schema", Integer, nullable=False))
    policy: str
    candidates: list[list[Any]] = Field(sa_type=EXACT_JSON)
    features: bytes
    asked_by: UUID | None
    k: int
    explored: bool
    temperature: float = Field(sa_type=Double)
    exposure_slots: int
    encoder: str
    query_vector: bytes | None
    shadows: list[list[Any]] | None = Field(sa_type=EXACT_JSON)
    created_at: datetime = Field(sa_type=UtcDateTime)
    choice: dict[str, Any] | None = Field(sa_type=EXACT_JSON)


class OperationRow(Base, table=True):
    __tablename__ = "operation"
    __table_args__ = (
        _in_namespace(),
        Index(None, "tenant_id", "created_at", "id"),
        Index(None, "state"),
    )

    id: UUID = Field(primary_key=True)
    tenant_id: UUID
    namespace_id: int
    verb: str
    params: dict[str, Any] = Field(sa_type=EXACT_JSON)
    state: str
    requested_by: UUID
    created_at: datetime = Field(sa_type=UtcDateTime)
    updated_at: datetime = Field(sa_type=UtcDateTime)
    progress: dict[str, Any] = Field(sa_type=EXACT_JSON)
    steps_done: list[str] = Field(sa_type=EXACT_JSON)
    report: dict[str, Any] | None = Field(sa_type=EXACT_JSON)
    error: str | None = Field(sa_type=Text)
    change_id: UUID | None
    attempt: int


class IdempotencyRow(Base, table=True):
    __tablename__ = "idempotency"
    __table_args__ = (Index(None, "created_at"),)

    tenant_id: UUID = Field(primary_key=True, foreign_key="tenant.id")
    route: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    body_hash: str
    status: int
    body: dict[str, Any] = Field(sa_type=EXACT_JSON)
    created_at: datetime = Field(sa_type=UtcDateTime)


class SessionRow(Base, table=True):
    """The working memory of one conversation or run; `events` counts those it has, `summary` is
    the item that was made of it at its end."""

    __tablename__ = "session"
    __table_args__ = (
        _in_namespace(),
        Index(None, "namespace_id", "created_at", "id"),
        Index(None, "subject", "tenant_id", **_where_set("subject")),
    )

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    namespace_id: int
    agent: str
    subject: str | None = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcDateTime)
    updated_at: datetime = Field(sa_type=UtcDateTime)
    ended_at: datetime | None = Field(sa_type=UtcDateTime)
    events: int
    summary: UUID | None


class SessionEventRow(Base, table=True):
    __tablename__ = "session_event"
    __table_args__ = (
        _in_namespace(),
        ForeignKeyConstraint(["session_id", "tenant_id"], ["session.id", "session.tenant_id"]),
    )

    session_id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    namespace_id: int
    kind: str
    payload: dict[str, Any] = Field(sa_type=EXACT_JSON)
    at: datetime = Field(sa_type=UtcDateTime)


class SealedRow(Base, table=True):
    """What privacy took out of a text: encrypted, and found by the digest of what it was."""

    __tablename__ = "sealed"
    __table_args__ = (
        _in_namespace(),
        Index(None, "digest", "tenant_id"),
        Index(None, "subject", "tenant_id", **_where_set("subject")),
    )

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    namespace_id: int
    type: str
    digest: str
    data: bytes
    subject: str | None = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcDateTime)


class ServerSecretRow(Base, table=True):
    """What the server makes once and must find again, such as the key of placeholders."""

    __tablename__ = "server_secret"

    name: str = Field(primary_key=True)
    data: bytes


class ErasureRow(Base, table=True):
    """That a person was erased, and how much went; the person is named by a digest only."""

    __tablename__ = "erasure"
    __table_args__ = (Index(None, "tenant_id", "created_at", "id"),)

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(foreign_key="tenant.id")
    digest: str
    created_at: datetime = Field(sa_type=UtcDateTime)
    report: dict[str, Any] = Field(sa_type=EXACT_JSON)


class ModelUseRow(Base, table=True):
    """Tokens and calls of chat models that a tenant has used on one day (UTC, `YYYY-MM-DD`)."""

    __tablename__ = "model_use"

    tenant_id: UUID = Field(primary_key=True, foreign_key="tenant.id")
    day: str = Field(primary_key=True)
    tokens: int = Field(sa_type=POSITION)
    calls: int


class VectorRow(Base, table=True):
    __tablename__ = "vector"

    hash: str = Field(primary_key=True)
    fingerprint: str = Field(primary_key=True)
    data: bytes


class PolicyWeightsRow(Base, table=True):
    """The weights of policies, in the safetensors format, by their SHA-256."""

    __tablename__ = "policy_weights"

    hash: str = Field(primary_key=True)
    data: bytes


class MarkRow(Base, table=True):
    __tablename__ = "mark"

    name: str = Field(primary_key=True)
    position: int = Field(sa_type=POSITION)
    fingerprint: str


def _table(model: type[Base]) -> Table:
    return cast(Table, model.__table__)  # type: ignore[attr-defined]


TENANT = _table(TenantRow)
API_KEY = _table(KeyRow)
NAMESPACE = _table(NamespaceRow)
TRAJECTORY = _table(TrajectoryRow)
ITEM = _table(ItemRow)
VERSION = _table(VersionRow)
EVIDENCE = _table(EvidenceRow)
BELIEF = _table(BeliefRow)
POLICY = _table(PolicyRow)
EXPLORATION = _table(ExplorationRow)
NAMESPACE_SETTINGS = _table(NamespaceSettingsRow)
CHANGE = _table(ChangeRow)
ROW_CHANGE = _table(RowChangeRow)
DECISION = _table(DecisionRow)
OPERATION = _table(OperationRow)
IDEMPOTENCY = _table(IdempotencyRow)
SESSION = _table(SessionRow)
SESSION_EVENT = _table(SessionEventRow)
SEALED = _table(SealedRow)
SERVER_SECRET = _table(ServerSecretRow)
ERASURE = _table(ErasureRow)
MODEL_USE = _table(ModelUseRow)
VECTOR = _table(VectorRow)
POLICY_WEIGHTS = _table(PolicyWeightsRow)
MARK = _table(MarkRow)
