"""What a grep is asked."""

from dataclasses import dataclass
from datetime import datetime

from memserver.domain.items import Kind
from memserver.services.grepping.pattern import Pattern

RUN = "trajectory"
SESSION = "session"
GREPPED = (*(kind.value for kind in Kind), RUN, SESSION)


@dataclass(frozen=True, slots=True)
class Grep:
    """One search. Texts were said in [since, until); `before` and `after` count lines."""

    pattern: Pattern
    namespaces: tuple[str, ...]
    kinds: tuple[str, ...] = GREPPED
    before: int = 0
    after: int = 0
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 100
    cursor: str | None = None
