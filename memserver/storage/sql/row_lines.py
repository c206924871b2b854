"""Rows as lines of JSON that mean the same to every database, for backups."""

import base64
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    Integer,
    LargeBinary,
    String,
    Table,
    TypeDecorator,
    Uuid,
)

from memserver.storage.sql.types import UtcDateTime, to_json

Change = Callable[[Any], Any]


class RowLines:
    """One table's rows: JSON objects by column name. What JSON has no form for becomes text: ids,
    times with their offset, bytes in base64. TypeError for a table with any other column."""

    def __init__(self, table: Table) -> None:
        self._names = [column.name for column in table.columns]
        # Most values are in JSON what they are in Python: only the others are looked at one by one.
        forms = [(name, _form(table.columns[name])) for name in self._names]
        self._changed = [(place, form) for place, (_, form) in enumerate(forms) if form]
        self._restored = [(name, form) for name, form in forms if form]

    def line(self, row: Sequence[Any]) -> bytes:
        """The row, by column order; without the line's end."""
        cells = list(row)
        for place, (to_text, _) in self._changed:
            if cells[place] is not None:
                cells[place] = to_text(cells[place])
        line: str = to_json(dict(zip(self._names, cells, strict=True)))
        return line.encode()

    def row(self, line: bytes) -> dict[str, Any]:
        """What `line` wrote, by column name. ValueError, KeyError or TypeError for what it did
        not write."""
        cells = json.loads(line)
        if not isinstance(cells, dict) or cells.keys() != set(self._names):
            raise ValueError("other columns")
        for name, (_, from_text) in self._restored:
            if cells[name] is not None:
                cells[name] = from_text(cells[name])
        return cells


def _form(column: Column[Any]) -> tuple[Change, Change] | None:
    kind = column.type
    if isinstance(kind, TypeDecorator) and not isinstance(kind, UtcDateTime):
        kind = kind.impl_instance
    match kind:
        case Uuid():
            return str, UUID
        case UtcDateTime():
            return datetime.isoformat, datetime.fromisoformat
        case LargeBinary():
            return _as_base64, _from_base64
        case JSON() | String() | Integer() | Float() | Boolean():
            return None
        case other:
            raise TypeError(f"{column} is {other!r}, which backups do not know")


def _as_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _from_base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
