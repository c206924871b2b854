"""Keys and namespaces, health, and how a refusal looks."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints

from memserver.wire.base import Model, NamespacePath, NamespacePattern, ShortText

TenantName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]


class NewKey(Model):
    """Only the system key may name another tenant, which creates it. A key that `unseals` may see
    what privacy took out of texts; only the system key, or one that unseals, may make one."""

    role: Literal["admin", "writer", "reader"]
    grants: Annotated[list[NamespacePattern], Field(min_length=1, max_length=100)]
    tenant: TenantName | None = None
    label: ShortText = ""
    unseals: bool = False


class KeyCreated(Model):
    """`key` is the secret; it is shown once and never stored. A replayed request has it null."""

    id: UUID
    key: str | None
    role: str
    grants: list[str]
    tenant: str
    label: str
    unseals: bool = False


class Key(Model):
    id: UUID
    role: str
    grants: list[str]
    label: str
    created_at: AwareDatetime
    revoked_at: AwareDatetime | None
    unseals: bool = False


class NewNamespace(Model):
    path: NamespacePath


class Namespace(Model):
    path: str


class IndexHealth(Model):
    """`lag` counts changes that are durable and not yet searchable."""

    applied: int
    lag: int
    skipped: int
    problem: str | None = None
    missing: int | None = None
    orphans: int | None = None


class Ready(Model):
    """`stopped` names background parts that have died: the server must be started again.
    `missing` and `orphans` are counted only on `?audit=true` (an admin key is needed)."""

    ready: bool
    version: str
    stopped: list[str] = Field(default_factory=list)
    index: IndexHealth
    operations_unfinished: int
    decisions_dropped: int


class FieldError(Model):
    """Where in the request, and what is wrong there."""

    where: str
    what: str


class Problem(Model):
    """RFC 9457 problem document. `code` is stable; `detail` is for people."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[FieldError] = Field(default_factory=list)
    extra: dict[str, Any] = Field(default_factory=dict)
