"""Neighbours: the turns that were said around a turn that is handed out."""

from collections.abc import Callable, Sequence
from uuid import UUID

from memserver.domain.evidence import Belief
from memserver.domain.ports import Reader
from memserver.domain.scope import Scope
from memserver.services.retrieval.candidates import of_entry
from memserver.services.retrieval.query import Candidate, Neighbour


def around(
    reader: Reader,
    scope: Scope,
    hits: Sequence[Candidate],
    count: int,
    *,
    admits: Callable[[Candidate], bool],
) -> dict[UUID, tuple[Neighbour, ...]]:
    """For each turn among the hits, best first, up to `count` turns on either side in the order
    said. None is given twice, and none that is a hit itself; `admits` is asked about each as about
    a hit."""
    given = {hit.document for hit in hits}
    found: dict[UUID, tuple[Neighbour, ...]] = {}
    for hit in hits if count else ():
        if hit.turn is None:
            continue
        place = hit.turn.ordinal
        entries = reader.turns(
            scope,
            hit.namespace,
            hit.turn.session,
            first=max(0, place - count),
            last=place + count,
        )
        beside = [
            Neighbour(candidate, entry.version.turn.ordinal - place)
            for entry in entries
            if entry.version.turn is not None and entry.version.id not in given
            if admits(candidate := of_entry(entry, {}, Belief(entry.version.id), ""))
        ]
        given.update(one.candidate.document for one in beside)
        if beside:
            found[hit.document] = tuple(beside)
    return found
