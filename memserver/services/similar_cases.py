"""Cases like a task: by what is said, and by the order of the operations, which finds the same
shape where no word is shared."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from memserver.domain.items import CaseBody, Entry, Kind, Status
from memserver.domain.ports import Clock, Encoder, ItemFilter, Store
from memserver.domain.scope import Scope
from memserver.services.access import Access
from memserver.services.paging import every
from memserver.services.remembering import holds
from memserver.services.version_vectors import VersionVectors
from memserver_skills.structures import CaseScore, case_score, same_shape

MOST = 5_000
"""Cases that one question looks at, the oldest first."""
A_READ = 500


@dataclass(frozen=True, slots=True)
class SimilarCase:
    entry: Entry
    body: CaseBody
    score: CaseScore


class SimilarCases:
    def __init__(
        self,
        store: Store,
        access: Access,
        encoder: Encoder,
        vectors: VersionVectors,
        *,
        clock: Clock,
    ) -> None:
        self._store = store
        self._access = access
        self._encoder = encoder
        self._vectors = vectors
        self._clock = clock

    def __call__(
        self, scope: Scope, namespace: str, goal: str, operations: Sequence[str], *, k: int
    ) -> list[SimilarCase]:
        """The `k` best, the best first. Raises `NamespaceForbidden`, `NamespaceNotFound`,
        `Unavailable`."""
        namespaces = self._access.readable(scope, [namespace])
        if not namespaces:
            return []
        now = self._clock()
        where = ItemFilter(
            tuple(one.id for one in namespaces),
            kinds=(Kind.CASE,),
            statuses=(Status.ACTIVE,),
            live_at=now,
        )
        [wanted] = self._encoder.encode([self._encoder.windows(goal)[0]])
        found: list[SimilarCase] = []
        with self._store.reading() as reader:
            listed = every(lambda page: reader.items(scope, where, page))
            entries = [entry for entry in islice(listed, MOST) if holds(entry, now)]
            for start in range(0, len(entries), A_READ):
                part = entries[start : start + A_READ]
                texts = {entry.version.id: entry.version.text for entry in part}
                vectors = self._vectors.of_texts(reader, texts)
                for entry in part:
                    body = entry.version.body
                    if isinstance(body, CaseBody):
                        semantic = float(np.dot(wanted, vectors[entry.version.id]))
                        found.append(SimilarCase(entry, body, _score(semantic, operations, body)))
        found.sort(key=lambda one: (-one.score.score, one.entry.item.id.int))
        return found[:k]


def _score(semantic: float, operations: Sequence[str], body: CaseBody) -> CaseScore:
    """Where no operations are asked for, what is said decides alone."""
    if not operations:
        return case_score(semantic, 0.0, semantic_share=1.0)
    return case_score(semantic, same_shape(operations, body.operations))
