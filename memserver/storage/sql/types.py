"""Column types that both databases must agree on: UTC time, exact JSON, 64-bit positions."""

import json
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Integer, String, TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time, stored as UTC. SQLite keeps no offset and gives naive times back, so that
    a naive time going in could mean anything: it is refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"A time without an offset cannot be stored: {value.isoformat()}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# PostgreSQL's `json` keeps the text as it was written; `jsonb` would turn 1e22 into an integer
# and -0.0 into 0.0, and the hash of the row would change under us.
EXACT_JSON: JSON = JSON(none_as_null=True)

# On SQLite only a column of the type INTEGER is the row id itself.
POSITION = BigInteger().with_variant(Integer(), "sqlite")

# Paths are compared and sorted byte by byte, whatever locale the database was made with.
PATH = String().with_variant(String(collation="C"), "postgresql")

# NaN is no JSON: PostgreSQL refuses it, SQLite would keep it as text that no other reads.
to_json = partial(json.dumps, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def canonical_json(value: Any) -> str:
    """One text for equal values: what hashes are taken over."""
    return to_json(value, sort_keys=True)
