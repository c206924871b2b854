"""What the preferences of near contexts add up to: a vote, weighted by a kernel.

That a context goes by what its k nearest showed is CIPHER's (Gao et al., Aligning LLM Agents by
Learning Latent Preference from User Edits, 2024); the weights are ours."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.services.preferring.edits import About, Leaning

NEAR = 0.5
"""Cosine below which a context is another matter."""
WIDTH = 0.25
"""Of the Gaussian kernel over 1 - cosine."""


@dataclass(frozen=True, slots=True)
class Voter:
    """A preference that was learnt in some context. `support` counts the edits that showed it,
    `against` those that showed the contrary."""

    item: UUID
    context: str
    leaning: Leaning
    similarity: float
    support: float
    against: float

    @property
    def weight(self) -> float:
        """Edits of one context say the same again, so that they count less and less; what was
        shown once and may be chance does not count."""
        if not self.leaning.clear and self.support < 2:
            return 0.0
        return kernel(self.similarity) * math.sqrt(max(0.0, self.support - self.against))


@dataclass(frozen=True, slots=True)
class Elected:
    """A preference to keep to. `weight` is its lead; `voters` are those for it, nearest first."""

    leaning: Leaning
    weight: float
    voters: tuple[Voter, ...]


def kernel(similarity: float) -> float:
    """1 for the same context, less with distance, 0 where it is no longer near."""
    if similarity < NEAR:
        return 0.0
    return math.exp(-((1.0 - similarity) ** 2) / (2 * WIDTH**2))


def elect(voters: Sequence[Voter], *, k: int) -> tuple[Elected, ...]:
    """What the `k` nearest contexts want, strongest first. Where they disagree, the majority
    has it, by its lead; a draw elects nobody."""
    contexts = sorted({(-voter.similarity, voter.context) for voter in voters})[:k]
    heard = {context for _, context in contexts}
    matters: defaultdict[tuple[About, str], list[Voter]] = defaultdict(list)
    for voter in voters:
        if voter.context in heard and voter.weight > 0:
            matters[voter.leaning.about, voter.leaning.of].append(voter)
    elected = [made for group in matters.values() if (made := _elected(group))]
    return tuple(sorted(elected, key=lambda one: (-one.weight, one.leaning.statement)))


def _elected(voters: Sequence[Voter]) -> Elected | None:
    votes: defaultdict[str, float] = defaultdict(float)
    for voter in voters:
        votes[voter.leaning.wants] += voter.weight
    wants = max(sorted(votes), key=lambda each: votes[each])
    lead = votes[wants] - sum(weight for each, weight in votes.items() if each != wants)
    if lead <= 1e-9:
        return None
    behind = sorted(
        (voter for voter in voters if voter.leaning.wants == wants),
        key=lambda voter: (-voter.similarity, str(voter.item)),
    )
    return Elected(behind[0].leaning, lead, tuple(behind))
