"""What each agent can do with each skill, and at what cost, counted from what came of its runs.

After SkillOrchestra, whose handbook holds Beta counts and cost for pairs of skill and agent. What
was never seen is not taken for impossible: it has the prior that the rest of the table gives."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

STRENGTH = 2.0
"""How many outcomes a prior counts for. With a prior of one half the mean is that of every belief,
(s + 1) / (n + 2)."""
UNKNOWN = 0.5


@dataclass(frozen=True, slots=True)
class Observation:
    """One outcome of an agent that had a skill, in [0, 1]; `cost` is in the sender's unit."""

    agent: str
    skill: UUID
    value: float
    weight: float = 1.0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Credited success and failure without a prior, how many outcomes they come from, and what
    those cost of which the cost is known."""

    successes: float = 0.0
    failures: float = 0.0
    outcomes: int = 0
    cost: float = 0.0
    costed: int = 0

    @property
    def weight(self) -> float:
        return self.successes + self.failures

    @property
    def rate(self) -> float | None:
        return self.successes / self.weight if self.weight > 0 else None

    @property
    def mean_cost(self) -> float | None:
        return self.cost / self.costed if self.costed else None

    def plus(self, other: "Counts") -> "Counts":
        return Counts(
            self.successes + other.successes,
            self.failures + other.failures,
            self.outcomes + other.outcomes,
            self.cost + other.cost,
            self.costed + other.costed,
        )

    def less(self, other: "Counts") -> "Counts":
        """Without what is part of it."""
        return Counts(
            max(0.0, self.successes - other.successes),
            max(0.0, self.failures - other.failures),
            self.outcomes - other.outcomes,
            self.cost - other.cost,
            self.costed - other.costed,
        )

    def mean(self, prior: float = UNKNOWN) -> float:
        return (self.successes + STRENGTH * prior) / (self.weight + STRENGTH)


@dataclass(frozen=True, slots=True)
class Competence:
    """How good an agent is expected to be at a skill, in (0, 1), and at what cost. `prior` is what
    stood for it before its own outcomes counted, `from_` where that was taken from."""

    mean: float
    outcomes: int
    prior: float
    from_: str
    cost: float


class Handbook:
    """The table of agents and skills. Two with the same observations are equal, whatever their
    order."""

    def __init__(self, cells: dict[tuple[str, UUID], Counts]) -> None:
        self.cells = dict(sorted(cells.items()))
        self._of_skill: dict[UUID, Counts] = defaultdict(Counts)
        self._of_agent: dict[str, Counts] = defaultdict(Counts)
        self._all = Counts()
        for (agent, skill), counts in self.cells.items():
            self._of_skill[skill] = self._of_skill[skill].plus(counts)
            self._of_agent[agent] = self._of_agent[agent].plus(counts)
            self._all = self._all.plus(counts)

    @staticmethod
    def of(observations: Iterable[Observation]) -> "Handbook":
        cells: dict[tuple[str, UUID], Counts] = defaultdict(Counts)
        for seen in sorted(observations, key=lambda one: (one.agent, one.skill, one.value)):
            cells[seen.agent, seen.skill] = cells[seen.agent, seen.skill].plus(
                Counts(
                    seen.weight * seen.value,
                    seen.weight * (1 - seen.value),
                    1,
                    seen.cost or 0.0,
                    int(seen.cost is not None),
                )
            )
        return Handbook(cells)

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(sorted(self._of_agent))

    @property
    def skills(self) -> tuple[UUID, ...]:
        return tuple(sorted(self._of_skill))

    def counts(self, agent: str, skill: UUID) -> Counts:
        return self.cells.get((agent, skill), Counts())

    def competence(self, agent: str, skill: UUID) -> Competence:
        """The prior is the skill's mean over the other agents that had it, then the agent's mean
        over its other skills, then one half."""
        own, of_skill, of_agent = self._rows(agent, skill)
        of_skill, of_agent = of_skill.less(own), of_agent.less(own)
        if of_skill.outcomes:
            prior, whence = of_skill.mean(), "the skill's mean over agents"
        elif of_agent.outcomes:
            prior, whence = of_agent.mean(), "the agent's mean over skills"
        else:
            prior, whence = UNKNOWN, "nothing known"
        return Competence(own.mean(prior), own.outcomes, prior, whence, self._cost(agent, skill))

    def overall(self, agent: str) -> Competence:
        """At whatever it did: what counts where a task names no skill."""
        counts = self._of_agent.get(agent, Counts())
        cost = _first(counts.mean_cost, self._all.mean_cost)
        return Competence(counts.mean(), counts.outcomes, UNKNOWN, "nothing known", cost)

    def merged(self, groups: Iterable[Sequence[UUID]]) -> "Handbook":
        """The counts of each group's skills together, under its first."""
        under = {skill: group[0] for group in groups for skill in group}
        cells: dict[tuple[str, UUID], Counts] = defaultdict(Counts)
        for (agent, skill), counts in self.cells.items():
            key = (agent, under.get(skill, skill))
            cells[key] = cells[key].plus(counts)
        return Handbook(cells)

    def _rows(self, agent: str, skill: UUID) -> tuple[Counts, Counts, Counts]:
        return (
            self.counts(agent, skill),
            self._of_skill.get(skill, Counts()),
            self._of_agent.get(agent, Counts()),
        )

    def _cost(self, agent: str, skill: UUID) -> float:
        """An agent's cost is its own before it is the skill's: models are priced, tasks are not."""
        own, of_skill, of_agent = self._rows(agent, skill)
        return _first(own.mean_cost, of_agent.mean_cost, of_skill.mean_cost, self._all.mean_cost)


def _first(*costs: float | None) -> float:
    return next((cost for cost in costs if cost is not None), 0.0)
