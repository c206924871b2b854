"""What a text was understood to say: the values that the rules of `facts` hand to the writer."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from memserver.domain.items import normal_name


class Span(NamedTuple):
    """Where in the text something was said: characters [start, end)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Stated:
    """A value of a key of an entity, in the words that were used. `correction` says that the
    sentence itself calls it a change; `valid_from` is set where the sentence dates it."""

    entity: str
    key: str
    value: str
    correction: bool
    valid_from: datetime | None
    span: Span


@dataclass(frozen=True, slots=True)
class Retracted:
    """A fact that no longer holds. Where `value` is set, only that value was said to have ended
    ("Ana's office is no longer B12"): a fact that has another value by now is not meant."""

    entity: str
    key: str
    span: Span
    value: str | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Understood:
    """Facts and retractions in the order said; `rest` holds every sentence, as it was written,
    that no fact and no retraction covers."""

    facts: tuple[Stated, ...] = ()
    rest: str = ""
    retractions: tuple[Retracted, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """Names that a namespace holds already, in their normal form (casenormal_name, one line): they
    decide where a sentence could be read in two ways, or would be too unsure to read at all."""

    entities: frozenset[str] = field(default_factory=frozenset)
    keys: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def of(cls, entities: Iterable[str] = (), keys: Iterable[str] = ()) -> "Known":
        """From names in any spelling."""
        return cls(frozenset(map(normal_name, entities)), frozenset(map(normal_name, keys)))

    def entity(self, name: str) -> bool:
        return normal_name(name) in self.entities

    def key(self, name: str) -> bool:
        return normal_name(name) in self.keys
