"""What becomes of the words in a row that leaves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memserver.services.exporting.redaction import redacted, redacted_value


@dataclass(frozen=True, slots=True)
class Wording:
    """`text` is for what people and agents wrote, `value` for JSON of any shape, `label` for
    short names (an agent's, a task type's), which tell rows apart."""

    text: Callable[[str], str]
    value: Callable[[dict[str, Any]], dict[str, Any]]
    label: Callable[[str], str]

    def label_or_none(self, name: str | None) -> str | None:
        return None if name is None else self.label(name)


def _as_it_is(text: str) -> str:
    return text


def _left_out(_: str) -> str:
    return ""


def _unchanged(value: dict[str, Any]) -> dict[str, Any]:
    return value


def _emptied(_: dict[str, Any]) -> dict[str, Any]:
    return {}


REDACTED = Wording(redacted, redacted_value, redacted)
AS_IT_IS = Wording(_as_it_is, _unchanged, _as_it_is)
WITHOUT_TEXT = Wording(_left_out, _emptied, redacted)
