"""Facts about one thing become one fact: the latest value stands, and the earlier ones are its
past, with the time until which each held, so that "what was it then" keeps its answer."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeGuard

from memserver.domain.items import FactBody, Version, normal_name
from memserver_skills.groups import block, standing
from memserver_skills.plans import Rated


@dataclass(frozen=True, slots=True)
class Superseded:
    """`fact` says what `by` says, or said before it."""

    fact: Rated
    by: Rated
    reason: str


def is_fact(rated: Rated) -> bool:
    return isinstance(rated.entry.version.body, FactBody)


def superseded_facts(facts: Sequence[Rated]) -> list[Superseded]:
    """Of the facts of one entity and key, in any spelling, those that another one stands for.
    Two values that began to hold at one time contradict each other, and both stay."""
    named: dict[Hashable, list[Rated]] = defaultdict(list)
    for fact in facts:
        body = fact.entry.version.body
        assert isinstance(body, FactBody)
        named[block(fact), normal_name(body.entity), normal_name(body.key)].append(fact)
    found: list[Superseded] = []
    for members in named.values():
        found += _of_one(members)
    return found


def _of_one(members: Sequence[Rated]) -> list[Superseded]:
    if len(members) < 2:
        return []
    latest = max(_from(fact) for fact in members)
    newest = [fact for fact in members if _from(fact) == latest]
    values = {_value(fact) for fact in newest}
    if len(values) > 1:
        # Which of them holds is not known, so nothing is said of what went before either.
        return _twins(members)
    head = min(newest, key=standing)
    return [
        Superseded(
            fact,
            head,
            f"says the same as {head.item}"
            if _value(fact) == _value(head)
            else f"a later value is known: {head.item}",
        )
        for fact in members
        if fact is not head
    ]


def _twins(members: Sequence[Rated]) -> list[Superseded]:
    """Only what says the same of the same time."""
    leaders: dict[Hashable, Rated] = {}
    found = []
    for fact in sorted(members, key=standing):
        version = fact.entry.version
        leader = leaders.setdefault((_value(fact), version.valid_from, version.valid_to), fact)
        if leader is not fact:
            found.append(Superseded(fact, leader, f"says the same as {leader.item}"))
    return found


def history(own: Sequence[Version], others: Sequence[Version], *, now: datetime) -> "History":
    """The versions of one fact with those of others woven in, in the order in which they began
    to hold. The head stays the head; copies come without ids of their own yet."""
    head = max(own, key=lambda version: (version.valid_from, version.number))
    line = sorted(
        [*own, *(version for version in others if version.valid_from < head.valid_from)],
        key=lambda version: (version.valid_from, version.recorded_at, version.id.int),
    )
    mine = {version.id for version in own}
    kept: list[Version] = []
    for version in line:
        last = kept[-1] if kept else None
        goes_on = last is not None and _same_value(last, version) and _meets(last, version)
        if goes_on and version.id not in mine:
            continue
        kept.append(version)
    changed: list[Version] = []
    added: list[Version] = []
    for version, after in zip(kept, [*kept[1:], None], strict=True):
        ends = version.valid_to
        if after is not None and (ends is None or ends > after.valid_from):
            ends = after.valid_from
        closed = (
            version if ends == version.valid_to else replace(version, valid_to=ends, closed_at=now)
        )
        if version.id not in mine:
            if ends is None or ends > version.valid_from:
                added.append(replace(closed, closed_at=closed.closed_at or now))
        elif closed is not version:
            changed.append(closed)
    return History(tuple(changed), tuple(added))


@dataclass(frozen=True, slots=True)
class History:
    """Versions of the fact whose end has moved, and versions of others that it is to have too."""

    changed: tuple[Version, ...]
    added: tuple[Version, ...]


def _meets(last: Version, version: Version) -> bool:
    return last.valid_to is None or last.valid_to >= version.valid_from


def _same_value(one: Version, other: Version) -> bool:
    left, right = one.body, other.body
    return _says(left) and _says(right) and normal_name(left.value) == normal_name(right.value)


def _says(body: object) -> TypeGuard[FactBody]:
    return isinstance(body, FactBody)


def _value(fact: Rated) -> str:
    body = fact.entry.version.body
    assert isinstance(body, FactBody)
    return normal_name(body.value)


def _from(fact: Rated) -> datetime:
    return fact.entry.version.valid_from
