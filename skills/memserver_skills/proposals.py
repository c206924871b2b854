"""What a distiller hands back: items that do not exist yet, and the names by which the same
thing is known when it is distilled again."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

from memserver.domain.items import Body, Kind, Source


@dataclass(frozen=True, slots=True)
class Proposal:
    """A would-be item.

    `signature` names the thing within its namespace and `method`: a proposal with a known
    signature is a new version of that item, not a second item. `aliases` are signatures that
    the thing would have had if fewer or other runs had been seen; an item known under one of
    them is the same thing.
    """

    signature: str
    kind: Kind
    title: str
    body: Body
    method: str
    sources: tuple[Source, ...]
    task_type: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()


def signature(*parts: str) -> str:
    """A stable name for what `parts` identify: 32 hex digits of their SHA-256."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]
