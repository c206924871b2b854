"""Where a search through stored texts goes on: opaque to callers, checked when it comes back."""

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from memserver.domain.errors import InvalidCursor
from memserver.domain.ports.corpus import Place

LARGEST = 2**63 - 1


class Stage(StrEnum):
    """What is gone through, in this order."""

    ITEMS = "items"
    RUNS = "runs"
    SESSIONS = "sessions"


STAGES = tuple(Stage)


@dataclass(frozen=True, slots=True)
class Mark:
    """All before this was searched. `last` is the last text that was begun, by its place or, of
    a session, by when it began; of that text the lines up to `line` are done (a session's up to
    `line` of the event `event`), or, where `line` is None, all."""

    stage: Stage = Stage.ITEMS
    last: tuple[int | datetime, UUID] | None = None
    line: int | None = None
    event: int = 0

    @property
    def place(self) -> Place | None:
        if self.last is None or isinstance(self.last[0], datetime):
            return None
        return Place(self.last[0], self.last[1])

    @property
    def began(self) -> tuple[datetime, UUID] | None:
        if self.last is None or not isinstance(self.last[0], datetime):
            return None
        return self.last[0], self.last[1]


def encode(mark: Mark) -> str:
    last = None
    if mark.last is not None:
        at, row_id = mark.last
        last = [at.isoformat() if isinstance(at, datetime) else at, str(row_id)]
    text = json.dumps(["grep", mark.stage, last, mark.line, mark.event], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(cursor: str) -> Mark:
    """`InvalidCursor` unless `encode` made it."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        parts = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        name, stage, last, line, event = parts
        if name != "grep" or not (line is None or _is_count(line)) or not _is_count(event):
            raise InvalidCursor
        return Mark(Stage(stage), _last(Stage(stage), last), line, event)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidCursor from error


def _last(stage: Stage, parts: object) -> tuple[int | datetime, UUID] | None:
    if parts is None:
        return None
    if not isinstance(parts, list) or len(parts) != 2 or not isinstance(parts[1], str):
        raise InvalidCursor
    row_id = UUID(parts[1])
    if stage is not Stage.SESSIONS:
        if not _is_count(parts[0]):
            raise InvalidCursor
        return parts[0], row_id
    if not isinstance(parts[0], str):
        raise InvalidCursor
    began = datetime.fromisoformat(parts[0])
    if began.tzinfo is None:
        raise InvalidCursor
    return began.astimezone(UTC), row_id


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST
