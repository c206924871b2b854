"""Every text of a value, wherever it is: the one way in which privacy looks at what is stored."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, cast

from memserver.domain.items import FactBody
from memserver.domain.scope import Namespace

_KEPT = frozenset({"subject"})
"""A person is named as the sender names them, or erasure would not find them again."""

Change = Callable[[str], str]
ChangeNamed = Callable[[str, str], str]


class Walk:
    """`text` changes a text, `named` one that stands under a name (a field of JSON, the key of a
    fact), which says more about it than it does itself."""

    def __init__(self, text: Change, named: ChangeNamed) -> None:
        self._text = text
        self._named = named

    def __call__(self, value: Any) -> Any:
        """The value with its texts changed; the very same where none was. Ids, times, numbers and
        bytes stay, names of fields of JSON do not; a namespace's path is an address, no text."""
        # A member of an enumeration is a str as well, and nobody's words.
        if type(value) is str:
            return self._text(value)
        if isinstance(value, tuple | list):
            return self._sequence(value)
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, FactBody):
            return self._fact(value)
        if is_dataclass(value) and not isinstance(value, Namespace | type):
            return self._fields(value)
        return value

    def _sequence(self, value: tuple[Any, ...] | list[Any]) -> Any:
        parts = [self(part) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return type(value)(parts)

    def _mapping(self, value: Mapping[Any, Any]) -> Any:
        parts = {
            self(key): self._under(key, part) if type(key) is str else self(part)
            for key, part in value.items()
        }
        same = len(parts) == len(value) and all(
            key in value and value[key] is part for key, part in parts.items()
        )
        return value if same else parts

    def _under(self, name: str, part: Any) -> Any:
        """What stands under a name: a text, or the texts of a list. A number is no text; deeper
        down the nearest name counts."""
        if type(part) is str:
            return self._named(name, part)
        if type(part) is list:
            parts = [self._under(name, one) for one in part]
            return parts if any(a is not b for a, b in zip(parts, part, strict=True)) else part
        return self(part)

    def _fact(self, value: FactBody) -> FactBody:
        known = self._named(value.key, value.value)
        changed = FactBody(self(value.entity), self(value.key), known)
        return value if changed == value else changed

    def _fields(self, value: Any) -> Any:
        changed = {}
        for name in _names(cast(Hashable, type(value))):
            old = getattr(value, name)
            new = self(old)
            if new is not old:
                changed[name] = new
        return replace(value, **changed) if changed else value


@cache
def _names(kind: Hashable) -> tuple[str, ...]:
    assert isinstance(kind, type)
    return tuple(field.name for field in fields(kind) if field.init and field.name not in _KEPT)
