"""The last member of a backup's archive: what the others must be for the archive to be whole."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from memserver.domain.errors import InvalidBackup

FORMAT = 1
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Member:
    """Some rows of one table: `rows` lines of JSON. `sha256` is the hex digest of its bytes."""

    name: str
    table: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """`version` is the server's that wrote it, `schema` the revision of its tables, `encoder` the
    fingerprint of what made the vectors (None where nothing was indexed yet), `position` the
    newest change's. `tables` names every table, also an empty one, which has no member."""

    version: str
    schema: str
    created_at: datetime
    encoder: str | None
    position: int
    tables: tuple[str, ...]
    members: tuple[Member, ...]

    @property
    def rows(self) -> Mapping[str, int]:
        """How many rows each table has."""
        counts: Counter[str] = Counter(dict.fromkeys(self.tables, 0))
        for member in self.members:
            counts[member.table] += member.rows
        return counts

    def to_json(self) -> bytes:
        told = {"format": FORMAT, **asdict(self), "created_at": self.created_at.isoformat()}
        told["rows"] = dict(self.rows)
        return json.dumps(told, indent=1).encode()

    @classmethod
    def from_json(cls, content: bytes) -> "Manifest":
        """Raises `InvalidBackup` for anything that `to_json` did not write."""
        try:
            told = json.loads(content)
            if told["format"] != FORMAT:
                raise InvalidBackup(f"its format is {told['format']!r}, this server reads {FORMAT}")
            return cls(
                version=_text(told["version"]),
                schema=_text(told["schema"]),
                created_at=_time(told["created_at"]),
                encoder=None if told["encoder"] is None else _text(told["encoder"]),
                position=_count(told["position"]),
                tables=tuple(_text(name) for name in told["tables"]),
                members=tuple(_member(each) for each in told["members"]),
            )
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidBackup(f"its {MANIFEST} cannot be read ({type(error).__name__})") from None


def _member(told: Any) -> Member:
    return Member(
        name=_text(told["name"]),
        table=_text(told["table"]),
        rows=_count(told["rows"]),
        sha256=_text(told["sha256"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(value)
    return value


def _time(value: Any) -> datetime:
    time = datetime.fromisoformat(_text(value))
    if time.tzinfo is None:
        raise ValueError("a time without an offset")
    return time
