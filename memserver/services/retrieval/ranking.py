"""Ranking: the chosen policy scores what the gates admitted, and the one sampler draws places."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from memserver.domain.decisions import Shadowed
from memserver.domain.errors import Unavailable
from memserver.domain.policy.sampling import Slot, draw
from memserver.domain.ports import Reader
from memserver.services.retrieval.query import Candidate
from memserver.services.retrieval.rankers import (
    FIXED,
    Chooser,
    Chosen,
    Floats,
    Material,
    Ranker,
    Singles,
)
from memserver.services.version_vectors import VersionVectors

logger = logging.getLogger(__name__)

CANNOT_ANSWER = (ValueError, LookupError, ArithmeticError, Unavailable)
"""What a policy may fail with for want of fitting weights or vectors. It must not fail a
retrieve: the built-in policy answers instead."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The admitted candidates, the logits [n] that `ranker` gave them, and the places of the
    reply, drawn from these."""

    ranker: Ranker
    admitted: Sequence[Candidate]
    logits: Floats
    slots: tuple[Slot, ...]
    shadows: tuple[Shadowed, ...] = ()

    @property
    def in_order(self) -> list[tuple[Candidate, float]]:
        """Candidates with the score that is shown, best first."""
        return [
            (self.admitted[slot.index], self.ranker.shown(float(self.logits[slot.index])))
            for slot in self.slots
        ]


class Ranking:
    def __init__(self, chooser: Chooser, vectors: VersionVectors) -> None:
        self._chooser = chooser
        self._vectors = vectors

    def __call__(
        self,
        reader: Reader,
        chosen: Chosen,
        *,
        query: Singles,
        admitted: Sequence[Candidate],
        features: Singles,
        k: int,
        seed: UUID,
    ) -> Ranked:
        """The first k places. `features` [n, f] are those of the admitted."""
        learned = chosen.ranker.needs_vectors or bool(chosen.shadows)
        material = Material(
            query, admitted, features, self._vectors_of(reader, admitted) if learned else {}
        )
        ranker, logits = self._scored(chosen.ranker, material)
        slots = draw(
            logits,
            k,
            temperature=chosen.temperature,
            exposure_slots=chosen.exposure_slots,
            seed=seed,
        )
        shadows = tuple(self._shadowed(shadow, material, k) for shadow in chosen.shadows)
        return Ranked(ranker, admitted, logits, slots, shadows)

    def _vectors_of(self, reader: Reader, admitted: Sequence[Candidate]) -> dict[UUID, Singles]:
        try:
            return self._vectors.of_texts(reader, {c.document: c.indexed for c in admitted})
        except Unavailable as error:
            logger.warning("The candidates' vectors are not to be had: %s", error.code)
            return {}

    def _scored(self, ranker: Ranker, material: Material) -> tuple[Ranker, Floats]:
        try:
            return ranker, ranker.logits(material)
        except CANNOT_ANSWER as error:
            if ranker is FIXED:
                raise
            self._chooser.failed(ranker, error)
            return FIXED, FIXED.logits(material)

    def _shadowed(self, shadow: Ranker, material: Material, k: int) -> Shadowed:
        try:
            best = np.argsort(-shadow.logits(material), kind="stable")[:k]
        except CANNOT_ANSWER as error:
            self._chooser.failed(shadow, error)
            return Shadowed(shadow.name, (), type(error).__name__)
        return Shadowed(
            shadow.name, tuple(material.candidates[int(index)].document for index in best)
        )
