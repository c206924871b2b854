"""Two kinds of time: when something held (valid time), and since when that is known here
(recorded time)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class Dated(Protocol):
    """What holds in [valid_from, valid_to), and is known since `recorded_at`."""

    @property
    def valid_from(self) -> datetime: ...
    @property
    def valid_to(self) -> datetime | None: ...
    @property
    def recorded_at(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class Ending:
    """When something ceases to hold (None: not at all), as it stands in the records since
    `closed_at` (None: since the thing itself was recorded)."""

    valid_to: datetime | None
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TimeFrame:
    """The moments that a question is about: all of [since, until), or `since` alone where `until`
    is None. `known_at` confines it to what was in the records by then."""

    since: datetime
    until: datetime | None = None
    known_at: datetime | None = None

    def admits(self, dated: Dated) -> bool:
        """Whether it held at some of these moments. Where `known_at` is set, its end has to be
        the one that stood in the records then."""
        if self.known_at is not None and dated.recorded_at > self.known_at:
            return False
        if self.until is None:
            return valid_at(dated, self.since)
        overlaps = dated.valid_from < self.until and _goes_on_after(dated, self.since)
        # What was corrected for all of its time is left with none.
        return overlaps and _goes_on_after(dated, dated.valid_from)


def valid_at(dated: Dated, moment: datetime) -> bool:
    """Whether it holds at that moment, by what is known now."""
    return dated.valid_from <= moment and _goes_on_after(dated, moment)


def known_end(endings: Sequence[Ending], known_at: datetime) -> datetime | None:
    """The end that stood in the records at `known_at`. `endings` are all that ever stood there, in
    the order in which they were written; one that was taken back is followed by what it had
    replaced."""
    known = [e for e in endings if e.closed_at is None or e.closed_at <= known_at]
    return known[-1].valid_to if known else None


def _goes_on_after(dated: Dated, moment: datetime) -> bool:
    return dated.valid_to is None or moment < dated.valid_to
