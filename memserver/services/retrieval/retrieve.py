"""The verb retrieve: find, fuse, gate, rank, pack, log."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.decisions import Considered, Decision
from memserver.domain.errors import NotFinite, WrongDimension
from memserver.domain.policy.features import SCHEMA_VERSION, Features
from memserver.domain.ports import Clock, Encoder, SparseEncoder, Store, VectorIndex
from memserver.domain.scope import Namespace, Scope
from memserver.services.access import Access
from memserver.services.retrieval import arms, candidates, gates, packing
from memserver.services.retrieval.query import (
    TRAJECTORY,
    Candidate,
    Packed,
    Query,
    Retrieved,
    Standing,
)

POLICY = "fixed-1"
NOT_FOUND = Standing(rank=0, score=0.0)
KEPT_COUNTS = 65_536


class Retrieve:
    """Deterministic for one state of the store: same query, same order."""

    def __init__(
        self,
        store: Store,
        index: VectorIndex,
        encoder: Encoder,
        sparse: SparseEncoder,
        access: Access,
        *,
        clock: Clock,
        new_id: Callable[[], UUID],
    ) -> None:
        self._store = store
        self._index = index
        self._encoder = encoder
        self._sparse = sparse
        self._access = access
        self._clock = clock
        self._new_id = new_id
        self._tokens: dict[UUID, int] = {}

    def __call__(self, scope: Scope, query: Query) -> Retrieved:
        """What helps the task at hand. Raises `NamespaceForbidden`, `NamespaceNotFound`,
        `WrongDimension`, `NotFinite`."""
        namespaces = self._access.readable(scope, query.namespaces)
        vector = self._vector(query)
        found = arms.find(self._index, self._sparse, query, vector, namespaces)
        now = self._clock()
        with self._store.reading() as reader:
            loaded = candidates.load(reader, scope, found, query.text)
            excluded = (
                reader.trajectories_of_task(scope, query.exclude_task)
                if query.exclude_task
                else frozenset()
            )
        at = gates.Circumstances(now, query.trajectory_id, excluded)
        refused = {c.document: gate for c in loaded if (gate := gates.refusal(c, at))}
        ranked = self._rank([c for c in loaded if c.document not in refused])
        packed = packing.pack(
            ranked,
            k=query.k,
            budget_tokens=query.budget_tokens,
            count=self._encoder.count_tokens,
            length=self._length,
        )
        decision = self._decision(scope, query, namespaces, loaded, refused, ranked, packed, now)
        self._store.write_later(lambda tx: tx.add_decision(decision))
        text = packing.as_text(packed)
        return Retrieved(
            retrieval_id=decision.id,
            packed=packed,
            text=text,
            tokens=self._encoder.count_tokens(text) if text else 0,
            token_counter=self._encoder.counter,
            budget_tokens=query.budget_tokens,
            policy=decision.policy,
            left_out=dict(sorted(Counter(refused.values()).items())),
        )

    def _vector(self, query: Query) -> npt.NDArray[np.float32]:
        if query.vector is None:
            return self._encoder.encode_query(query.text)
        if query.vector.shape != (self._encoder.dimension,):
            raise WrongDimension(query.vector.size, self._encoder.dimension)
        largest = float(np.abs(query.vector).max())
        if not np.isfinite(largest) or largest == 0:
            raise NotFinite
        scaled = query.vector / largest
        return (scaled / np.linalg.norm(scaled)).astype(np.float32)

    @staticmethod
    def _rank(allowed: Sequence[Candidate]) -> list[tuple[Candidate, float]]:
        """The fixed policy: the fused score, moved by what outcomes say (what nothing is known
        of keeps it, since the prior's mean is one half), and doubled for a skill whose goal
        template fits this goal, which is more than resembling it."""
        scored = [(c, c.fused * (0.5 + c.belief.mean) * (1 + c.grounded)) for c in allowed]
        return sorted(scored, key=lambda pair: (-pair[1], str(pair[0].document)))

    def _decision(
        self,
        scope: Scope,
        query: Query,
        namespaces: Sequence[Namespace],
        loaded: Sequence[Candidate],
        refused: dict[UUID, str],
        ranked: Sequence[tuple[Candidate, float]],
        packed: Sequence[Packed],
        now: datetime,
    ) -> Decision:
        ranks = {candidate.document: rank for rank, (candidate, _) in enumerate(ranked, 1)}
        handed_out = {item.candidate.document for item in packed}
        return Decision(
            id=self._new_id(),
            tenant=scope.tenant,
            namespaces=tuple(namespaces),
            verb="retrieve",
            query=query.text,
            task_type=query.task_type,
            trajectory_id=query.trajectory_id,
            schema=SCHEMA_VERSION,
            policy=POLICY,
            candidates=tuple(
                Considered(
                    id=candidate.document,
                    features=tuple(self._features(candidate, query, now).vector().tolist()),
                    rank=ranks.get(candidate.document),
                    packed=candidate.document in handed_out,
                    gated=refused.get(candidate.document),
                )
                for candidate in loaded
            ),
            created_at=now,
            asked_by=scope.key,
        )

    def _features(self, candidate: Candidate, query: Query, now: datetime) -> Features:
        dense = candidate.arms.get(arms.DENSE, NOT_FOUND)
        sparse = candidate.arms.get(arms.SPARSE, NOT_FOUND)
        typed = candidate.arms.get(arms.TASK_TYPE, NOT_FOUND)
        belief = candidate.belief
        return Features(
            dense_rank=dense.rank,
            dense_score=dense.score,
            sparse_rank=sparse.rank,
            sparse_score=sparse.score,
            task_type_rank=typed.rank,
            task_type_score=typed.score,
            cosine=dense.score,
            belief_mean=belief.mean,
            belief_lower=belief.lower_bound,
            belief_outcomes=belief.outcomes,
            age_days=_days(candidate.created_at, now),
            days_since_use=_days(belief.last or candidate.created_at, now),
            length_tokens=self._length(candidate),
            same_task_type=float(
                query.task_type is not None and candidate.task_type == query.task_type
            ),
            source_success_rate=candidate.source_success_rate,
            kind=candidate.kind,
        )

    def _length(self, candidate: Candidate) -> int:
        """Versions never change, so their lengths are counted once; what was fitted to a goal
        and runs, which feedback alters, are counted anew."""
        if candidate.grounded or candidate.kind == TRAJECTORY:
            return self._encoder.count_tokens(candidate.text)
        known = self._tokens.get(candidate.document)
        if known is None:
            if len(self._tokens) >= KEPT_COUNTS:
                self._tokens.clear()
            known = self._encoder.count_tokens(candidate.text)
            self._tokens[candidate.document] = known
        return known


def _days(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds() / 86_400)


def why(candidate: Candidate) -> str:
    """One sentence for people: which arms found it, and what outcomes say."""
    found = ", ".join(
        f"{arm} #{standing.rank} ({standing.score:.2f})"
        for arm, standing in sorted(candidate.arms.items(), key=lambda pair: pair[1].rank)
    )
    parts = [f"found by {found}"]
    if candidate.belief.outcomes:
        parts.append(
            f"{candidate.belief.outcomes} outcomes, helped with mean {candidate.belief.mean:.2f}"
        )
    if candidate.grounded:
        parts.append("fitted to this goal")
    return "; ".join(parts)
