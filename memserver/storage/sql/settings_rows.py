"""Settings of namespaces to rows and back."""

from dataclasses import fields
from typing import Any

from sqlalchemy import Column

from memserver.domain.namespace_settings import NamespaceSettings
from memserver.storage.sql.tables import NAMESPACE_SETTINGS
from memserver.storage.sql.view import Cells, Names

_SET = tuple(
    field.name for field in fields(NamespaceSettings) if field.name not in ("id", "namespace")
)


def settings_row(value: NamespaceSettings) -> dict[str, Any]:
    """JSON knows no tuple."""
    cells = {name: getattr(value, name) for name in _SET}
    return {name: list(cell) if isinstance(cell, tuple) else cell for name, cell in cells.items()}


SETTINGS_COLUMNS: tuple[Column[Any], ...] = tuple(
    NAMESPACE_SETTINGS.c[name] for name in ("id", "namespace_id", *_SET)
)


def to_settings(cells: Cells, names: Names) -> NamespaceSettings:
    """From cells in the order of `SETTINGS_COLUMNS`."""
    row_id, namespace_id, *settings = cells
    held: list[Any] = [tuple(cell) if isinstance(cell, list) else cell for cell in settings]
    return NamespaceSettings(row_id, names[namespace_id], *held)
