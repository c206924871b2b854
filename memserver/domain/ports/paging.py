"""How lists are read: page by page."""

from dataclasses import dataclass
from typing import Generic, TypeVar

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """`cursor` is what the page before gave, opaque to callers. `InvalidCursor` if it is not."""

    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[R]):
    rows: tuple[R, ...]
    next_cursor: str | None = None
