"""One row as one line of JSON, always the same bytes for the same row: what hashes are taken of."""

import json
from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]


def line_of(row: Row) -> bytes:
    """Raises ValueError for NaN and infinity, which JSON does not have."""
    text = json.dumps(
        row, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return text.encode() + b"\n"
