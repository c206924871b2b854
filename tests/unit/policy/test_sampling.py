"""What is drawn has the probability that is logged for it, and a seed draws it again."""

import itertools
import math
from collections import Counter
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.policy.errors import InvalidPolicy
from memserver.domain.policy.sampling import (
    Slot,
    SlotKind,
    assigned,
    draw,
    log_probability,
    probabilities,
)

SCORES = [1.0, 0.2, -0.5, 0.7]
DRAWS = 3_000

scores = st.lists(st.floats(-30, 30), min_size=1, max_size=12)
seeds = st.uuids()
temperatures = st.floats(0.05, 5)


def order(slots: tuple[Slot, ...]) -> tuple[int, ...]:
    return tuple(slot.index for slot in slots)


def units(count: int) -> list[UUID]:
    return [UUID(int=number * 7919 + 1) for number in range(count)]


def chi_square(observed: Counter[tuple[int, ...]], expected: dict[tuple[int, ...], float]) -> float:
    """Pearson's statistic less its mean, in its standard deviations."""
    drawn = sum(observed.values())
    assert set(observed) <= set(expected)
    statistic = sum(
        (observed[cell] - drawn * chance) ** 2 / (drawn * chance)
        for cell, chance in expected.items()
    )
    freedom = len(expected) - 1
    return (statistic - freedom) / math.sqrt(2 * freedom)


def test_orders_come_as_often_as_their_probability_says() -> None:
    drawn = Counter(
        order(draw(SCORES, 3, temperature=0.8, exposure_slots=0, seed=seed))
        for seed in units(DRAWS)
    )
    expected = {
        one: math.exp(log_probability(SCORES, one, temperature=0.8))
        for one in itertools.permutations(range(4), 3)
    }

    assert sum(expected.values()) == pytest.approx(1)
    assert chi_square(drawn, expected) < 3


def test_slots_behind_exposure_come_as_often_as_their_propensities_say() -> None:
    """Given which slots are exposure, an order's probability is the product of its propensities."""
    drawn: dict[tuple[SlotKind, ...], Counter[tuple[int, ...]]] = {}
    said: dict[tuple[SlotKind, ...], dict[tuple[int, ...], float]] = {}
    for seed in units(DRAWS):
        slots = draw(SCORES, 3, temperature=0.8, exposure_slots=1, seed=seed)
        kinds = tuple(slot.kind for slot in slots)
        drawn.setdefault(kinds, Counter())[order(slots)] += 1
        chance = math.prod(slot.propensity for slot in slots)
        assert said.setdefault(kinds, {}).setdefault(order(slots), chance) == pytest.approx(chance)

    assert len(drawn) == 3
    for kinds, orders in drawn.items():
        assert sum(said[kinds].values()) == pytest.approx(1)
        assert chi_square(orders, said[kinds]) < 3


def test_every_slot_is_as_likely_to_be_an_exposure_slot() -> None:
    exposed = Counter(
        tuple(
            place
            for place, slot in enumerate(
                draw(SCORES, 4, temperature=1, exposure_slots=2, seed=seed)
            )
            if slot.kind is SlotKind.EXPOSURE
        )
        for seed in units(DRAWS)
    )

    assert chi_square(exposed, dict.fromkeys(itertools.combinations(range(4), 2), 1 / 6)) < 3


@given(logits=scores, k=st.integers(0, 15), exposure=st.integers(0, 15), seed=seeds)
def test_exposure_slots_do_not_depend_on_the_candidates(
    logits: list[float], k: int, exposure: int, seed: UUID
) -> None:
    other = draw([0.0] * 15, k, temperature=0, exposure_slots=exposure, seed=seed)
    slots = draw(logits, k, temperature=1, exposure_slots=exposure, seed=seed)

    assert len(slots) == min(k, len(logits))
    assert len({slot.index for slot in slots}) == len(slots)
    assert [slot.kind for slot in slots] == [slot.kind for slot in other[: len(slots)]]
    assert sum(slot.kind is SlotKind.EXPOSURE for slot in other) == min(exposure, k)


@given(logits=scores, temperature=temperatures, seed=seeds)
def test_an_orders_log_probability_is_the_sum_of_its_slots_logs(
    logits: list[float], temperature: float, seed: UUID
) -> None:
    slots = draw(logits, len(logits), temperature=temperature, exposure_slots=0, seed=seed)

    assert log_probability(logits, order(slots), temperature=temperature) == pytest.approx(
        sum(math.log(slot.propensity) for slot in slots), abs=1e-9
    )


@given(logits=scores, temperature=temperatures, seed=seeds, exposure=st.integers(0, 3))
def test_a_slots_propensity_is_its_probability_among_what_is_left(
    logits: list[float], temperature: float, seed: UUID, exposure: int
) -> None:
    slots = draw(logits, 5, temperature=temperature, exposure_slots=exposure, seed=seed)

    for place, slot in enumerate(slots):
        before = order(slots[:place])
        left = probabilities(logits, temperature=temperature, taken=before)
        expected = {
            SlotKind.POLICY: left[slot.index],
            SlotKind.EXPOSURE: 1 / (len(logits) - place),
        }[slot.kind]
        assert slot.propensity == pytest.approx(expected)


