"""A logged ranking as the choices that it was made of: the one way from a log, the server's own or
an exported one, to what an estimate reweighs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.choice_arrays import LoggedChoice
from memserver.domain.policy.sampling import SlotKind, probabilities

Floats = npt.NDArray[np.float64]

GREEDY = 0.0
"""The temperature at which policies are asked about, since this is how one is served."""
REPLAYED_WITHIN = 1e-4


@dataclass(frozen=True, slots=True)
class Place:
    """One place of a reply that was handed out: the number of the candidate that stood there, how
    it came there and how likely that was, and the credit that the outcome gave it."""

    candidate: int
    slot: str
    propensity: float
    credit: float


@dataclass(frozen=True, slots=True, eq=False)
class LoggedRanking:
    """One decision about n candidates: their features [n, f] and the scores [n] that the logging
    policy gave them, the places that were handed out, in order, and the outcome in [0, 1]."""

    decision: str
    cluster: str
    features: npt.NDArray[np.float32]
    scores: Floats
    temperature: float
    places: Sequence[Place]
    outcome: float

    def choices(self, *, target: Floats, reference: Floats) -> list[LoggedChoice] | None:
        """A choice for each place that was not forced, with what two policies that score the
        candidates so, and do not explore, would have put there. None where the log does not
        replay: then the candidates were others than these, and no number that rests on them
        would mean anything."""
        taken: list[int] = []
        choices: list[LoggedChoice] = []
        for number, place in enumerate(self.places):
            if place.slot != SlotKind.FORCED:
                behaviour = self._behaviour(place, taken)
                if not _replays(place, behaviour):
                    return None
                left = [n for n in range(len(self.scores)) if n not in taken]
                choices.append(
                    LoggedChoice(
                        decision=self.decision,
                        cluster=self.cluster,
                        slot=number,
                        features=self.features[left],
                        taken=left.index(place.candidate),
                        propensity=place.propensity,
                        behaviour=behaviour[left],
                        target=probabilities(target, temperature=GREEDY, taken=taken)[left],
                        reference=probabilities(reference, temperature=GREEDY, taken=taken)[left],
                        reward=self.outcome * self._part(place),
                    )
                )
            taken.append(place.candidate)
        return choices

    def _behaviour(self, place: Place, taken: Sequence[int]) -> Floats:
        """With which probabilities the log's policy filled the place, given its kind."""
        if place.slot == SlotKind.EXPOSURE:
            return probabilities(np.zeros_like(self.scores), temperature=1.0, taken=taken)
        return probabilities(self.scores, temperature=self.temperature, taken=taken)

    def _part(self, place: Place) -> float:
        """A place's part of the outcome by its credit, in equal parts where none was given; they
        add up to 1."""
        whole = sum(each.credit for each in self.places)
        return place.credit / whole if whole > 0 else 1 / len(self.places)


def _replays(place: Place, behaviour: Floats) -> bool:
    chance = behaviour[place.candidate]
    return chance > 0 and bool(
        np.isclose(chance, place.propensity, rtol=REPLAYED_WITHIN, atol=1e-9)
    )
