"""Content: written only through the change log, but for beliefs, which follow from it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Column,
    Double,
    ForeignKeyConstraint,
    Index,
    Text,
)
from sqlmodel import Field

from memserver.storage.sql.tables.base import Base, in_namespace, table_of, where_set
from memserver.storage.sql.types import EXACT_JSON, POSITION, UtcDateTime


class TrajectoryRow(Base, table=True):
    __tablename__ = "trajectory"
    __table_args__ = (
        in_namespace(),
        Index(None, "namespace_id", "position", "id", "tenant_id"),
        Index(None, "goal_hash", "tenant_id"),
        Index(None, "template_hash", "tenant_id"),
        Index(None, "subject", "tenant_id", **where_set("subject")),
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
        in_namespace(),
        Index(None, "namespace_id", "position", "id", "tenant_id"),
        Index(None, "merged_into", "tenant_id"),
        Index(None, "subject", "tenant_id", **where_set("subject")),
        Index(None, "expires_at", "namespace_id", **where_set("expires_at")),
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
        in_namespace(),
        ForeignKeyConstraint(["item_id", "tenant_id"], ["item.id", "item.tenant_id"]),
        Index(None, "item_id", "tenant_id", "number"),
        Index(None, "content_hash", "tenant_id"),
        Index(None, "namespace_id", "entity", **where_set("entity")),
        Index(None, "session", "namespace_id", "ordinal", **where_set("session")),
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
        in_namespace(),
        Index(None, "subject", "tenant_id", "context", "seq"),
        Index(None, "cause", "tenant_id"),
        Index(None, "retracts", "tenant_id", **where_set("retracts")),
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
    __table_args__ = (in_namespace(),)

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
    __table_args__ = (in_namespace(), Index(None, "namespace_id", "role", "state"))

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
    __table_args__ = (in_namespace(),)

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
    __table_args__ = (in_namespace(),)

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
    admission: str
    allowed_tools: list[str] | None = Field(sa_type=EXACT_JSON)
    frozen: bool


TRAJECTORY = table_of(TrajectoryRow)
ITEM = table_of(ItemRow)
VERSION = table_of(VersionRow)
EVIDENCE = table_of(EvidenceRow)
BELIEF = table_of(BeliefRow)
POLICY = table_of(PolicyRow)
EXPLORATION = table_of(ExplorationRow)
NAMESPACE_SETTINGS = table_of(NamespaceSettingsRow)
