"""The moving utility of a skill: what it has been worth lately, where a Beta count says what it was
worth ever.

Skill1 moves it with each outcome r as U ← (1−α)U + αr, α = .05. Here it is a pure fold over the
same evidence as every other belief, so that what is taken back is as if it had never been said."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.evidence import Event, Evidence

ALPHA = 0.05
START = 0.5
"""Where nothing is known: as likely to help as not, which is also the mean of an empty belief."""


@dataclass(frozen=True, slots=True)
class Utility:
    """Of one version in one context. `outcomes` counts the pieces that moved it."""

    value: float = START
    outcomes: int = 0

    def moved(self, outcome: float, *, weight: float = 1.0, alpha: float = ALPHA) -> "Utility":
        """After one more outcome in [0, 1]. One of weight w moves it as far as w such outcomes in
        a row: a version that shared its credit with k others moves by a k-th of a step."""
        kept = (1 - alpha) ** weight
        return Utility(kept * self.value + (1 - kept) * outcome, self.outcomes + 1)


def utility(evidence: Iterable[Evidence], *, alpha: float = ALPHA) -> Utility:
    """Folds evidence of one lineage in the order in which it was recorded. What was inherited from
    a parent moves it too, since the new version starts from there, and is no outcome of its own."""
    moved = Utility()
    for piece in counting(evidence):
        before = moved.outcomes
        moved = moved.moved(piece.value, weight=piece.weight, alpha=alpha)
        if piece.event is not Event.OUTCOME:
            moved = Utility(moved.value, before)
    return moved


def utilities(evidence: Iterable[Evidence], *, alpha: float = ALPHA) -> dict[str, Utility]:
    """The same by context."""
    parts: dict[str, list[Evidence]] = defaultdict(list)
    pieces = list(evidence)
    taken_back = _taken_back(pieces)
    for piece in pieces:
        if piece.event is not Event.RETRACTION and piece.id not in taken_back:
            parts[piece.context].append(piece)
    return {context: utility(part, alpha=alpha) for context, part in sorted(parts.items())}


def counting(evidence: Iterable[Evidence]) -> list[Evidence]:
    """The pieces that say something of a version's worth and that nothing took back, in order."""
    pieces = list(evidence)
    taken_back = _taken_back(pieces)
    return sorted(
        (
            piece
            for piece in pieces
            if piece.event in (Event.OUTCOME, Event.INHERITED) and piece.id not in taken_back
        ),
        key=lambda piece: (piece.recorded_at, piece.seq, piece.id.int),
    )


def _taken_back(pieces: Iterable[Evidence]) -> set[UUID | None]:
    return {piece.retracts for piece in pieces if piece.event is Event.RETRACTION}
