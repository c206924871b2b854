"""Which few skills together cover most tasks.

FlowBank keeps a small portfolio of workflows that complement one another. Taking, each time, the
one that adds most covers at least 1 − 1/e of what the best choice of as many covers (Nemhauser,
Wolsey and Fisher 1978); what another one does as well for no more is left out before."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Member:
    """A skill, the tasks that were solved with it, and what a run with it costs."""

    skill: UUID
    covers: frozenset[str]
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """A member of a portfolio and the tasks that it adds to those before it."""

    member: Member
    adds: frozenset[str]


@dataclass(frozen=True, slots=True)
class Portfolio:
    """In the order in which they were chosen: the first ones are the best smaller portfolio."""

    chosen: tuple[Chosen, ...]
    dominated: tuple[UUID, ...]

    @property
    def covers(self) -> frozenset[str]:
        return covered(one.member for one in self.chosen)


def portfolio(members: Sequence[Member], *, k: int) -> Portfolio:
    """At most `k`, and none that adds nothing. Among those that add as much the cheapest, then the
    first by id; the order of `members` does not matter."""
    left = undominated(members)
    kept = {one.skill for one in left}
    chosen: list[Chosen] = []
    done: frozenset[str] = frozenset()
    while left and len(chosen) < k:
        best = min(left, key=lambda one: (-len(one.covers - done), one.cost, one.skill))
        adds = best.covers - done
        if not adds:
            break
        chosen.append(Chosen(best, adds))
        done |= adds
        left.remove(best)
    dominated = sorted(one.skill for one in members if one.skill not in kept)
    return Portfolio(tuple(chosen), tuple(dominated))


def undominated(members: Sequence[Member]) -> list[Member]:
    """Those of which no other one covers all that they cover for no more; of equals the first by
    id. What dominates one covers its rarest task, so that only those that do are looked at."""
    holders: dict[str, list[Member]] = defaultdict(list)
    for one in members:
        for task in one.covers:
            holders[task].append(one)
    # What covers nothing is dominated by the cheapest, one that covers something before others.
    cheapest = min(members, key=lambda one: (one.cost, not one.covers, one.skill), default=None)
    left = []
    for one in sorted(members, key=lambda one: one.skill):
        rarest = min((holders[task] for task in one.covers), key=len, default=[cheapest])
        if not any(other is not None and _dominates(other, one) for other in rarest):
            left.append(one)
    return left


def covered(members: Iterable[Member]) -> frozenset[str]:
    return frozenset(task for member in members for task in member.covers)


def _dominates(one: Member, other: Member) -> bool:
    if one.skill == other.skill or not other.covers <= one.covers or one.cost > other.cost:
        return False
    return one.covers != other.covers or one.cost < other.cost or one.skill < other.skill
