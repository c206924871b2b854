"""Privacy's ports: what puts placeholders in the place of secrets, and what the store keeps of
secrets and of erasures."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar
from uuid import UUID

from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.scope import Namespace, Scope

T = TypeVar("T")

VectorNames = Callable[[str], Sequence[str]]
"""The names under which the store keeps the vectors of an indexed text."""


@dataclass(frozen=True, slots=True)
class Looking:
    """What is looked for in a text."""

    secrets: bool = True
    personal_data: bool = False

    def __or__(self, other: "Looking") -> "Looking":
        return Looking(
            secrets=self.secrets or other.secrets,
            personal_data=self.personal_data or other.personal_data,
        )


@dataclass(frozen=True, slots=True)
class Original:
    """What a placeholder stands for: named by its digest, `data` encrypted."""

    digest: str
    type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Protected:
    """A value as it may be stored, and the originals to keep beside it, none where originals are
    not kept."""

    value: Any
    originals: tuple[Original, ...] = ()


Known = dict[str, str]
"""Texts that were looked at, with what was made of them."""


class Protector(Protocol):
    """Puts placeholders in the place of what must not be stored. The same text gives the same
    placeholder in one tenant, so that equal things stay equal."""

    def protect(self, value: Any, tenant: UUID, looking: Looking, known: Known) -> Protected:
        """The value with every text in it protected, of the same type; itself where there was
        nothing. A text in `known` is not looked at again; what is, is noted there."""


@dataclass(frozen=True, slots=True)
class Erasing:
    """A person to be erased: by the digest of tenant and subject, in the namespaces that the
    pattern reaches. `actor` is the key that asked."""

    tenant: UUID
    digest: str
    pattern: str
    actor: UUID
    operation: UUID | None = None


@dataclass(frozen=True, slots=True)
class Erasure:
    """That a person was erased: who, by digest, and what went."""

    id: UUID
    tenant: UUID
    digest: str
    created_at: datetime
    pattern: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Compacted:
    """`left` says what the store could not do itself and an operator has to see to, None where
    nothing is left."""

    left: str | None = None


def subject_digest(tenant: UUID, subject: str) -> str:
    """SHA-256 over tenant and subject: how an erasure names a person without telling who."""
    return hashlib.sha256(f"{tenant}\0{subject}".encode()).hexdigest()


class PrivacyReader(Protocol):
    def protected(self, namespaces: Sequence[Namespace], value: T) -> T:
        """The value as it may be stored in these namespaces, by the strictest of their settings.
        Whoever compares something with what is stored, or looks for it, does so with this."""

    def originals(
        self, scope: Scope, namespaces: Sequence[str], digests: Sequence[str]
    ) -> dict[tuple[str, str], bytes]:
        """By namespace path and digest what was sealed there, within the scope's reach."""

    def server_secret(self, name: str) -> bytes | None: ...
    def sealed_data(self, after: UUID | None, limit: int) -> Sequence[tuple[UUID, bytes]]:
        """Of all tenants, by id."""

    def erasures(self, tenant: UUID, page: PageRequest) -> Page[Erasure]:
        """Newest first."""


class PrivacyWriter(Protocol):
    def put_server_secret(self, name: str, data: bytes) -> None: ...
    def put_sealed_data(self, data: Mapping[UUID, bytes]) -> None: ...
    def erase(self, erasing: Erasing, vector_names: VectorNames) -> Erasure:
        """Removes all content of the person from every table, as one change that cannot be
        undone, and notes that it did."""
