"""Tables of those who ask, and of how far they reach."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    Index,
)
from sqlalchemy import UniqueConstraint as Unique
from sqlmodel import Field

from memserver.storage.sql.tables.base import Base, table_of
from memserver.storage.sql.types import EXACT_JSON, PATH, UtcDateTime


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


TENANT = table_of(TenantRow)
API_KEY = table_of(KeyRow)
NAMESPACE = table_of(NamespaceRow)
