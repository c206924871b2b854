"""Rankers: what gives every candidate its number, one a policy."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.policies import BUILT_IN
from memserver.domain.policy.scorer import Scorer
from memserver.domain.ports import Reader
from memserver.domain.scope import Namespace
from memserver.services.retrieval.query import Candidate

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Material:
    """What rankers go by: the query's vector [d], n candidates, their features [n, f] and, where
    a learned policy asks, their vectors by document."""

    query: Singles
    candidates: Sequence[Candidate]
    features: Singles
    vectors: Mapping[UUID, Singles]


class Ranker(Protocol):
    @property
    def name(self) -> str:
        """As decisions name the policy."""

    @property
    def needs_vectors(self) -> bool: ...

    def logits(self, material: Material) -> Floats:
        """One number a candidate [n], the higher the better."""

    def shown(self, logit: float) -> float:
        """The score that replies state for a logit."""


class FixedRanker:
    """The built-in policy: the fused score, moved by what outcomes say (what nothing is known of
    keeps it, since the prior's mean is one half), and doubled for a skill whose goal template
    fits this goal, which is more than resembling it.

    Its logit is that product's logarithm: sampling at temperature 1 is in proportion to it.
    """

    name = BUILT_IN
    needs_vectors = False

    def logits(self, material: Material) -> Floats:
        return np.log([worth(candidate) for candidate in material.candidates] or np.empty(0))

    def shown(self, logit: float) -> float:
        return math.exp(logit)


class LearnedRanker:
    """A learned policy's value of each candidate for this query; shown as the probability that
    it helps."""

    needs_vectors = True

    def __init__(self, name: str, scorer: Scorer) -> None:
        self._name = name
        self._scorer = scorer

    @property
    def name(self) -> str:
        return self._name

    def logits(self, material: Material) -> Floats:
        if not material.candidates:
            return np.empty(0)
        items = np.stack([material.vectors[c.document] for c in material.candidates])
        logits = self._scorer.logits(material.query, items, material.features)
        if not np.isfinite(logits).all():
            raise FloatingPointError("the policy's scores are not finite")
        return logits

    def shown(self, logit: float) -> float:
        return 1 / (1 + math.exp(-min(max(logit, -700.0), 700.0)))


FIXED = FixedRanker()


@dataclass(frozen=True, slots=True)
class Chosen:
    """What decides one retrieve. Temperature and exposure slots are 0 unless it explores."""

    ranker: Ranker
    shadows: tuple[Ranker, ...] = ()
    explores: bool = False
    temperature: float = 0.0
    exposure_slots: int = 0


BUILT_IN_CHOICE = Chosen(FIXED)


class Chooser(Protocol):
    def choose(self, reader: Reader, namespaces: Sequence[Namespace], unit: UUID) -> Chosen:
        """What decides for this run (or, without one, this retrieve)."""

    def failed(self, ranker: Ranker, error: Exception) -> None:
        """Told of a ranker that could not answer."""


def worth(candidate: Candidate) -> float:
    """What the built-in policy ranks by."""
    if candidate.worth is not None:
        return candidate.worth
    moved = candidate.fused * (0.5 + candidate.belief.mean) * (1 + candidate.grounded)
    return moved * candidate.decay
