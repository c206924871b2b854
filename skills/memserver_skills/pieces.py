"""What a piece of memory says, apart from where it is kept: the form in which what is to be
replaced and what would replace it are compared, whether they are stored yet or not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memserver.domain.items import Body, Entry

VALUES = "slot_values"
"""Under this key a version's metadata keeps what each slot of an abstracted skill stood for."""


@dataclass(frozen=True, slots=True)
class Piece:
    """`name` is how reasons call it, an item's id where there is one. `values` are the words that
    a slot stands for beside its example."""

    name: str
    title: str
    body: Body
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    valid_from: datetime | None = None
    valid_to: datetime | None = None


def piece_of(entry: Entry) -> Piece:
    version = entry.version
    return Piece(
        str(entry.item.id),
        version.title,
        version.body,
        values_of(version.metadata),
        version.valid_from,
        version.valid_to,
    )


def values_of(metadata: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The slots' values in a version's metadata; what people wrote there in another shape is
    no such thing."""
    held = metadata.get(VALUES)
    if not isinstance(held, dict):
        return {}
    return {
        name: tuple(value for value in said if isinstance(value, str))
        for name, said in held.items()
        if isinstance(name, str) and isinstance(said, list | tuple)
    }
