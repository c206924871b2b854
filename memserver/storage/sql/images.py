"""Row images: a content row as JSON, to be hashed, logged, and put back by an undo."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Table, Uuid

from memserver.domain.changes import RowRef
from memserver.storage.sql.types import UtcDateTime, canonical_json

Image = dict[str, Any]

# Columns that came after images of their tables were first logged, with what rows had in them that
# were there before. They are in an image only where they hold something else, so that such a row
# hashes as it did before there were such columns.
LATER: dict[str, dict[str, Any]] = {
    "trajectory": {"subject": None},
    "item": dict.fromkeys(("subject", "expires_at")),
    "version": dict.fromkeys(
        ("entity", "session", "ordinal", "speaker", "context", "closed_at"), None
    ),
    "namespace_settings": {"admission": "none", "allowed_tools": None, "frozen": False},
}
_NONE: dict[str, Any] = {}
_TENANT = "tenant_id"


def to_image(table: Table, row: Mapping[str, Any]) -> Image:
    """Every column but the tenant, which the log itself carries."""
    later = LATER.get(table.name, _NONE)
    return {
        name: _plain(row[name])
        for name in table.c.keys()  # noqa: SIM118
        if name != _TENANT and not (name in later and row[name] == later[name])
    }


def from_image(table: Table, image: Image, tenant: UUID) -> dict[str, Any]:
    """The row that `to_image` was given."""
    row: dict[str, Any] = {_TENANT: tenant, **LATER.get(table.name, _NONE)}
    for name, value in image.items():
        column = table.c[name]
        if value is not None and isinstance(column.type, Uuid):
            value = UUID(value)
        elif value is not None and isinstance(column.type, UtcDateTime):
            value = datetime.fromisoformat(value)
        row[name] = value
    return row


def image_hash(image: Image) -> str:
    return _sha256(canonical_json(image))


def state_hash(rows: Iterable[tuple[RowRef, str | None]]) -> str:
    """One hash over the states of many rows, in whatever order they come; None is a row that
    is not there."""
    lines = sorted([ref.table.value, str(ref.id), row_hash] for ref, row_hash in rows)
    return _sha256(canonical_json(lines))


def _plain(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"A time without an offset cannot be stored: {value.isoformat()}")
        return value.astimezone(UTC).isoformat()
    return value


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
