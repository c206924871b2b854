"""The arms: ways of finding candidates, all fetched from the index in one round trip."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from memserver.domain.items import Status
from memserver.domain.ports import Filter, Hit, Leg, SparseEncoder, VectorIndex
from memserver.domain.scope import Namespace
from memserver.services.retrieval.query import Query

DENSE, SPARSE, TASK_TYPE = "dense", "sparse", "task_type"
DEPTH = 30
"""Hits an arm at least; every one is loaded from SQL, which costs more than finding it."""


def find(
    index: VectorIndex,
    sparse: SparseEncoder,
    query: Query,
    vector: npt.NDArray[np.float32],
    namespaces: tuple[Namespace, ...],
) -> dict[str, list[Hit]]:
    """Hits by arm, best first: dense vectors, BM25 and, where the query names its task type,
    dense vectors among items of that type."""
    where = Filter(
        namespace_ids=tuple(namespace.id for namespace in namespaces),
        kinds=query.kinds,
        statuses=(Status.ACTIVE.value,),
        task_types=query.only_task_types or (),
        created_from=_seconds(query.created_from),
        created_to=_seconds(query.created_to),
    )
    depth = max(DEPTH, 3 * query.k)
    legs = {DENSE: Leg(where, depth, dense=vector)}
    terms = sparse.query(query.text)
    if terms.indices:
        legs[SPARSE] = Leg(where, depth, sparse=terms)
    if query.task_type and query.only_task_types is None:
        legs[TASK_TYPE] = Leg(replace(where, task_types=(query.task_type,)), depth, dense=vector)
    return dict(zip(legs, index.search(tuple(legs.values())), strict=True))


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())
