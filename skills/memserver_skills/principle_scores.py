"""What a principle is worth by what came of its uses, and which ones are to go.

EvolveR scores a principle (s + 1) / (u + 2) for s successes in u uses, which is the mean of a
belief under the uniform prior, and prunes below .3: one failed use keeps it at .333, two leave
.25."""

from collections.abc import Sequence
from uuid import UUID

from memserver.domain.evidence import Belief
from memserver.domain.items import Kind, Status
from memserver_skills.plans import Rated

PRUNE_BELOW = 0.3


def score(belief: Belief) -> float:
    return belief.mean


def merged_score(beliefs: Sequence[Belief]) -> float:
    """The score of one principle that stands for several: over all their uses, so that neither's
    successes nor its failures are lost, and the prior counts once."""
    first, *others = beliefs
    for belief in others:
        first = first.plus(belief)
    return score(first)


def is_pruned(principle: Rated, *, below: float = PRUNE_BELOW) -> bool:
    return score(principle.belief) < below


def pruned(bank: Sequence[Rated], *, below: float = PRUNE_BELOW) -> tuple[UUID, ...]:
    """The principles in use that are to be retired, those with the lowest score first."""
    going = [
        one
        for one in bank
        if one.entry.item.kind is Kind.PRINCIPLE
        and one.entry.item.status is Status.ACTIVE
        and is_pruned(one, below=below)
    ]
    return tuple(one.item for one in sorted(going, key=lambda one: (score(one.belief), one.item)))
