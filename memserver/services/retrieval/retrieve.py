"""The verb retrieve: find, fuse, gate, rank, pack, log."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.errors import NotFinite, WrongDimension
from memserver.domain.ports import Clock, Encoder, Reader, SparseEncoder, Store, VectorIndex
from memserver.domain.ports.meter import Meter
from memserver.domain.scope import Scope
from memserver.services.access import Access
from memserver.services.retrieval import arms, candidates, gates, packing
from memserver.services.retrieval.describing import Describing
from memserver.services.retrieval.query import Candidate, Query, Retrieved
from memserver.services.retrieval.rankers import Chooser, Chosen
from memserver.services.retrieval.ranking import Ranked, Ranking
from memserver.services.retrieval.recording import Asked, decision_of
from memserver.services.version_vectors import VersionVectors


class Retrieve:
    """Where nothing is left to chance, the same answer for one state of the store; a namespace
    that explores draws from a stream seeded by the `retrieval_id`."""

    def __init__(
        self,
        store: Store,
        index: VectorIndex,
        encoder: Encoder,
        sparse: SparseEncoder,
        access: Access,
        *,
        chooser: Chooser,
        vectors: VersionVectors,
        meter: Meter,
        clock: Clock,
        new_id: Callable[[], UUID],
    ) -> None:
        self._store = store
        self._index = index
        self._encoder = encoder
        self._sparse = sparse
        self._access = access
        self._chooser = chooser
        self._meter = meter
        self._clock = clock
        self._new_id = new_id
        self._describing = Describing(encoder)
        self._rank = Ranking(chooser, vectors)

    def __call__(self, scope: Scope, query: Query) -> Retrieved:
        """What helps the task at hand. Raises `NamespaceForbidden`, `NamespaceNotFound`,
        `WrongDimension`, `NotFinite`."""
        asked = self._asked(scope, query)
        with self._meter.stage("search"):
            found = arms.find(self._index, self._sparse, query, asked.vector, asked.namespaces)
        with self._store.reading() as reader:
            with self._meter.stage("load"):
                loaded = candidates.load(reader, scope, found, query.text)
                chosen = self._chooser.choose(
                    reader, asked.namespaces, query.trajectory_id or asked.retrieval_id
                )
                refused = _refused(reader, scope, query, loaded, chosen, asked.at)
            with self._meter.stage("rank"):
                features = self._describing.features(loaded, query, asked.at)
                ranked = self._ranked(reader, asked, chosen, loaded, features, refused)
                if ranked.ranker is not chosen.ranker:
                    # The built-in policy answers instead, and what it keeps out stays out.
                    chosen = replace(chosen, ranker=ranked.ranker)
                    refused = _refused(reader, scope, query, loaded, chosen, asked.at)
                    ranked = self._ranked(reader, asked, chosen, loaded, features, refused)
        with self._meter.stage("pack"):
            packed = packing.pack(
                ranked.in_order,
                k=query.k,
                budget_tokens=query.budget_tokens,
                count=self._encoder.count_tokens,
                length=self._describing.length,
            )
        decision = decision_of(
            asked,
            loaded=loaded,
            features=features,
            refused=refused,
            chosen=chosen,
            ranked=ranked,
            packed=packed,
        )
        self._store.write_later(lambda tx: tx.add_decision(decision))
        self._meter.decided(decision.policy)
        text = packing.as_text(packed)
        return Retrieved(
            retrieval_id=decision.id,
            packed=packed,
            text=text,
            tokens=self._encoder.count_tokens(text) if text else 0,
            token_counter=self._encoder.counter,
            budget_tokens=query.budget_tokens,
            policy=decision.policy,
            explored=decision.explored,
            left_out=dict(sorted(Counter(refused.values()).items())),
        )

    def forget(self) -> None:
        """Forgets what is kept of versions: after a restore an id may mean another text."""
        self._describing.forget()

    def _ranked(
        self,
        reader: Reader,
        asked: Asked,
        chosen: Chosen,
        loaded: Sequence[Candidate],
        features: npt.NDArray[np.float32],
        refused: Mapping[UUID, str],
    ) -> Ranked:
        admitted = [n for n, c in enumerate(loaded) if c.document not in refused]
        return self._rank(
            reader,
            chosen,
            query=asked.vector,
            admitted=[loaded[n] for n in admitted],
            features=features[admitted],
            k=asked.query.k,
            seed=asked.retrieval_id,
        )

    def _asked(self, scope: Scope, query: Query) -> Asked:
        namespaces = self._access.readable(scope, query.namespaces)
        with self._meter.stage("encode"):
            vector = self._vector(query)
        return Asked(
            retrieval_id=self._new_id(),
            scope=scope,
            query=query,
            namespaces=namespaces,
            vector=vector,
            encoder=self._encoder.fingerprint,
            at=self._clock(),
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


def _refused(
    reader: Reader,
    scope: Scope,
    query: Query,
    loaded: Sequence[Candidate],
    chosen: Chosen,
    now: datetime,
) -> dict[UUID, str]:
    """What the gates keep out, by the name of the gate."""
    excluded = (
        reader.trajectories_of_task(scope, query.exclude_task)
        if query.exclude_task
        else frozenset()
    )
    by_belief = not (chosen.explores or chosen.ranker.needs_vectors)
    at = gates.Circumstances(now, query.trajectory_id, excluded, by_belief=by_belief)
    return {c.document: gate for c in loaded if (gate := gates.refusal(c, at))}
