"""The graph that facts make: entities, what is known of each, and the entities that values name."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memserver.domain.items import Entry, FactBody, normal_name
from memserver.domain.ports import Clock, Page, PageRequest, Reader, Store
from memserver.domain.scope import Namespace, Scope

MOST_ENTITIES = 200
"""Entities that one walk visits."""


@dataclass(frozen=True, slots=True)
class Counted:
    """An entity in its namespace, with how many present facts are about it."""

    namespace: Namespace
    name: str
    facts: int


@dataclass(frozen=True, slots=True)
class Link:
    """A fact as an edge: from its entity over its key to its value. `leads_to` is the normal form
    of the value where that is an entity with facts of its own; `hop` counts from 1."""

    entry: Entry
    hop: int
    leads_to: str | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is reached from one entity, nearest first; `cut` says that there was more."""

    links: tuple[Link, ...]
    cut: bool


class Entities:
    def __init__(self, store: Store, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def list(
        self, scope: Scope, namespaces: Sequence[Namespace], page: PageRequest
    ) -> Page[Counted]:
        homes = {namespace.id: namespace for namespace in namespaces}
        with self._store.reading() as reader:
            found = reader.entities(scope, sorted(homes), page)
        return Page(
            tuple(Counted(homes[one.namespace_id], one.name, one.facts) for one in found.rows),
            found.next_cursor,
        )

    def around(self, scope: Scope, namespace: Namespace, name: str, *, hops: int) -> Surroundings:
        """The facts about an entity that hold at present, then those about the entities that their
        values name, and so on for `hops` steps; each entity once, so that a ring ends."""
        links: list[Link] = []
        frontier, seen = [normal_name(name)], {normal_name(name)}
        with self._store.reading() as reader:
            for hop in range(1, hops + 1):
                facts = _held(reader, scope, namespace, frontier, self._clock())
                named = _known(reader, scope, namespace, facts)
                links += [
                    Link(fact, hop, value if (value := _value(fact)) in named else None)
                    for fact in facts
                ]
                frontier = sorted(named - seen)
                if len(seen) + len(frontier) > MOST_ENTITIES:
                    return Surroundings(tuple(links), cut=True)
                seen |= named
                if not frontier:
                    break
        return Surroundings(tuple(links), cut=False)


def _held(
    reader: Reader, scope: Scope, namespace: Namespace, names: Sequence[str], now: datetime
) -> list[Entry]:
    found = reader.facts_about(scope, namespace, names)
    return [e for e in found if e.version.valid_to is None or e.version.valid_to > now]


def _known(
    reader: Reader, scope: Scope, namespace: Namespace, facts: Sequence[Entry]
) -> frozenset[str]:
    """Which of the values are names of entities of which something is known."""
    values = sorted({_value(fact) for fact in facts})
    about = reader.facts_about(scope, namespace, values) if values else ()
    return frozenset(normal_name(_body(entry).entity) for entry in about)


def _value(fact: Entry) -> str:
    return normal_name(_body(fact).value)


def _body(entry: Entry) -> FactBody:
    body = entry.version.body
    assert isinstance(body, FactBody)
    return body
