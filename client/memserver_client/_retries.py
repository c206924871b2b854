"""What is sent again after a failure, and after how long: decisions without a connection."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 10.0
LONGEST_RETRY_AFTER = 60.0
WORTH_ANOTHER_TRY = frozenset({429, 502, 503, 504})

# Raised before the first byte of a request leaves, so that the server cannot have acted on it.
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
# The request itself is at fault; it would fail in the same way each time.
HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)


@dataclass(frozen=True, slots=True)
class Retries:
    """Up to `most` further attempts after a connection error, a timeout, or the answers 429, 502,
    503 and 504, with exponential, jittered pauses, or the pause that `Retry-After` asks for.

    Both methods give the seconds to wait before the next attempt, or None where there is to be
    none; `attempt` counts those made. What is not `repeatable` gets another attempt only if no
    byte of it can have reached the server.
    """

    most: int
    uniform: Callable[[float, float], float] = random.uniform

    def after_failure(
        self, error: httpx.TransportError, *, attempt: int, repeatable: bool
    ) -> float | None:
        may_repeat = repeatable or isinstance(error, NEVER_SENT)
        if isinstance(error, HOPELESS) or not may_repeat or attempt > self.most:
            return None
        return self._pause(attempt)

    def after_refusal(
        self, status: int, *, retry_after: float | None, attempt: int, repeatable: bool
    ) -> float | None:
        too_long = retry_after is not None and retry_after > LONGEST_RETRY_AFTER
        passing = status in WORTH_ANOTHER_TRY and not too_long
        if not (passing and repeatable) or attempt > self.most:
            return None
        return self._pause(attempt) if retry_after is None else retry_after

    def _pause(self, attempt: int) -> float:
        """Between half and the whole of a pause that doubles with each attempt."""
        longest: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (attempt - 1))
        return self.uniform(longest / 2, longest)


def seconds_asked_for(retry_after: str, *, now: datetime) -> float | None:
    """Either form of the header `Retry-After`; None where it is absent or unreadable."""
    value = retry_after.strip()
    if value.isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - now).total_seconds())
