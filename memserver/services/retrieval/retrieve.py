"""The verb retrieve: find, fuse, gate, rank, pack, log."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.errors import NotFinite, Unavailable, WrongDimension
from memserver.domain.ports import Clock, Encoder, Hit, Reader, SparseEncoder, Store, VectorIndex
from memserver.domain.ports.meter import Meter
from memserver.domain.scope import Namespace, Scope
from memserver.services.access import Access
from memserver.services.forgetting import decayed
from memserver.services.retrieval import arms, candidates, fusion, gates, mixing, packing
from memserver.services.retrieval.describing import Describing
from memserver.services.retrieval.neighbours import around
from memserver.services.retrieval.query import Candidate, Neighbour, Query, Retrieved
from memserver.services.retrieval.rankers import Chooser, Chosen
from memserver.services.retrieval.ranking import Ranked, Ranking
from memserver.services.retrieval.recording import Asked, decision_of
from memserver.services.retrieval.rerank import reaches, reranked
from memserver.services.version_vectors import VersionVectors
from memserver.services.writing.recalled import Handed

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Admission:
    """What is ranked: all that was loaded, with why some of it is left out."""

    loaded: Sequence[Candidate]
    refused: Mapping[UUID, str]


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
        handed: Handed,
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
        self._handed = handed
        self._meter = meter
        self._clock = clock
        self._new_id = new_id
        self._vectors = vectors
        self._describing = Describing(encoder)
        self._rank = Ranking(chooser, vectors)

    def __call__(self, scope: Scope, query: Query) -> Retrieved:
        """What helps the task at hand. Raises `NamespaceForbidden`, `NamespaceNotFound`,
        `WrongDimension`, `NotFinite`."""
        asked = self._asked(scope, query)
        query = asked.query
        with self._meter.stage("search"):
            found = arms.find(self._index, self._sparse, query, asked.vector, asked.namespaces)
        with self._store.reading() as reader:
            with self._meter.stage("load"):
                found |= arms.looked_up(reader, scope, query, asked.namespaces)
                loaded = self._loaded(reader, asked, found)
                # Later than all that was loaded, or what was told meanwhile would lie ahead.
                asked = replace(asked, at=self._clock())
                loaded = self._weighed(reader, asked, loaded, found)
                chosen = self._chooser.choose(
                    reader, asked.namespaces, query.trajectory_id or asked.retrieval_id
                )
                gate = _gate(reader, asked, chosen)
            with self._meter.stage("rank"):
                admission = self._admission(reader, query, loaded, gate)
                features = self._describing.features(admission.loaded, query, asked.at)
                ranked = self._ranked(reader, asked, chosen, admission, features)
                if ranked.ranker is not chosen.ranker:
                    # The built-in policy answers instead, and what it keeps out stays out.
                    chosen = replace(chosen, ranker=ranked.ranker)
                    gate = _gate(reader, asked, chosen)
                    admission = self._admission(reader, query, loaded, gate)
                    features = self._describing.features(admission.loaded, query, asked.at)
                    ranked = self._ranked(reader, asked, chosen, admission, features)
                beside = self._beside(reader, asked, ranked, gate)
        with self._meter.stage("pack"):
            packed = packing.pack(
                ranked.in_order,
                k=query.k,
                budget_tokens=query.budget_tokens,
                count=self._encoder.count_tokens,
                length=self._describing.length,
                around=beside,
            )
        decision = decision_of(
            asked,
            loaded=admission.loaded,
            features=features,
            refused=admission.refused,
            chosen=chosen,
            ranked=ranked,
            packed=packed,
        )
        self._store.write_later(lambda tx: tx.add_decision(decision))
        self._meter.decided(decision.policy)
        text = packing.as_text(packed)
        self._handed.note(scope.key, [text, *(one.text for one in packed)])
        return Retrieved(
            retrieval_id=decision.id,
            packed=packed,
            text=text,
            tokens=self._encoder.count_tokens(text) if text else 0,
            token_counter=self._encoder.counter,
            budget_tokens=query.budget_tokens,
            policy=decision.policy,
            explored=decision.explored,
            left_out=dict(sorted(Counter(admission.refused.values()).items())),
            preset=query.preset.name,
        )

    def forget(self) -> None:
        """Forgets what is kept of versions: after a restore an id may mean another text."""
        self._describing.forget()

    def _loaded(
        self, reader: Reader, asked: Asked, found: Mapping[str, list[Hit]]
    ) -> list[Candidate]:
        query = asked.query
        placed = fusion.pooled(fusion.standings(found), query.k)
        return [
            candidate
            for candidate in candidates.load(
                reader,
                asked.scope,
                placed,
                query.text,
                frame=query.frame,
                context=query.task_type,
            )
            if arms.meets(candidate, query)
        ]

    def _weighed(
        self,
        reader: Reader,
        asked: Asked,
        loaded: list[Candidate],
        found: Mapping[str, list[Hit]],
    ) -> list[Candidate]:
        """The candidates by their age too and, where the preset reranks, in that order."""
        query = asked.query
        if query.frame is None:
            half_lives = reader.half_lives([namespace.id for namespace in asked.namespaces])
            loaded = decayed(loaded, half_lives, now=asked.at) if half_lives else loaded
        if not query.preset.rerank:
            return loaded
        return reranked(loaded, reaches(found, arms.depth(query)), query.text)

    def _admission(
        self,
        reader: Reader,
        query: Query,
        loaded: Sequence[Candidate],
        gate: Callable[[Candidate], str | None],
    ) -> Admission:
        """What the gates and the quotas leave, and all of it in the order of its likeness too where
        the preset goes by that."""
        refused = {c.document: name for c in loaded if (name := gate(c))}
        best = mixing.best_first([c for c in loaded if c.document not in refused])
        refused |= mixing.over_quota(best, kinds=query.quotas, classes=query.preset.mix)
        if query.preset.relevance is None:
            return Admission(loaded, refused)
        best = [c for c in best if c.document not in refused]
        try:
            vectors = self._vectors.of_texts(reader, {c.document: c.indexed for c in best})
        except Unavailable as error:
            logger.warning("What is alike cannot be told apart: %s", error.code)
            return Admission(loaded, refused)
        others = [c for c in loaded if c.document in refused]
        return Admission(
            [*mixing.diversified(best, vectors, query.preset.relevance), *others], refused
        )

    def _beside(
        self,
        reader: Reader,
        asked: Asked,
        ranked: Ranked,
        gate: Callable[[Candidate], str | None],
    ) -> dict[UUID, tuple[Neighbour, ...]]:
        return around(
            reader,
            asked.scope,
            [candidate for candidate, _ in ranked.in_order[: asked.query.k]],
            asked.query.neighbours,
            admits=lambda candidate: gate(candidate) is None,
        )

    def _ranked(
        self,
        reader: Reader,
        asked: Asked,
        chosen: Chosen,
        admission: Admission,
        features: npt.NDArray[np.float32],
    ) -> Ranked:
        places = [n for n, c in enumerate(admission.loaded) if c.document not in admission.refused]
        return self._rank(
            reader,
            chosen,
            query=asked.vector,
            admitted=[admission.loaded[n] for n in places],
            features=features[places],
            k=asked.query.k,
            seed=asked.retrieval_id,
        )

    def _asked(self, scope: Scope, query: Query) -> Asked:
        namespaces = self._access.readable(scope, query.namespaces)
        query = self._as_stored(namespaces, query)
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

    def _as_stored(self, namespaces: Sequence[Namespace], query: Query) -> Query:
        """What is asked in the words of what is stored, where secrets have placeholders: so they
        are found by their value, and neither the log nor a vector learns of it."""
        words = (query.text, query.exclude_task, query.task_type, query.only_task_types)
        with self._store.reading() as reader:
            kept = reader.protected(namespaces, words)
        if kept is words:
            return query
        text, exclude_task, task_type, only = kept
        return replace(
            query, text=text, exclude_task=exclude_task, task_type=task_type, only_task_types=only
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


def _gate(reader: Reader, asked: Asked, chosen: Chosen) -> Callable[[Candidate], str | None]:
    """What names the gate that keeps a candidate out."""
    query = asked.query
    excluded = (
        reader.trajectories_of_task(asked.scope, query.exclude_task)
        if query.exclude_task
        else frozenset()
    )
    # What held at another time held whether or not it has helped since.
    weighed = chosen.explores or chosen.ranker.needs_vectors or query.frame is not None
    at = gates.Circumstances(
        asked.at, query.trajectory_id, excluded, by_belief=not weighed, frame=query.frame
    )
    return lambda candidate: gates.refusal(candidate, at)
