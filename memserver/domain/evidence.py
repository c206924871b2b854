"""Append-only facts about what happened, and the beliefs folded from them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from memserver.domain.scope import Namespace

GATE_FROM_OUTCOMES = 3
LOWER_BOUND_Z = 1.0


class Event(StrEnum):
    """What a piece of evidence reports.

    `outcome` is a task's score credited to a version, `inherited` the discounted belief of a
    parent version, `mention` that the same was said again, `retraction` takes an earlier piece
    back.
    """

    OUTCOME = "outcome"
    INHERITED = "inherited"
    MENTION = "mention"
    RETRACTION = "retraction"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact about a subject (an item version). `value` is in [0, 1] and `weight` above 0.

    `cause` is the trajectory or retrieval that it came from, `source` who said so; `retracts`
    names the evidence that a retraction takes back. `seq` is its place among the evidence of
    its subject and context, given by the store.
    """

    id: UUID
    namespace: Namespace
    subject: UUID
    event: Event
    value: float
    weight: float
    recorded_at: datetime
    context: str = ""
    source: str = ""
    cause: UUID | None = None
    retracts: UUID | None = None
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Belief:
    """Beta counts over one subject and context: the sum of credited success and failure,
    without the prior. `outcomes` counts pieces of evidence, not their weight, and `mentions` how
    often the same was said again, which says nothing of whether it helps; `last` is when the
    newest of both was recorded."""

    subject: UUID
    context: str = ""
    successes: float = 0.0
    failures: float = 0.0
    outcomes: int = 0
    last: datetime | None = None
    mentions: int = 0

    @property
    def weight(self) -> float:
        return self.successes + self.failures

    @property
    def mean(self) -> float:
        """Posterior mean under the uniform prior Beta(1, 1)."""
        return (self.successes + 1) / (self.weight + 2)

    @property
    def lower_bound(self) -> float:
        """Wilson's lower score bound at one standard deviation (Wilson 1927); 0 where nothing
        is known."""
        n, z = self.weight, LOWER_BOUND_Z
        if n <= 0:
            return 0.0
        p = self.successes / n
        centre = p + z * z / (2 * n)
        spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, (centre - spread) / (1 + z * z / n))

    def plus(self, other: "Belief") -> "Belief":
        return replace(
            self,
            successes=self.successes + other.successes,
            failures=self.failures + other.failures,
            outcomes=self.outcomes + other.outcomes,
            last=max(filter(None, (self.last, other.last)), default=None),
            mentions=self.mentions + other.mentions,
        )


def fold(subject: UUID, context: str, evidence: Iterable[Evidence]) -> Belief:
    """The belief that follows from a subject's evidence in one context, in `seq` order.

    Retracted pieces do not count; `inherited` counts as weight but not as an outcome, `mention`
    as neither.
    """
    pieces = sorted(evidence, key=lambda piece: (piece.seq, piece.id.int))
    retracted = {piece.retracts for piece in pieces if piece.event is Event.RETRACTION}
    belief = Belief(subject, context)
    for piece in pieces:
        if piece.event is Event.RETRACTION or piece.id in retracted:
            continue
        mention = piece.event is Event.MENTION
        belief = belief.plus(
            Belief(
                subject,
                context,
                successes=0.0 if mention else piece.weight * piece.value,
                failures=0.0 if mention else piece.weight * (1 - piece.value),
                outcomes=int(piece.event is Event.OUTCOME),
                last=None if piece.event is Event.INHERITED else piece.recorded_at,
                mentions=int(mention),
            )
        )
    return belief


def total(subject: UUID, beliefs: Iterable[Belief]) -> Belief:
    """The belief over all contexts: Beta counts add up."""
    belief = Belief(subject)
    for part in beliefs:
        belief = belief.plus(part)
    return belief
