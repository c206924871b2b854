"""Who is asking and how far they reach: tenants, keys, roles, grants, namespaces."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

_SEGMENT = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
PATH = re.compile(rf"{_SEGMENT}(/{_SEGMENT})*")
PATH_LENGTH = 200
EVERYTHING = "**"


class Role(StrEnum):
    """What a key may do. `system` is the first key: an admin who may also create tenants."""

    SYSTEM = "system"
    ADMIN = "admin"
    WRITER = "writer"
    READER = "reader"


def is_path(text: str) -> bool:
    """Whether `text` names one namespace, such as `team/web-agent`."""
    return len(text) <= PATH_LENGTH and PATH.fullmatch(text) is not None


def is_pattern(text: str) -> bool:
    """Whether `text` names one namespace, a whole subtree (`team/**`) or everything (`**`)."""
    return text == EVERYTHING or is_path(text.removesuffix("/**"))


def covers(pattern: str, path: str) -> bool:
    """Whether `pattern` reaches `path`. `team/**` reaches `team` itself and all below it,
    never `team-two`; case matters."""
    if pattern == EVERYTHING:
        return True
    root = pattern.removesuffix("/**")
    return path == root or (root != pattern and path.startswith(root + "/"))


def contains(outer: str, inner: str) -> bool:
    """Whether the pattern `outer` reaches all that the pattern `inner` does."""
    if outer in (EVERYTHING, inner):
        return True
    return (
        inner != EVERYTHING and outer.endswith("/**") and covers(outer, inner.removesuffix("/**"))
    )


@dataclass(frozen=True, slots=True)
class Tenant:
    """The isolation boundary: every row and every index point carries one."""

    id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class Namespace:
    """A path inside a tenant. `id` is the surrogate that the index filters by; a namespace is
    never renamed or removed, so the pair may be cached."""

    id: int
    tenant: UUID
    path: str


@dataclass(frozen=True, slots=True)
class Key:
    """An API key as stored: only the SHA-256 hex digest of its secret is kept. One that `unseals`
    may see what privacy took out of texts."""

    id: UUID
    tenant: UUID
    digest: str
    role: Role
    grants: tuple[str, ...]
    label: str
    created_at: datetime
    revoked_at: datetime | None = None
    unseals: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """One caller's reach. Every query takes one, so a query without it cannot be written."""

    tenant: UUID
    key: UUID
    role: Role
    grants: tuple[str, ...]
    unseals: bool = False

    @property
    def may_administer(self) -> bool:
        return self.role in (Role.SYSTEM, Role.ADMIN)

    def may_read(self, path: str) -> bool:
        return any(covers(grant, path) for grant in self.grants)

    def may_write(self, path: str) -> bool:
        return self.role is not Role.READER and self.may_read(path)
