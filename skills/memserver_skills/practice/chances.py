"""How likely a goal is to be reached, and to be possible at all, by what came of goals like it."""

from collections import Counter
from dataclasses import dataclass, field

# A kind of goal of which nothing is known stands as if it had had so many outcomes of its type; a
# type, so many of all goals; and all goals, one success and one failure.
STRENGTH = 2.0
# A value seen in the role, but never in this slot: at first, nine of ten are taken to be possible.
POSSIBLE, TRIED = 9.0, 10.0


@dataclass(slots=True)
class Outcomes:
    """Successes and failures by template, by type and of all goals."""

    won: Counter[tuple[str, str]] = field(default_factory=Counter)
    told: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, template: str, task_type: str | None, *, success: bool) -> None:
        for level in _levels(template, task_type):
            self.told[level] += 1
            self.won[level] += success

    def p(self, template: str, task_type: str | None) -> float:
        """The mean of a Beta belief, whose prior is the one of the next wider level."""
        *narrower, everything = _levels(template, task_type)
        mean = (self.won[everything] + 1) / (self.told[everything] + 2)
        for level in reversed(narrower):
            mean = (self.won[level] + STRENGTH * mean) / (self.told[level] + STRENGTH)
        return mean


def _levels(template: str, task_type: str | None) -> list[tuple[str, str]]:
    """The narrowest first."""
    typed = [] if task_type is None else [("type", task_type)]
    return [("template", template), *typed, ("all", "")]


Slot = tuple[str, str | None, str, str]
"""Template, environment, slot and value."""


@dataclass(slots=True)
class Possible:
    """Whether goals can be reached at all where they are set."""

    ran: Counter[Slot] = field(default_factory=Counter)
    refused: Counter[Slot] = field(default_factory=Counter)
    fine: Counter[str | None] = field(default_factory=Counter)
    infeasible: Counter[str | None] = field(default_factory=Counter)

    def of(self, slot: Slot) -> float:
        """1 for a value that runs have had in this very slot and nobody found impossible there."""
        ran, refused = self.ran[slot], self.refused[slot]
        if ran and not refused:
            return 1.0
        environment = slot[1]
        fine, not_so = self.fine[environment], self.infeasible[environment]
        moved = (fine + POSSIBLE) / (fine + not_so + TRIED)
        return (ran + moved) / (ran + refused + 1)
