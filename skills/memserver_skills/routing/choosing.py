"""Giving a task to the agent from which most is expected for what it costs.

SkillOrchestra: the agent that maximises Σ w·competence − λ·cost over the skills the task needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver_skills.routing.handbook import Competence, Handbook


@dataclass(frozen=True, slots=True)
class Part:
    """What one skill adds to an agent's score; `weight` is its share of the task."""

    skill: UUID
    weight: float
    competence: Competence


@dataclass(frozen=True, slots=True)
class Scored:
    """An agent's score and what it is made of."""

    agent: str
    score: float
    competence: float
    cost: float
    parts: tuple[Part, ...]


def scores(
    handbook: Handbook,
    needs: Mapping[UUID, float],
    agents: Sequence[str],
    *,
    cost_weight: float = 0.0,
) -> tuple[Scored, ...]:
    """Every agent, the best first; the cheaper one, then the first by name where two are equal.
    The weights of what is `need`ed count by their shares. A task that needs no skill anybody
    knows goes by what the agents can do at all."""
    shares = _shares(needs)
    found = [_scored(handbook, shares, agent, cost_weight) for agent in dict.fromkeys(agents)]
    return tuple(sorted(found, key=lambda one: (-one.score, one.cost, one.agent)))


def _scored(
    handbook: Handbook, shares: Mapping[UUID, float], agent: str, cost_weight: float
) -> Scored:
    parts = tuple(
        Part(skill, share, handbook.competence(agent, skill)) for skill, share in shares.items()
    )
    if parts:
        competence = sum(part.weight * part.competence.mean for part in parts)
        cost = sum(part.weight * part.competence.cost for part in parts)
    else:
        overall = handbook.overall(agent)
        competence, cost = overall.mean, overall.cost
    return Scored(agent, competence - cost_weight * cost, competence, cost, parts)


def _shares(needs: Mapping[UUID, float]) -> dict[UUID, float]:
    wanted = {skill: weight for skill, weight in needs.items() if weight > 0}
    whole = sum(wanted.values())
    return {skill: weight / whole for skill, weight in wanted.items()}
