"""Mixing: how many of each kind are handed out, and less of what repeats what stands before it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.services.retrieval.query import Candidate
from memserver.services.retrieval.rankers import worth

QUOTA = "quota"
"""As replies and decisions name why a candidate was left out."""


def best_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    """By the built-in policy's score; what is equal stays in order."""
    return sorted(candidates, key=lambda candidate: -worth(candidate))


def over_quota(
    best: Sequence[Candidate], *, kinds: Mapping[str, int], classes: Mapping[str, int]
) -> dict[UUID, str]:
    """Which of the candidates, best first, are past the quota of their kind or of their class of
    memory. What no quota names comes without limit."""
    taken: Counter[str] = Counter()
    refused: dict[UUID, str] = {}
    for candidate in best:
        limits = [
            (f"kind {candidate.kind}", kinds.get(candidate.kind)),
            (f"class {candidate.memory}", classes.get(candidate.memory)),
        ]
        if any(most is not None and taken[name] >= most for name, most in limits):
            refused[candidate.document] = QUOTA
        else:
            taken.update(name for name, _ in limits)
    return refused


def diversified(
    best: Sequence[Candidate],
    vectors: Mapping[UUID, npt.NDArray[np.float32]],
    relevance: float,
) -> list[Candidate]:
    """The candidates, best first, in the order of maximal marginal relevance (Carbonell and
    Goldstein 1998): each next one has the greatest `relevance` * score - (1 - `relevance`) *
    likeness, where the score is a share of the best one's and the likeness is the cosine to the
    likest of those before it. They exchange their scores, so that the order is that of scores.
    """
    if len(best) < 2:
        return list(best)
    scores = np.array([worth(candidate) for candidate in best])
    shares = scores / scores[0] if scores[0] > 0 else scores
    directions = np.stack([vectors[candidate.document] for candidate in best])
    likest = np.zeros(len(best))
    left = np.ones(len(best), bool)
    order: list[int] = []
    for _ in best:
        gain = np.where(left, relevance * shares - (1 - relevance) * likest, -np.inf)
        taken = int(np.argmax(gain))
        order.append(taken)
        left[taken] = False
        likest = np.maximum(likest, directions @ directions[taken])
    return [
        replace(best[index], worth=float(score)) for index, score in zip(order, scores, strict=True)
    ]
