"""The record of a retrieve: everything that was on offer, as it was known then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memserver.domain.decisions import Considered, Decision
from memserver.domain.policy.features import SCHEMA_VERSION
from memserver.domain.policy.sampling import Slot, draw
from memserver.domain.scope import Namespace, Scope
from memserver.services.retrieval.query import Candidate, Packed, Query
from memserver.services.retrieval.rankers import Chosen, Singles
from memserver.services.retrieval.ranking import Ranked
from memserver.services.version_vectors import STORED_AS


@dataclass(frozen=True, slots=True)
class Asked:
    """One retrieve: who asked what, when, and where it looked. `vector` [d] is the query's, by
    the encoder of that fingerprint."""

    retrieval_id: UUID
    scope: Scope
    query: Query
    namespaces: tuple[Namespace, ...]
    vector: Singles
    encoder: str
    at: datetime


def decision_of(
    asked: Asked,
    *,
    loaded: Sequence[Candidate],
    features: Singles,
    refused: Mapping[UUID, str],
    chosen: Chosen,
    ranked: Ranked,
    packed: Sequence[Packed],
) -> Decision:
    """`features` [n, f] are those of the loaded candidates, of which `refused` names the gate."""
    places = _Places(ranked, handed_out={one.candidate.document for one in packed})
    return Decision(
        id=asked.retrieval_id,
        tenant=asked.scope.tenant,
        namespaces=asked.namespaces,
        verb="retrieve",
        query=asked.query.text,
        task_type=asked.query.task_type,
        trajectory_id=asked.query.trajectory_id,
        schema=SCHEMA_VERSION,
        policy=ranked.ranker.name,
        candidates=tuple(
            places.considered(candidate, row, refused.get(candidate.document))
            for candidate, row in zip(loaded, features.tolist(), strict=True)
        ),
        created_at=asked.at,
        asked_by=asked.scope.key,
        k=asked.query.k,
        explored=chosen.explores,
        temperature=chosen.temperature,
        exposure_slots=chosen.exposure_slots,
        encoder=asked.encoder,
        query_vector=asked.vector.astype(STORED_AS).tobytes(),
        shadows=ranked.shadows,
    )


class _Places:
    """Where each candidate came to stand."""

    def __init__(self, ranked: Ranked, handed_out: set[UUID]) -> None:
        self._handed_out = handed_out
        self._scores = {
            candidate.document: float(logit)
            for candidate, logit in zip(ranked.admitted, ranked.logits, strict=True)
        }
        self._slots: dict[UUID, tuple[int, Slot]] = {
            ranked.admitted[slot.index].document: (rank, slot)
            for rank, slot in enumerate(ranked.slots, 1)
        }

    def considered(
        self, candidate: Candidate, features: Sequence[float], gated: str | None
    ) -> Considered:
        rank, slot = self._slots.get(candidate.document, (None, None))
        return Considered(
            id=candidate.document,
            features=tuple(features),
            rank=rank,
            packed=candidate.document in self._handed_out,
            propensity=0.0 if slot is None else slot.propensity,
            gated=gated,
            score=self._scores.get(candidate.document, 0.0),
            slot=None if slot is None else slot.kind.value,
        )


def replayed(decision: Decision) -> tuple[UUID, ...]:
    """The ids in the order that the decision's own seed, scores and settings give: what was
    answered then, before packing cut it off."""
    admitted = decision.admitted
    slots = draw(
        [candidate.score for candidate in admitted],
        decision.k,
        temperature=decision.temperature,
        exposure_slots=decision.exposure_slots,
        seed=decision.id,
    )
    return tuple(admitted[slot.index].id for slot in slots)


def in_order(decision: Decision) -> tuple[UUID, ...]:
    """The ids in the order that was logged."""
    ranked = [(c.rank, c.id) for c in decision.candidates if c.rank is not None]
    return tuple(document for _, document in sorted(ranked))
