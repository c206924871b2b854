"""Fusion: one order from several arms."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from memserver.domain.ports import Hit
from memserver.services.retrieval.query import Standing

SMOOTHING = 60


def standings(found: Mapping[str, Sequence[Hit]]) -> dict[UUID, dict[str, Standing]]:
    """For each document, where every arm that found it put it."""
    placed: dict[UUID, dict[str, Standing]] = {}
    for arm, hits in found.items():
        for rank, hit in enumerate(hits, 1):
            placed.setdefault(hit.document, {})[arm] = Standing(rank, hit.score)
    return placed


def reciprocal_rank(arms: Mapping[str, Standing]) -> float:
    """Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009, k = 60): raw scores of
    different arms are never compared."""
    return sum(1.0 / (SMOOTHING + standing.rank) for standing in arms.values())
