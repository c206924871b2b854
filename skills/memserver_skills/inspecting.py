"""How whoever writes a replacement looks at the bank: search, inspect, trace, and each look
counts against a budget. Rules and models use the same, so neither can read without bound."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memserver.domain.trajectories import Trajectory
from memserver_skills.plans import Looks, Rated
from memserver_skills.words import stems

COMMONEST = 200
"""A word that more items hold than this leads nowhere."""

Trace = Callable[[UUID], Trajectory | None]
"""The run of that id, None where it is gone or was never kept."""


class BudgetSpent(Exception):
    """No more looks: what is not decided by now stays as it is."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that shares words with what was searched for; `shared` says how many."""

    item: UUID
    title: str
    shared: int


class Inspecting:
    """Every call is one look, and raises `BudgetSpent` where the budget is gone. Nothing can be
    written through it."""

    def __init__(self, bank: Sequence[Rated], *, trace: Trace, budget: int) -> None:
        self._bank: Mapping[UUID, Rated] = {rated.item: rated for rated in bank}
        self._trace = trace
        self._by_word: dict[str, list[UUID]] | None = None
        self.looks = Looks(budget=budget)

    def search(self, text: str, *, k: int = 5) -> tuple[Hit, ...]:
        """The items that share most words with a text, rare ones only; no more than `k`."""
        self._count("search")
        by_word = self._index()
        shared = Counter(
            item
            for word in sorted(stems(text))
            if len(held := by_word.get(word, ())) <= COMMONEST
            for item in held
        )
        best = sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))[:k]
        return tuple(Hit(item, self._bank[item].entry.version.title, n) for item, n in best)

    def inspect(self, item: UUID) -> Rated | None:
        """One item as it stands."""
        self._count("inspect")
        return self._bank.get(item)

    def trace(self, run: UUID) -> Trajectory | None:
        """A run that an item names as its source."""
        self._count("trace")
        return self._trace(run)

    def _count(self, tool: str) -> None:
        looks = self.looks
        if looks.search + looks.inspect + looks.trace >= looks.budget:
            raise BudgetSpent
        self.looks = replace(looks, **{tool: getattr(looks, tool) + 1})

    def _index(self) -> dict[str, list[UUID]]:
        if self._by_word is None:
            self._by_word = defaultdict(list)
            for item, rated in self._bank.items():
                for word in stems(rated.entry.version.text):
                    self._by_word[word].append(item)
        return self._by_word
