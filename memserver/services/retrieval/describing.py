"""What is known of each candidate when it is ranked: the features that are logged."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.features import NAMES, Features
from memserver.domain.ports import Encoder
from memserver.services.retrieval.presets import DENSE, RECENCY, SPARSE, TASK_TYPE
from memserver.services.retrieval.query import TRAJECTORY, Candidate, Query, Standing

NOT_FOUND = Standing(rank=0, score=0.0)
KEPT_COUNTS = 65_536


class Describing:
    """Features by schema version 1. Token counts of versions, which never change, are kept."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._tokens: dict[UUID, int] = {}

    def features(
        self, candidates: Sequence[Candidate], query: Query, now: datetime
    ) -> npt.NDArray[np.float32]:
        """Shape [len(candidates), len(NAMES)]."""
        if not candidates:
            return np.empty((0, len(NAMES)), np.float32)
        return np.stack([self._of(candidate, query, now).vector() for candidate in candidates])

    def length(self, candidate: Candidate) -> int:
        """Tokens of a candidate's text. What was fitted to a goal and runs, which feedback
        alters, are counted anew."""
        if candidate.grounded or candidate.kind == TRAJECTORY:
            return self._encoder.count_tokens(candidate.text)
        known = self._tokens.get(candidate.document)
        if known is None:
            if len(self._tokens) >= KEPT_COUNTS:
                self._tokens.clear()
            known = self._encoder.count_tokens(candidate.text)
            self._tokens[candidate.document] = known
        return known

    def forget(self) -> None:
        """Forgets the counts: a version id may mean another text after a restore."""
        self._tokens.clear()

    def _of(self, candidate: Candidate, query: Query, now: datetime) -> Features:
        dense = candidate.arms.get(DENSE, NOT_FOUND)
        sparse = candidate.arms.get(SPARSE, NOT_FOUND)
        typed = candidate.arms.get(TASK_TYPE, NOT_FOUND)
        recent = candidate.arms.get(RECENCY, NOT_FOUND)
        belief = candidate.belief
        return Features(
            dense_rank=dense.rank,
            dense_score=dense.score,
            sparse_rank=sparse.rank,
            sparse_score=sparse.score,
            task_type_rank=typed.rank,
            task_type_score=typed.score,
            recency_rank=recent.rank,
            recency_score=recent.score,
            cosine=dense.score,
            belief_mean=belief.mean,
            belief_lower=belief.lower_bound,
            belief_outcomes=belief.outcomes,
            age_days=_days(candidate.created_at, now),
            days_since_use=_days(belief.last or candidate.created_at, now),
            length_tokens=self.length(candidate),
            same_task_type=float(
                query.task_type is not None and candidate.task_type == query.task_type
            ),
            source_success_rate=candidate.source_success_rate,
            kind=candidate.kind,
        )


def _days(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds() / 86_400)


def why(candidate: Candidate) -> str:
    """One sentence for people: which arms found it, what a rerank weighed, and what outcomes
    say."""
    found = ", ".join(
        f"{arm.replace('_', ' ')} #{standing.rank} ({standing.score:.2f})"
        for arm, standing in sorted(candidate.arms.items(), key=lambda pair: pair[1].rank)
    )
    parts = [f"found by {found}"]
    if candidate.parts:
        by_weight = sorted(candidate.parts.items(), key=lambda part: -abs(part[1]))
        weighed = ", ".join(f"{part} {value:+.2f}" for part, value in by_weight if value)
        parts.append(f"among turns for {weighed}")
    if candidate.belief.outcomes:
        parts.append(
            f"{candidate.belief.outcomes} outcomes, helped with mean {candidate.belief.mean:.2f}"
        )
    if candidate.grounded:
        parts.append("fitted to this goal")
    return "; ".join(parts)
