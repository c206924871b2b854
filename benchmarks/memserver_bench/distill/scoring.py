"""How well each arm tells what was done, and how sure the difference between two arms is."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from memserver_skills.steps_score import StepsScore

RESAMPLES = 2_000
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Told:
    """What one arm told of one held-out run. Runs of one goal are no independent looks."""

    goal: str
    result: StepsScore


def means(told: Sequence[Told]) -> dict[str, float]:
    return {
        "f1": round(fmean(one.result.f1 for one in told), 4),
        "order": round(fmean(one.result.order for one in told), 4),
        "score": round(fmean(one.result.score for one in told), 4),
    }


def interval(
    ours: Sequence[float], theirs: Sequence[float], goals: Sequence[str], *, seed: int
) -> tuple[float, float]:
    """The interval of the mean paired difference, by a bootstrap that draws goals with all their
    runs."""
    by_goal: Mapping[str, list[float]] = defaultdict(list)
    for goal, mine, other in zip(goals, ours, theirs, strict=True):
        by_goal[goal].append(mine - other)
    clusters = [by_goal[goal] for goal in sorted(by_goal)]
    rng = random.Random(seed)
    drawn = sorted(_mean_of(rng.choices(clusters, k=len(clusters))) for _ in range(RESAMPLES))
    cut = round((1 - LEVEL) / 2 * RESAMPLES)
    return round(drawn[cut], 4), round(drawn[-cut - 1], 4)


def _mean_of(clusters: Sequence[Sequence[float]]) -> float:
    return sum(map(sum, clusters)) / sum(map(len, clusters))
