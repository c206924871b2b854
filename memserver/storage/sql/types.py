"""Column types that both databases must agree on: UTC time, exact JSON, 64-bit positions."""

import json
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Integer, String, TypeDecorator
from sqlalchemy.types import TypeEngine


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time, kept as UTC. A naive time could mean anything: it is refused.

    SQLite has no type for times. There it is text of one width, which sorts as the times do and
    says its offset.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(32))
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"A time without an offset cannot be stored: {value.isoformat()}")
        utc = value.astimezone(UTC)
        return utc.isoformat(timespec="microseconds") if dialect.name == "sqlite" else utc

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        time: datetime = datetime.fromisoformat(value) if isinstance(value, str) else value
        return time if time.tzinfo is UTC else time.astimezone(UTC)


# PostgreSQL's `json` keeps the text as it was written; `jsonb` would turn 1e22 into an integer
# and -0.0 into 0.0, and the hash of the row would change under us.
EXACT_JSON: JSON = JSON(none_as_null=True)

# On SQLite only a column of the type INTEGER is the row id itself.
POSITION = BigInteger().with_variant(Integer(), "sqlite")

# Paths are compared and sorted byte by byte, whatever locale the database was made with.
PATH = String().with_variant(String(collation="C"), "postgresql")

# NaN is no JSON: PostgreSQL refuses it, SQLite would keep it as text that no other reads.
to_json = partial(json.dumps, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


_EMPTY: dict[str, type[list[Any]] | type[dict[str, Any]]] = {"[]": list, "{}": dict}
_decode = json.JSONDecoder().raw_decode


def from_json(text: str) -> Any:
    """What `to_json` wrote. Half of all JSON columns are empty, and hot reads have hundreds."""
    empty = _EMPTY.get(text)
    return _decode(text)[0] if empty is None else empty()


def canonical_json(value: Any) -> str:
    """One text for equal values: what hashes are taken over."""
    return to_json(value, sort_keys=True)
