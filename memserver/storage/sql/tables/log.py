"""The change log."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Column,
    Index,
    Text,
)
from sqlalchemy import UniqueConstraint as Unique
from sqlmodel import Field

from memserver.storage.sql.tables.base import Base, table_of
from memserver.storage.sql.types import EXACT_JSON, POSITION, UtcDateTime


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


CHANGE = table_of(ChangeRow)
ROW_CHANGE = table_of(RowChangeRow)
