"""Which items go when a namespace is to hold no more than so many."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memserver.domain.forgetting import keeping
from memserver.domain.items import Kind, Turn
from memserver_skills.plans import Rated


@dataclass(frozen=True, slots=True)
class Eviction:
    item: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class Evictions:
    """What goes, least worth keeping first. `short` is by how many items the bound is missed all
    the same, since what is left are sources of what is kept."""

    gone: tuple[Eviction, ...]
    short: int = 0


def evictions(
    bank: Sequence[Rated], *, most: int, now: datetime, half_life_days: float | None
) -> Evictions:
    """Brings the active items down to `most`. What a live item names as its source stays as long
    as that item does."""
    too_many = len(bank) - most
    if too_many <= 0:
        return Evictions(())
    worth = {
        rated.item: keeping(
            rated.belief,
            rated.entry.item.created_at,
            rated.entry.version.recorded_at,
            now=now,
            half_life_days=half_life_days,
        )
        for rated in bank
    }
    needed_by = _needed_by(bank)
    names = _sources_of(bank)
    waiting = sorted(bank, key=lambda one: (worth[one.item], one.entry.item.created_at, one.item))
    gone: dict[UUID, Eviction] = {}
    held_back: list[Rated] = []
    while len(gone) < too_many and waiting:
        left: list[Rated] = []
        before = len(gone)
        for rated in waiting:
            if len(gone) == too_many:
                break
            if needed_by.get(rated.item):
                left.append(rated)
                continue
            gone[rated.item] = Eviction(
                rated.item,
                f"the least worth keeping of more than {most} items ({worth[rated.item]:.3g})",
            )
            # What it was drawn from is no longer needed for its sake.
            for source in names.get(rated.item, ()):
                needed_by[source].discard(rated.item)
        waiting = left
        if len(gone) == before:
            held_back = left
            break
    return Evictions(tuple(gone.values()), too_many - len(gone) if held_back else 0)


def _needed_by(bank: Sequence[Rated]) -> dict[UUID, set[UUID]]:
    needed: dict[UUID, set[UUID]] = {}
    for item, sources in _sources_of(bank).items():
        for source in sources:
            needed.setdefault(source, set()).add(item)
    return needed


def _sources_of(bank: Sequence[Rated]) -> dict[UUID, set[UUID]]:
    """For each item the items that it names: in its metadata, or as the turn that it was drawn
    from."""
    by_name = {str(rated.item): rated.item for rated in bank}
    turns: dict[Turn, UUID] = {
        rated.entry.version.turn: rated.item
        for rated in bank
        if rated.entry.version.turn is not None and rated.entry.item.kind is Kind.NOTE
    }
    found: dict[UUID, set[UUID]] = {}
    for rated in bank:
        turn = rated.entry.version.turn
        sources = {
            by_name[text] for text in _texts(rated.entry.version.metadata) if text in by_name
        }
        if turn is not None and turn in turns:
            sources.add(turns[turn])
        sources.discard(rated.item)
        if sources:
            found[rated.item] = sources
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
