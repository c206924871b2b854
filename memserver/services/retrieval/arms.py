"""The arms: ways of finding candidates. Those of the index are fetched in one round trip; what is
newest and what is linked by name is read from SQL."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

import numpy as np
import numpy.typing as npt

from memserver.domain.items import Kind, Status, normal_name
from memserver.domain.ports import Filter, Hit, Leg, Reader, Span, SparseEncoder, VectorIndex, View
from memserver.domain.ports.arms import Linked, Located
from memserver.domain.ports.store import PAST
from memserver.domain.scope import Namespace, Scope
from memserver.domain.times import TimeFrame
from memserver.services.retrieval.presets import (
    CONTEXT_DENSE,
    CONTEXT_SPARSE,
    DENSE,
    ENTITY,
    NAMED,
    RECENCY,
    SPARSE,
    TASK_TYPE,
)
from memserver.services.retrieval.query import Candidate, Query

DEPTH = 30
"""Hits an arm at least; every one is loaded from SQL, which costs more than finding it."""
OF_SQL = frozenset({RECENCY, ENTITY, NAMED})
WORDS_OF_A_NAME = 4
_AROUND = ".,;:!?\"'“”‘’()[]"
NAMES = 200
"""Runs of a question's words that are looked up as names of entities, at most."""


def find(
    index: VectorIndex,
    sparse: SparseEncoder,
    query: Query,
    vector: npt.NDArray[np.float32],
    namespaces: tuple[Namespace, ...],
) -> dict[str, list[Hit]]:
    """Hits by arm of the index, best first, for those that the preset has: vectors and BM25 over
    what was said itself and over the words around it, and, where the query names its task type,
    vectors among items of that type."""
    where = Filter(
        namespace_ids=tuple(namespace.id for namespace in namespaces),
        kinds=query.kinds,
        statuses=(Status.ACTIVE.value,) if query.frame is None else (Status.ACTIVE.value, PAST),
        task_types=query.only_task_types or (),
        created_from=_seconds(query.created_from),
        created_to=_seconds(query.created_to),
        span=None if query.frame is None else _span(query.frame),
    )
    around, deep = replace(where, view=View.CONTEXT), depth(query)
    legs = {DENSE: Leg(where, deep, dense=vector), CONTEXT_DENSE: Leg(around, deep, dense=vector)}
    terms = sparse.query(query.text)
    if terms.indices:
        legs[SPARSE] = Leg(where, deep, sparse=terms)
        legs[CONTEXT_SPARSE] = Leg(around, deep, sparse=terms)
    if query.task_type and query.only_task_types is None:
        legs[TASK_TYPE] = Leg(replace(where, task_types=(query.task_type,)), deep, dense=vector)
    wanted = {arm: leg for arm, leg in legs.items() if arm in query.preset.arms}
    return dict(zip(wanted, index.search(tuple(wanted.values())), strict=True))


def depth(query: Query) -> int:
    """Hits that each arm is asked for."""
    return max(DEPTH, 3 * query.k)


def looked_up(
    reader: Reader, scope: Scope, query: Query, namespaces: Sequence[Namespace]
) -> dict[str, list[Hit]]:
    """The same for the arms of SQL. They know what holds now, so none answers a question about
    another time."""
    found: dict[str, list[Hit]] = {}
    if query.frame is not None:
        return found
    ids, most = [namespace.id for namespace in namespaces], depth(query)
    if ENTITY in query.preset.arms and Kind.FACT.value in query.kinds:
        said = Said.of(query.text)
        linked = said.longest_names_first(reader.linked(scope, ids, said.names(), most))
        found[ENTITY] = _hits(linked)
        found[NAMED] = _hits([fact for fact in linked if said.names_key(fact)])
    if RECENCY in query.preset.arms:
        found[RECENCY] = _hits(reader.newest(scope, ids, query.kinds, most))
    return found


def meets(candidate: Candidate, query: Query) -> bool:
    """Whether a candidate meets the query's filters: the index sees to that, SQL's arms do not."""
    if not candidate.arms.keys() <= OF_SQL:
        return True
    types, since, until = query.only_task_types, query.created_from, query.created_to
    created = candidate.created_at
    return (
        candidate.kind in query.kinds
        and (types is None or (candidate.task_type or "") in types)
        and (since is None or created >= since)
        and (until is None or created < until)
    )


def _hits(located: Sequence[Located | Linked]) -> list[Hit]:
    """There is no score but the place."""
    return [Hit(one.version, one.item, 1 / rank) for rank, one in enumerate(located, 1)]


@dataclass(frozen=True, slots=True)
class Said:
    """A question's words: as they stand there, and without the punctuation around each."""

    words: tuple[str, ...]
    plain: tuple[str, ...]

    @classmethod
    def of(cls, question: str) -> Self:
        words = tuple(normal_name(question).split())
        return cls(words, tuple(map(_bare, words)))

    def names(self) -> list[str]:
        """The runs of words, each of which may be an entity's name. Punctuation inside of a name
        ("Ana B. Chen") belongs to it, and may not."""
        names: dict[str, None] = {}
        for size in range(1, WORDS_OF_A_NAME + 1):
            for start in range(len(self.words) - size + 1):
                last = start + size - 1
                for words in (self.words, self.plain):
                    inner = words[start:last]
                    first = [word.lstrip(_AROUND) for word in inner[:1]]
                    names[" ".join([*first, *inner[1:], self._ending(last)])] = None
        return list(names)[:NAMES]

    def names_key(self, fact: Linked) -> bool:
        """Whether the fact's key stands in the question, as words in a row."""
        key = tuple(map(_bare, normal_name(fact.key).replace("_", " ").split()))
        starts = range(len(self.plain) - len(key) + 1)
        return bool(key) and any(self.plain[at : at + len(key)] == key for at in starts)

    def longest_names_first(self, facts: Sequence[Linked]) -> list[Linked]:
        """Who says "Ana B. Chen" means neither "Ana" nor "Chen". Stable."""
        return sorted(facts, key=lambda fact: -len(fact.entity.split()))

    def _ending(self, at: int) -> str:
        word = self.plain[at]
        return word.removesuffix("'s").removesuffix("’s")


def _bare(word: str) -> str:
    return word.strip(_AROUND)


def _span(frame: TimeFrame) -> Span:
    """The index counts whole seconds; what lies within an outermost one is told apart later."""
    return Span(
        first=math.floor(frame.since.timestamp()),
        last=math.floor((frame.until or frame.since).timestamp()),
        known=None if frame.known_at is None else math.floor(frame.known_at.timestamp()),
    )


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())
