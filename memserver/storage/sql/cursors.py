"""Cursors of paged lists: opaque to callers, checked when they come back."""

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from memserver.domain.errors import InvalidCursor
from memserver.domain.ports.paging import Page, PageRequest

R = TypeVar("R")
Part = int | str | UUID | datetime
_LARGEST = 2**63 - 1


def encode(of: str, *parts: Part) -> str:
    """A cursor of the list named `of`."""
    text = json.dumps([of, *(_plain(part) for part in parts)], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(cursor: str, of: str, *types: type[Part]) -> tuple[Any, ...]:
    """The parts that `encode` was given. `InvalidCursor` unless it was this list's."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        name, *parts = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if name != of or len(parts) != len(types):
            raise InvalidCursor
        return tuple(_parse(part, kind) for part, kind in zip(parts, types, strict=True))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidCursor from error


def page(found: list[R], request: PageRequest, cursor_of: Callable[[R], str]) -> Page[R]:
    """The page of rows that a query for one more than the limit found."""
    rows = found[: request.limit]
    more = len(found) > request.limit
    return Page(tuple(rows), cursor_of(rows[-1]) if more and rows else None)


def _plain(part: Part) -> int | str:
    if isinstance(part, datetime):
        return part.isoformat()
    return str(part) if isinstance(part, UUID) else part


def _parse(part: Any, kind: type[Part]) -> Part:
    if kind is int:
        if type(part) is not int or not 0 <= part <= _LARGEST:
            raise InvalidCursor
        return part
    if not isinstance(part, str) or "\0" in part:
        raise InvalidCursor
    if kind is UUID:
        return UUID(part)
    if kind is datetime:
        time = datetime.fromisoformat(part)
        if time.tzinfo is None:
            raise InvalidCursor
        return time.astimezone(UTC)
    part.encode()  # half a surrogate pair is a ValueError here, and no text to the database
    return part
