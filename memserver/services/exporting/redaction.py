"""Takes secrets and personal data of known shapes out of text that leaves."""

from collections.abc import Mapping
from typing import Any

from memserver.domain.ports.privacy import Looking
from memserver.services.privacy.detecting import find

EVERYTHING = Looking(secrets=True, personal_data=True)


def redacted(text: str) -> str:
    """The text with `[redacted:…]` where something had one of the shapes. In linear time."""
    pieces: list[str] = []
    done = 0
    for found in find(text, EVERYTHING):
        pieces += [text[done : found.start], f"[redacted:{found.tag}]"]
        done = found.end
    return "".join([*pieces, text[done:]]) if pieces else text


def redacted_value(value: Any) -> Any:
    """A JSON value with all its texts redacted, names of fields included."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {redacted(str(key)): redacted_value(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [redacted_value(part) for part in value]
    return value
