"""What is asked of a library of skills as a whole, and what it says of its parts."""

from uuid import UUID

from memserver.wire.base import Model


class ContextWorth(Model):
    """What is believed in one context (the empty one where tasks named no type). `mean` is
    (successes + 1) / (outcomes' weight + 2), `utility` moves a twentieth of the way with each
    outcome, and `offered` says whether the lower bound lets the item be offered there."""

    context: str
    successes: float
    failures: float
    outcomes: int
    mean: float
    lower_bound: float
    utility: float
    offered: bool


class DistilledCredit(Model):
    """Of a run that the item was made from: its score less the utility of the best that the run
    was offered."""

    trajectory_id: UUID
    credit: float


class Worth(Model):
    """What an item's present version is worth, with all that was merged into it."""

    id: UUID
    version_id: UUID
    overall: ContextWorth
    contexts: list[ContextWorth]
    credits: list[DistilledCredit]


class RankingReward(Model):
    """How well the order of a retrieve agrees with the utilities that were known then: 1 where no
    order does so better."""

    retrieval_id: UUID
    reward: float


class RunCredit(Model):
    """What a run's outcome says of what is distilled from it, and of what it was offered. Null
    where nobody has said yet how it went."""

    trajectory_id: UUID
    distilled: float | None
    rankings: list[RankingReward]
