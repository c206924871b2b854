"""One hit a document, in an order that does not depend on the engine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memserver.domain.ports import Hit, Leg

# A leg is widened until ties and windows are settled, but not past this many points.
POINTS_AT_MOST = 10_000
WIDEN = 4


@dataclass(frozen=True, slots=True)
class Fetch:
    """A leg and how many points to ask the engine for."""

    leg: Leg
    points: int


def search_documents(
    legs: Sequence[Leg], fetch: Callable[[list[Fetch]], list[list[Hit]]]
) -> list[list[Hit]]:
    """The hits of each leg, best first, one a document with its best window's score, ties by
    document id.

    `fetch` answers points, best first, several windows of one document among them. All legs go
    in one call; only where windows crowd out documents, or where a tie runs past the last point,
    is a leg fetched again, wider.
    """
    found: list[list[Hit]] = [[] for _ in legs]
    pending = {
        place: Fetch(leg, leg.limit + max(16, leg.limit // 2))
        for place, leg in enumerate(legs)
        if can_match(leg)
    }
    while pending:
        answers = fetch(list(pending.values()))
        again: dict[int, Fetch] = {}
        for (place, asked), points in zip(pending.items(), answers, strict=True):
            found[place] = best_by_document(points)[: asked.leg.limit]
            if asked.points < POINTS_AT_MOST and not _is_settled(found[place], points, asked):
                wider = min(POINTS_AT_MOST, asked.points * WIDEN)
                again[place] = replace(asked, points=wider)
        pending = again
    return found


def can_match(leg: Leg) -> bool:
    """Fails closed: no namespace means no hits. A query without a known word has none either."""
    return bool(leg.filter.namespace_ids) and (leg.sparse is None or bool(leg.sparse.indices))


def best_by_document(points: Sequence[Hit]) -> list[Hit]:
    best: dict[object, Hit] = {}
    for hit in points:
        known = best.get(hit.document)
        if known is None or hit.score > known.score:
            best[hit.document] = hit
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.document))


def _is_settled(hits: Sequence[Hit], points: Sequence[Hit], asked: Fetch) -> bool:
    """Whether points that were not fetched can no longer change the hits."""
    if len(points) < asked.points:
        return True
    return len(hits) == asked.leg.limit and points[-1].score < hits[-1].score
