"""What one outcome says of choosing skills and of making them: the two credits of Skill1.

The outcome r of a run trains both. The slow one rewards the order in which the skills were offered
by how well it agrees with their utilities; the fast one credits a skill that was distilled from
the run with what r is above the best of what the run was offered."""

import math
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from memserver_skills.beliefs.utility import START


def distilled_credit(outcome: float, retrieved: Iterable[float]) -> float:
    """r − max U over the skills that were retrieved for the run; in [−1, 1].

    A run that went well although what was known is poor shows a skill worth having; one that went
    badly despite a good one shows none. Where nothing was retrieved, the best of what was known is
    the skill of which nothing is known."""
    return outcome - max(retrieved, default=START)


def ranking_reward(order: Sequence[UUID], utilities: Mapping[UUID, float]) -> float:
    """NDCG of the order in which skills were offered, the best order being that by −U; in [0, 1],
    and 1 for the best. The gain of a place is the skill's utility. An order of nothing, or of what
    is worth nothing, cannot be wrong."""
    gains = [utilities.get(skill, START) for skill in order]
    best = _discounted(sorted(gains, reverse=True))
    return _discounted(gains) / best if best > 0 else 1.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))