@given(logits=scores, temperature=st.floats(0, 5), data=st.data())
def test_probabilities_sum_to_one_over_what_is_left(
    logits: list[float], temperature: float, data: st.DataObject
) -> None:
    taken = data.draw(st.lists(st.integers(0, len(logits) - 1), unique=True))

    chances = probabilities(logits, temperature=temperature, taken=taken)

    assert (chances[taken] == 0).all()
    assert chances.sum() == pytest.approx(0 if len(taken) == len(logits) else 1)


@given(
    logits=st.lists(st.integers(-5, 5), min_size=1, max_size=12, unique=True),
    temperature=st.sampled_from([0.0, 1e-320, 1e-9, 0.01]),
    seed=seeds,
)
def test_as_the_temperature_falls_the_ranking_becomes_the_greedy_one(
    logits: list[int], temperature: float, seed: UUID
) -> None:
    slots = draw(logits, 20, temperature=temperature, exposure_slots=0, seed=seed)

    assert order(slots) == tuple(sorted(range(len(logits)), key=lambda one: -logits[one]))
    assert [slot.propensity for slot in slots] == pytest.approx([1.0] * len(logits))


def test_ties_at_temperature_zero_go_by_index() -> None:
    slots = draw([1.0, 2.0, 1.0, 2.0], 4, temperature=0, exposure_slots=0, seed=UUID(int=5))

    assert slots == tuple(Slot(index, SlotKind.POLICY, 1.0) for index in (1, 3, 0, 2))
    assert log_probability([1.0, 2.0, 1.0, 2.0], [1, 3, 0], temperature=0) == 0
    assert log_probability([1.0, 2.0, 1.0, 2.0], [3, 1], temperature=0) == -math.inf


def test_a_decision_can_be_drawn_again_years_later() -> None:
    """Pins the random stream: should this fail, decisions in the log no longer replay."""
    seed = UUID("01890a5d-ac96-774b-bcce-b302099a8057")

    slots = draw([0.3, -1.0, 0.8, 0.1, 2.0, 0.0], 4, temperature=1, exposure_slots=1, seed=seed)

    assert [(slot.index, str(slot.kind)) for slot in slots] == GOLDEN_SLOTS
    stream = np.random.Generator(np.random.Philox(key=seed.int))
    assert stream.random(2).tolist() == GOLDEN_DOUBLES


GOLDEN_SLOTS = [(4, "exposure"), (3, "policy"), (2, "policy"), (5, "policy")]
GOLDEN_DOUBLES = [0.05460544530174993, 0.5901583303490875]


def test_asked_for_more_exposure_than_slots_every_slot_is_exposure() -> None:
    slots = draw(SCORES, 2, temperature=1, exposure_slots=9, seed=UUID(int=3))

    assert [slot.kind for slot in slots] == [SlotKind.EXPOSURE] * 2
    assert [slot.propensity for slot in slots] == [1 / 4, 1 / 3]


def test_no_candidates_give_no_slots() -> None:
    assert draw([], 3, temperature=1, exposure_slots=1, seed=UUID(int=1)) == ()
    assert draw(SCORES, 0, temperature=1, exposure_slots=1, seed=UUID(int=1)) == ()
    assert probabilities([], temperature=1).size == 0
    assert log_probability([], [], temperature=1) == 0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_refused_and_named(bad: float) -> None:
    with pytest.raises(InvalidPolicy, match="candidate 1 the score"):
        draw([0.0, bad], 1, temperature=1, exposure_slots=0, seed=UUID(int=1))


def test_what_makes_no_draw_is_refused() -> None:
    seed = UUID(int=1)
    with pytest.raises(ValueError, match="temperature is 0 or above"):
        draw(SCORES, 1, temperature=-1, exposure_slots=0, seed=seed)
    with pytest.raises(ValueError, match="temperature is 0 or above"):
        probabilities(SCORES, temperature=math.nan)
    with pytest.raises(ValueError, match="negative"):
        draw(SCORES, -1, temperature=1, exposure_slots=0, seed=seed)
    with pytest.raises(ValueError, match="one number a candidate"):
        draw([[1.0]], 1, temperature=1, exposure_slots=0, seed=seed)
    with pytest.raises(ValueError, match="stands twice"):
        log_probability(SCORES, [1, 1], temperature=1)
    with pytest.raises(ValueError, match="no candidate 4 among 4"):
        probabilities(SCORES, temperature=1, taken=[4])


@given(unit=seeds, shares=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_shares_nest(unit: UUID, shares: tuple[float, float]) -> None:
    smaller, larger = sorted(shares)

    assert assigned(unit, larger, salt="canary") >= assigned(unit, smaller, salt="canary")
    assert not assigned(unit, 0, salt="canary")
    assert assigned(unit, 1, salt="canary")


@given(salt=st.text(max_size=20), share=st.floats(0, 1))
def test_a_share_of_the_units_is_assigned(salt: str, share: float) -> None:
    taken = sum(assigned(unit, share, salt=salt) for unit in units(500))

    assert abs(taken - 500 * share) <= 5.5 * math.sqrt(500 * share * (1 - share)) + 5


def test_another_salt_assigns_independently() -> None:
    both = Counter(
        (int(assigned(unit, 0.3, salt="explore")), int(assigned(unit, 0.3, salt="canary")))
        for unit in units(DRAWS)
    )

    assert chi_square(both, {(0, 0): 0.49, (0, 1): 0.21, (1, 0): 0.21, (1, 1): 0.09}) < 3


def test_a_share_beyond_the_whole_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        assigned(UUID(int=1), 1.1, salt="canary")
