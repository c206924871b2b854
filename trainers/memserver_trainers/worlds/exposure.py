"""Exposure: a memory that is never shown can never be found useful.

Of 40 memories a greedy policy shows four of the same five to every task, and which four depends on
whether the task is easy. Success when shown therefore tells nothing of 35 memories, and of the five
mostly how easy the tasks were. With one place in four filled at random, the outcomes, weighed by
the inverse of the propensity, tell the useful ones from the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.sampling import Slot, draw
from memserver_trainers.worlds.measured import Measured

MEMORIES, USEFUL = 40, 12
PREFERRED, USEFUL_PREFERRED = 5, 2
PLACES = 4
EASY, HARD, LIFT = 0.4, 0.1, 0.17
"""Chance of success with nothing useful at hand, and what each useful memory adds to it."""
TASKS = 5000
NAIVE_AT_MOST, WEIGHED_AT_LEAST = 0.7, 0.9

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shown:
    """What one task was shown, and whether it succeeded."""

    slots: tuple[Slot, ...]
    outcome: float


class ExposureWorld:
    def __init__(self, seed: int) -> None:
        self._seed = seed
        rng = np.random.default_rng((seed, 0))
        self.useful = np.zeros(MEMORIES, bool)
        self.useful[:USEFUL_PREFERRED] = True
        hidden = np.arange(PREFERRED, MEMORIES)
        self.useful[rng.choice(hidden, USEFUL - USEFUL_PREFERRED, replace=False)] = True

    def shown(self, *, exposure_slots: int) -> Iterator[Shown]:
        """The log of a greedy policy with so many of its places filled at random."""
        rng = np.random.default_rng((self._seed, 1 + exposure_slots))
        for number in range(TASKS):
            easy = bool(rng.random() < 0.5)
            slots = draw(
                _scores(easy=easy),
                PLACES,
                temperature=0.0,
                exposure_slots=exposure_slots,
                seed=uuid5(NAMESPACE_URL, f"memserver:exposure/{self._seed}/{number}"),
            )
            helping = int(self.useful[[slot.index for slot in slots]].sum())
            chance = (EASY if easy else HARD) + LIFT * helping
            yield Shown(slots, float(rng.random() < chance))


def _scores(*, easy: bool) -> Floats:
    """Of the preferred the first is passed over in hard tasks, the last in easy ones."""
    scores = -np.arange(MEMORIES, dtype=np.float64)
    scores[0 if not easy else PREFERRED - 1] = -PREFERRED + 0.5
    return scores


def success_when_shown(log: Sequence[Shown]) -> Floats:
    """For each memory the mean outcome of the tasks that were shown it, a half where none was."""
    return _means(log, [[1.0] * len(shown.slots) for shown in log])


def weighed_success(log: Sequence[Shown]) -> Floats:
    """The same with each outcome weighed by the inverse of the propensity, self-normalised
    (Swaminathan and Joachims 2015, section 4)."""
    return _means(log, [[1 / slot.propensity for slot in shown.slots] for shown in log])


def _means(log: Sequence[Shown], weights: Sequence[Sequence[float]]) -> Floats:
    index = np.array([slot.index for shown in log for slot in shown.slots])
    weight = np.array([each for shown in weights for each in shown])
    outcome = np.repeat([shown.outcome for shown in log], [len(shown.slots) for shown in log])
    total = np.bincount(index, weight, MEMORIES)
    gained = np.bincount(index, weight * outcome, MEMORIES)
    means: Floats = np.divide(gained, total, out=np.full(MEMORIES, 0.5), where=total > 0)
    return means


def separation(scores: Floats, useful: npt.NDArray[np.bool_]) -> float:
    """The chance that a useful memory scores above another one, a tie counting half (AUC)."""
    gap = scores[useful][:, None] - scores[~useful][None, :]
    return float(np.mean((gap > 0) + 0.5 * (gap == 0)))


def measure_exposure(seed: int) -> Measured:
    world = ExposureWorld(seed)
    greedy = list(world.shown(exposure_slots=0))
    exposed = list(world.shown(exposure_slots=1))
    seen = {slot.index for shown in greedy for slot in shown.slots}
    naive = separation(success_when_shown(greedy), world.useful)
    weighed = separation(weighed_success(exposed), world.useful)
    return Measured(
        world="exposure",
        seed=seed,
        score=weighed,
        baseline=naive,
        gate=WEIGHED_AT_LEAST,
        gate_met=weighed >= WEIGHED_AT_LEAST and naive <= NAIVE_AT_MOST,
        details={
            "never_shown": MEMORIES - len(seen),
            "naive_at_most": NAIVE_AT_MOST,
            "unweighed_with_exposure": separation(success_when_shown(exposed), world.useful),
        },
    )
