"""Looking after every outcome costs no false alarms, and a real difference is soon seen."""

import math
import statistics
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from memserver.domain.policy.interval import Interval
from memserver.domain.policy.sequential import MIN_PER_ARM, against, difference

ALPHA = 0.05


@dataclass(frozen=True)
class Stream:
    """Units as they come: whether each is treated, and its outcome."""

    arms: npt.NDArray[np.bool_]
    outcomes: npt.NDArray[np.float64]

    @classmethod
    def of(
        cls, seed: int, *, treated: float, control: float, share: float, length: int
    ) -> "Stream":
        """Outcomes are 1 or 0, with the chance of success of the unit's arm."""
        random = np.random.default_rng(seed)
        arms = random.random(length) < share
        outcomes = random.random(length) < np.where(arms, treated, control)
        return cls(arms, outcomes.astype(np.float64))

    def first_told(self, *, share: float) -> tuple[int, Interval] | None:
        """The first number of units after which the interval leaves 0 on one side."""
        treated, control = self.outcomes[self.arms], self.outcomes[~self.arms]
        for number, so_far in enumerate(np.cumsum(self.arms).tolist(), start=1):
            said = difference(
                treated[:so_far], control[: number - so_far], share=share, confidence=1 - ALPHA
            )
            if said is not None and (said.low > 0 or said.high < 0):
                return number, said
        return None


@pytest.mark.slow
def test_no_difference_is_seldom_told_apart_however_often_one_looks() -> None:
    settings = [(0.1, 0.9), (0.2, 0.5), (0.5, 0.15)]
    alarms = 0
    for seed in range(300):
        share, chance = settings[seed % 3]
        units = Stream.of(seed, treated=chance, control=chance, share=share, length=350)
        alarms += units.first_told(share=share) is not None

    assert alarms <= ALPHA * 300 + 3 * math.sqrt(300 * ALPHA * (1 - ALPHA))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_real_difference_is_told_within_a_few_hundred_outcomes(sign: int) -> None:
    needed = []
    for seed in range(20):
        units = Stream.of(
            seed, treated=0.5 + sign * 0.15, control=0.5 - sign * 0.15, share=0.3, length=600
        )
        told = units.first_told(share=0.3)
        assert told is not None
        needed.append(told[0])
        assert told[1].estimate * sign > 0

    assert statistics.median(needed) < 250


def test_nothing_is_said_before_each_arm_has_enough() -> None:
    enough, few = [1.0] * MIN_PER_ARM, [0.0] * (MIN_PER_ARM - 1)

    assert difference(few, enough * 9, share=0.5) is None
    assert difference(enough * 9, few, share=0.5) is None
    assert difference(enough, [*few, 0.0], share=0.5) is not None
    assert against(few, enough) is None
    assert against(enough, few) is None
    assert against(enough, [*few, 0.0]) is not None


def test_the_interval_narrows_and_its_middle_is_the_difference_of_means() -> None:
    widths = []
    for times in (1, 4, 16, 64):
        said = difference([1.0, 0.5] * 20 * times, [0.25] * 60 * times, share=0.4)
        assert said is not None
        assert said.estimate == pytest.approx(0.5)
        assert said.high - 0.5 == pytest.approx(0.5 - said.low)
        widths.append(said.high - said.low)

    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < widths[0] / 4


def test_arms_that_only_ever_succeeded_are_not_taken_for_certain() -> None:
    said = difference([1.0] * 20, [1.0] * 20, share=0.5)

    assert said is not None
    assert said.high - said.low > 0.3


def test_an_arm_that_got_less_than_its_share_counts_by_what_it_got() -> None:
    treated, control = [0.0, 1.0] * 20, [0.0, 1.0] * 180

    fair, short = (difference(treated, control, share=share) for share in (0.1, 0.5))

    assert fair is not None
    assert short is not None
    assert short.high - short.low > fair.high - fair.low


def test_a_drop_below_a_settled_baseline_is_told_and_none_is_not() -> None:
    random = np.random.default_rng(5)
    alarms, told = 0, []
    for _ in range(100):
        baseline = random.random(200) < 0.7
        same, worse = (random.random(400) < chance for chance in (0.7, 0.3))
        looks = range(MIN_PER_ARM, 400, 4)
        alarms += any(
            not said.low <= 0 <= said.high
            for look in looks
            if (said := against(same[:look], baseline)) is not None
        )
        told.append(
            next(
                look
                for look in looks
                if (said := against(worse[:look], baseline)) is not None and said.high < 0
            )
        )

    assert alarms <= 100 * ALPHA + 3 * math.sqrt(100 * ALPHA * (1 - ALPHA))
    assert statistics.median(told) < 150


def test_a_small_baseline_makes_the_interval_wider() -> None:
    few, many = (against([1.0, 0.0] * 50, [1.0, 0.0] * count) for count in (20, 500))

    assert few is not None
    assert many is not None
    assert few.high - few.low > many.high - many.low


def test_what_is_no_outcome_share_or_confidence_is_refused() -> None:
    sound = [0.0, 1.0] * 20
    with pytest.raises(ValueError, match="between 0 and 1"):
        difference([*sound, 1.5], sound, share=0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        against([*sound, math.nan], sound)
    for share in (0, 1):
        with pytest.raises(ValueError, match="arm's share"):
            difference(sound, sound, share=share)
    with pytest.raises(ValueError, match="confidence"):
        difference(sound, sound, share=0.5, confidence=1)
