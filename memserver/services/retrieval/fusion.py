"""Fusion: one order from several arms."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from memserver.domain.ports import Hit
from memserver.services.retrieval.presets import CONTEXT_DENSE, CONTEXT_SPARSE, DENSE, NAMED, SPARSE
from memserver.services.retrieval.query import Standing

SMOOTHING = 60
POOL = 60
"""Documents that a retrieve over conversations loads and ranks at most, or `PER_PLACE` times as
many as it hands out."""
PER_PLACE = 3

WEIGHTS: Mapping[str, float] = {NAMED: 3.0}
"""A fact that the question names by entity and key is what it asks for, however many others read
like it: it counts for more than first places in both of the index's arms."""

_ONE_SEARCH = {CONTEXT_DENSE: DENSE, CONTEXT_SPARSE: SPARSE}


def standings(found: Mapping[str, Sequence[Hit]]) -> dict[UUID, dict[str, Standing]]:
    """For each document, where every arm that found it put it."""
    placed: dict[UUID, dict[str, Standing]] = {}
    for arm, hits in found.items():
        for rank, hit in enumerate(hits, 1):
            placed.setdefault(hit.document, {})[arm] = Standing(rank, hit.score)
    return placed


def reciprocal_rank(arms: Mapping[str, Standing]) -> float:
    """Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009, k = 60): raw scores of
    different arms are never compared. Of the two views of a document the better one counts, so
    that what has no context is at no disadvantage. `WEIGHTS` says which arms count for more."""
    best: dict[str, int] = {}
    for arm, standing in arms.items():
        search = _ONE_SEARCH.get(arm, arm)
        best[search] = min(standing.rank, best.get(search, standing.rank))
    return sum(WEIGHTS.get(arm, 1.0) / (SMOOTHING + rank) for arm, rank in best.items())


def pooled(
    placed: Mapping[UUID, Mapping[str, Standing]], k: int
) -> dict[UUID, Mapping[str, Standing]]:
    """What is worth loading. Two views of every turn find twice as much, of which only the best
    by fused rank are kept; where there is no conversation, everything is."""
    if not any(arm in _ONE_SEARCH for arms in placed.values() for arm in arms):
        return dict(placed)
    best = sorted(placed, key=lambda document: (-reciprocal_rank(placed[document]), document))
    return {document: placed[document] for document in best[: max(POOL, PER_PLACE * k)]}
