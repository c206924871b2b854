"""How many tokens of a chat model each tenant has used, by day of UTC."""

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ModelUse:
    """`tokens` counts what is reserved for calls that have not ended as well."""

    tenant: UUID
    day: str
    tokens: int = 0
    calls: int = 0


class ModelUseReads(Protocol):
    def model_use(self, tenant: UUID, day: str) -> ModelUse:
        """Zero where there was none."""


class ModelUseWrites(Protocol):
    def reserve_model_tokens(self, tenant: UUID, day: str, tokens: int, *, most: int) -> bool:
        """Counts a call and its tokens, where the day's then stay at or below `most`; otherwise
        changes nothing and says False."""

    def settle_model_tokens(self, tenant: UUID, day: str, *, reserved: int, spent: int) -> None:
        """Puts what a call did spend in place of what was reserved for it."""
