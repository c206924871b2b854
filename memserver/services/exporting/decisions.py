"""A logged decision with what came of it, as the row that trainers read."""

from typing import TypedDict

import numpy as np

from memserver.domain.decisions import Considered, Decision
from memserver.services.exporting.rewards import Rewarded
from memserver.services.exporting.splits import split_of
from memserver.services.exporting.wording import Wording
from memserver.services.version_vectors import STORED_AS


class CandidateRow(TypedDict):
    id: str
    features: list[float]
    score: float
    rank: int | None
    packed: bool
    slot: str | None
    propensity: float
    gated: str | None
    credit: float


class DecisionRow(TypedDict):
    id: str
    namespace: str
    trajectory_id: str | None
    group: str
    split: str
    verb: str
    query: str
    task_type: str | None
    policy: str
    schema: int
    encoder: str
    query_vector: list[float] | None
    temperature: float
    exposure_slots: int
    explored: bool
    created_at: str
    candidates: list[CandidateRow]
    rewards: dict[str, float]


def decision_row(decision: Decision, came: Rewarded, wording: Wording) -> DecisionRow:
    """Numbers are those that were logged; what is written as a float stays one."""
    vector = decision.query_vector
    return DecisionRow(
        id=str(decision.id),
        namespace=decision.namespaces[0].path,
        trajectory_id=None if decision.trajectory_id is None else str(decision.trajectory_id),
        group=came.group,
        split=split_of(came.group).value,
        verb=decision.verb,
        query=wording.text(decision.query),
        task_type=wording.label_or_none(decision.task_type),
        policy=decision.policy,
        schema=decision.schema,
        encoder=decision.encoder,
        query_vector=None if vector is None else np.frombuffer(vector, STORED_AS).tolist(),
        temperature=float(decision.temperature),
        exposure_slots=decision.exposure_slots,
        explored=decision.explored,
        created_at=decision.created_at.isoformat(),
        candidates=[_candidate(one, came) for one in decision.candidates],
        rewards={source: float(score) for source, score in came.rewards.items()},
    )


def _candidate(one: Considered, came: Rewarded) -> CandidateRow:
    return CandidateRow(
        id=str(one.id),
        features=list(map(float, one.features)),
        score=float(one.score),
        rank=one.rank,
        packed=one.packed,
        slot=one.slot,
        propensity=float(one.propensity),
        gated=one.gated,
        credit=float(came.credits.get(one.id, 0.0)),
    )
