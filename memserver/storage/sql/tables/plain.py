"""Plain rows: never undone."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Column,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    Text,
)
from sqlmodel import Field

from memserver.storage.sql.tables.base import Base, in_namespace, table_of, where_set
from memserver.storage.sql.types import EXACT_JSON, POSITION, UtcDateTime


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
        in_namespace(),
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
        in_namespace(),
        Index(None, "namespace_id", "created_at", "id"),
        Index(None, "subject", "tenant_id", **where_set("subject")),
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
        in_namespace(),
        ForeignKeyConstraint(["session_id", "tenant_id"], ["session.id", "session.tenant_id"]),
    )

    session_id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    namespace_id: int
    kind: str
    payload: dict[str, Any] = Field(sa_type=EXACT_JSON)
    at: datetime = Field(sa_type=UtcDateTime)


class PracticeGoalRow(Base, table=True):
    """A goal that was made up to be practised on; `trajectory` is the run that decided it, which is
    stored only where it was accepted."""

    __tablename__ = "practice_goal"
    __table_args__ = (
        in_namespace(),
        Index(None, "namespace_id", "created_at", "id"),
        Index(None, "trajectory", "tenant_id", **where_set("trajectory")),
    )

    id: UUID = Field(primary_key=True)
    tenant_id: UUID = Field(primary_key=True)
    namespace_id: int
    goal: str = Field(sa_type=Text)
    task_type: str | None
    environment: str | None
    template: str = Field(sa_type=Text)
    slots: dict[str, str] = Field(sa_type=EXACT_JSON)
    why: dict[str, Any] = Field(sa_type=EXACT_JSON)
    state: str
    refusal: str | None
    reason: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcDateTime)
    decided_at: datetime | None = Field(sa_type=UtcDateTime)
    trajectory: UUID | None
    sent_hash: str


class SealedRow(Base, table=True):
    """What privacy took out of a text: encrypted, and found by the digest of what it was."""

    __tablename__ = "sealed"
    __table_args__ = (
        in_namespace(),
        Index(None, "digest", "tenant_id"),
        Index(None, "subject", "tenant_id", **where_set("subject")),
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


DECISION = table_of(DecisionRow)
OPERATION = table_of(OperationRow)
IDEMPOTENCY = table_of(IdempotencyRow)
SESSION = table_of(SessionRow)
SESSION_EVENT = table_of(SessionEventRow)
PRACTICE_GOAL = table_of(PracticeGoalRow)
SEALED = table_of(SealedRow)
SERVER_SECRET = table_of(ServerSecretRow)
ERASURE = table_of(ErasureRow)
MODEL_USE = table_of(ModelUseRow)
VECTOR = table_of(VectorRow)
POLICY_WEIGHTS = table_of(PolicyWeightsRow)
MARK = table_of(MarkRow)
