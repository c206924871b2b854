"""Privacy's ports: what finds secrets in texts, what puts placeholders in their place, and what the
store keeps for both and of erasures."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar
from uuid import UUID

from memserver.domain.scope import Namespace, Scope

T = TypeVar("T")


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
    """What a placeholder stands for: named by its digest, `data` encrypted. `subject` is the
    person whose text it was taken from, where that is known."""

    digest: str
    type: str
    data: bytes
    namespace: Namespace
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Protected:
    """A value as it may be stored, and the originals to keep beside it, none where originals are
    not kept."""

    value: Any
    originals: tuple[Original, ...] = ()


class Protector(Protocol):
    """Puts placeholders in the place of what must not be stored. The same text gives the same
    placeholder in one tenant, so that equal things stay equal."""

    def protect(
        self, value: Any, tenant: UUID, looking: Looking, namespace: Namespace | None
    ) -> Protected:
        """The value with every text in it protected, of the same type; itself where there was
        nothing. Without a namespace originals are not kept."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """That a person was erased: who, by SHA-256 of tenant and subject, and what went."""

    id: UUID
    tenant: UUID
    digest: str
    created_at: datetime
    report: dict[str, Any]
