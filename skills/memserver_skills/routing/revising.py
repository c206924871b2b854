"""When the handbook's skills are cut wrongly, and which of several handbooks is to be used.

SkillOrchestra: a skill on which agents differ widely hides two; two on which no agent differs are
one; the version to use is the one that routes best for what it costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import pvariance
from uuid import UUID

from memserver_skills.routing.choosing import scores
from memserver_skills.routing.handbook import Handbook

SPLIT_VARIANCE = 0.15
LEAST_OUTCOMES = 3
INDISTINGUISHABLE = 0.1
"""Success rates no further apart than this, for every agent, are taken for the same."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A skill on which agents differ; `rates` is how often each succeeded with it."""

    skill: UUID
    variance: float
    rates: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Trial:
    """A task that was tried by several agents: the skills it needs, and what came of each."""

    needs: Mapping[UUID, float]
    outcomes: Mapping[str, float]
    costs: Mapping[str, float]


def disagreements(handbook: Handbook) -> tuple[Disagreement, ...]:
    """Skills to split: success rates have a variance of .15 or more over the agents that have
    three outcomes each, of whom there are two at least."""
    found = []
    for skill in handbook.skills:
        rates = _rates(handbook, skill)
        if len(rates) >= 2 and (variance := pvariance(rates.values())) >= SPLIT_VARIANCE:
            found.append(Disagreement(skill, variance, rates))
    return tuple(sorted(found, key=lambda one: (-one.variance, one.skill)))


def indistinguishable(handbook: Handbook) -> tuple[tuple[UUID, ...], ...]:
    """Groups of skills that the same agents, two or more, do equally well."""
    rated = [
        (skill, rates) for skill in handbook.skills if len(rates := _rates(handbook, skill)) > 1
    ]
    groups: list[list[tuple[UUID, Mapping[str, float]]]] = []
    for skill, rates in rated:
        for group in groups:
            if all(_same(rates, known) for _, known in group):
                group.append((skill, rates))
                break
        else:
            groups.append([(skill, rates)])
    return tuple(tuple(skill for skill, _ in group) for group in groups if len(group) > 1)


def best_version(
    versions: Sequence[Handbook], trials: Sequence[Trial], *, cost_weight: float = 0.0
) -> int:
    """The place of the handbook whose choices come out best on the trials: accuracy − λ·cost,
    both as means; the earliest of equals. Raises `ValueError` where there is nothing to choose
    from or by."""
    if not versions or not trials:
        raise ValueError("a handbook is chosen from several, by trials")
    worth = [_worth(handbook, trials, cost_weight) for handbook in versions]
    return worth.index(max(worth))


def _worth(handbook: Handbook, trials: Sequence[Trial], cost_weight: float) -> float:
    total = 0.0
    for trial in trials:
        best, *_ = scores(handbook, trial.needs, sorted(trial.outcomes), cost_weight=cost_weight)
        total += trial.outcomes[best.agent] - cost_weight * trial.costs.get(best.agent, 0.0)
    return total / len(trials)


def _rates(handbook: Handbook, skill: UUID) -> dict[str, float]:
    return {
        agent: rate
        for agent in handbook.agents
        if (counts := handbook.counts(agent, skill)).outcomes >= LEAST_OUTCOMES
        and (rate := counts.rate) is not None
    }


def _same(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return one.keys() == other.keys() and all(
        abs(rate - other[agent]) <= INDISTINGUISHABLE for agent, rate in one.items()
    )
