"""Estimates worked by hand, the truth inside the interval as often as it says, and refusals."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memserver.domain.policy.choice_arrays import Floats, arrays
from memserver.domain.policy.errors import InvalidChoice
from memserver.domain.policy.interval import clustered_mean, student_quantile
from memserver.domain.policy.off_policy import (
    LoggedChoice,
    decision_values,
    doubly_robust,
    effective_size,
    evaluate,
    snips,
    support,
)
from memserver.domain.policy.reward_model import cross_fitted, ridge
from memserver.domain.policy.sampling import probabilities


def choice(
    decision: str,
    reward: float,
    *,
    taken: int = 0,
    slot: int = 0,
    cluster: str | None = None,
    behaviour: Sequence[float] = (0.5, 0.5),
    target: Sequence[float] = (0.5, 0.5),
    reference: Sequence[float] = (0.5, 0.5),
) -> LoggedChoice:
    return LoggedChoice(
        decision=decision,
        cluster=cluster or decision,
        slot=slot,
        features=np.eye(len(behaviour), dtype=np.float32),
        taken=taken,
        propensity=behaviour[taken],
        behaviour=np.array(behaviour),
        target=np.array(target),
        reference=np.array(reference),
        reward=reward,
    )


def rows(*numbers: float) -> Floats:
    return np.array(numbers, np.float64)


# --- worked by hand ------------------------------------------------------------------------


def test_snips_of_single_choices_is_the_weighted_mean() -> None:
    value = snips(rows(2, 0.5, 0), rows(1, 0, 1), np.zeros(3, np.intp), decisions=3)

    assert value == pytest.approx(2 / 2.5)


def test_snips_of_rankings_adds_the_weighted_means_of_the_positions() -> None:
    positions = np.array([0, 1, 0], np.intp)  # two decisions, the first with a second slot

    value = snips(rows(1, 4, 3), rows(0.5, 0.25, 0.1), positions, decisions=2)

    # position 0: 2 choices at (.5 + .3) / 4; position 1: one at .25; over 2 decisions
    assert value == pytest.approx((2 * 0.2 + 0.25) / 2)


def test_a_position_without_weight_adds_nothing() -> None:
    assert snips(rows(1, 0), rows(0.5, 1), np.array([0, 1], np.intp), decisions=1) == 0.5


def test_doubly_robust_puts_the_model_right_by_its_error_on_what_was_taken() -> None:
    values = doubly_robust(rows(2, 0), rows(1, 1), rows(0.4, 0.9), rows(0.5, 0.3))

    assert values == pytest.approx([0.5 + 2 * 0.6, 0.3])


def test_the_effective_size_counts_equal_weights_in_full_and_one_heavy_one_as_one() -> None:
    assert effective_size(rows(2, 2, 2)) == pytest.approx(3)
    assert effective_size(rows(1, 3)) == pytest.approx(16 / 10)
    assert effective_size(rows(0, 5, 0)) == pytest.approx(1)
    assert effective_size(rows(0, 0)) == 0


def test_support_is_the_mass_on_what_the_log_takes_often_enough() -> None:
    choices = [
        choice("a", 1, behaviour=(0.9, 0.0995, 0.0005), target=(0.2, 0.5, 0.3)),
        choice("b", 1, behaviour=(0.5, 0.5, 0.0), target=(0.5, 0.4, 0.1)),
    ]

    _, target, reference = arrays(
        [replace(one, reference=one.behaviour) for one in choices], floor=0.001
    )

    assert support(target) == pytest.approx((0.7 + 0.9) / 2)
    assert support(reference) == pytest.approx((0.9995 + 1) / 2)
    assert target.weights == pytest.approx([0.2 / 0.9, 1])


def test_a_decisions_value_is_the_sum_over_its_slots() -> None:
    log, _, _ = arrays([choice("a", 0.3), choice("b", 1), choice("a", 0.2, slot=1)], floor=0.001)

    assert decision_values(log.rewards, log) == pytest.approx([0.5, 1])


def test_the_interval_of_clusters_worked_by_hand() -> None:
    """Sums of residuals -2 and 2 in two clusters of two: error sqrt(2 / 1 * 8) / 4 = 1."""
    said = clustered_mean(rows(0, 0, 2, 2), np.array([0, 0, 1, 1]), confidence=0.95)

    assert said.estimate == 1
    assert said.high - 1 == pytest.approx(student_quantile(0.975, freedom=1))
    assert 1 - said.low == pytest.approx(said.high - 1)


@pytest.mark.parametrize(
    ("freedom", "expected"), [(4, 2.7764), (9, 2.2622), (30, 2.0423), (1000, 1.9623)]
)
def test_students_quantiles_are_those_of_the_tables(freedom: int, expected: float) -> None:
    assert student_quantile(0.975, freedom=freedom) == pytest.approx(expected, rel=0.01)


def test_ridge_shrinks_all_but_the_constant() -> None:
    design = np.array([[1.0, 1.0], [1.0, -1.0]])

    # Constant 2; the slope minimises (3 - 2 - b)^2 + (1 - 2 + b)^2 + b^2, so b = 2 / 3.
    assert ridge(design, rows(3, 1), free=1) == pytest.approx([2, 2 / 3])


def test_the_reward_model_never_saw_the_cluster_that_it_speaks_of() -> None:
    """One cluster's rewards change: what the model says of this cluster does not."""
    plain = [choice(f"{n}", n % 2, taken=n % 2, cluster=f"c{n // 4}") for n in range(80)]
    other = [replace(one, reward=9.0) if one.cluster == "c3" else one for one in plain]

    said = []
    for choices in (plain, other):
        log, target, _ = arrays(choices, floor=0.001)
        said.append(cross_fitted(log, [log.taken, target.expected], folds=5, seed=0))
    inside = np.array([one.cluster == "c3" for one in plain])

    for before, after in zip(*said, strict=True):
        assert before[inside] == pytest.approx(after[inside])
        assert (np.abs(before[~inside] - after[~inside]) > 0.01).any()


# --- what must hold of any log -------------------------------------------------------------


@st.composite
def logs(draw: st.DrawFn, *, target_is_behaviour: bool = False) -> list[LoggedChoice]:
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    slots = draw(st.integers(1, 3))
    choices = []
    for number in range(draw(st.integers(60, 90))):
        for slot in range(slots):
            count = 5 - slot
            behaviour, target = (random.dirichlet(np.full(count, 8.0)) for _ in range(2))
            taken = int(random.choice(count, p=behaviour))
            choices.append(
                LoggedChoice(
                    decision=f"d{number}",
                    cluster=f"c{number // 3}",
                    slot=slot,
                    features=random.normal(size=(count, 4)).astype(np.float32),
                    taken=taken,
                    propensity=float(behaviour[taken]),
                    behaviour=behaviour,
                    target=behaviour if target_is_behaviour else target,
                    reference=behaviour if target_is_behaviour else target,
                    reward=float(random.random() / slots),
                )
            )
    return choices


@given(choices=logs(target_is_behaviour=True))
@settings(max_examples=25, deadline=None)
def test_a_policy_that_is_the_logs_own_is_worth_what_the_log_earned(
    choices: list[LoggedChoice],
) -> None:
    said = evaluate(choices)

    assert said.target is not None
    decisions = len({one.decision for one in choices})
    assert said.target.snips == pytest.approx(sum(one.reward for one in choices) / decisions)
    assert said.ess == pytest.approx(decisions)
    assert said.support == pytest.approx(1)


@given(choices=logs())
@settings(max_examples=25, deadline=None)
def test_a_policy_does_not_differ_from_itself(choices: list[LoggedChoice]) -> None:
    said = evaluate(choices)

    assert said.difference is not None
    assert (said.difference.low, said.difference.estimate, said.difference.high) == (0, 0, 0)
    assert said.target == said.reference


@given(choices=logs(), order=st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_the_order_of_the_log_does_not_matter(choices: list[LoggedChoice], order: object) -> None:
    shuffled = list(choices)
    order.shuffle(shuffled)  # type: ignore[attr-defined]

    first, second = evaluate(choices).target, evaluate(shuffled).target

    assert first is not None
    assert second is not None
    assert first.doubly_robust == pytest.approx(second.doubly_robust)
    assert (first.low, first.snips) == pytest.approx((second.low, second.snips))


# --- against a known truth -----------------------------------------------------------------

TASTE = np.array([1.0, -0.5, 0.3])


def bandit(seed: int, *, tasks: int = 60) -> tuple[list[LoggedChoice], tuple[float, float]]:
    """Three decisions a task, whose luck they share; reward is no linear function of the
    features. With the log come the true values of target and reference, by many more tasks."""
    random = np.random.default_rng(seed)
    wanted, active = random.normal(0, 0.7, size=(2, 3))

    def chances(features: Floats, luck: Floats) -> Floats:
        good = np.tanh(features @ TASTE + features[..., 0] ** 2 - 1)
        return np.clip(0.5 + 0.2 * good + luck, 0, 1)

    def value(taste: Floats) -> float:
        many = np.random.default_rng(seed + 10_000)
        features = many.normal(size=(4000, 4, 3))
        luck = many.normal(0, 0.15, size=(4000, 1))
        mass = np.exp(features @ taste)
        mass /= mass.sum(axis=1, keepdims=True)
        return float((mass * chances(features, luck)).sum(axis=1).mean())

    choices = []
    for task in range(tasks):
        features = random.normal(size=(4, 3))
        success = chances(features, np.array(random.normal(0, 0.15)))
        log, target, reference = (
            probabilities(features @ taste, temperature=1) for taste in (active / 2, wanted, active)
        )
        for turn in range(3):
            taken = int(random.choice(4, p=log))
            choices.append(
                LoggedChoice(
                    decision=f"{task}-{turn}",
                    cluster=f"{task}",
                    slot=0,
                    features=features,
                    taken=taken,
                    propensity=float(log[taken]),
                    behaviour=log,
                    target=target,
                    reference=reference,
                    reward=float(random.random() < success[taken]),
                )
            )
    return choices, (value(wanted), value(active))


@pytest.mark.slow
def test_the_intervals_cover_the_truth_as_often_as_they_say() -> None:
    told = covered = differences = 0
    for seed in range(200):
        choices, (target, reference) = bandit(seed)
        said = evaluate(choices)
        if said.target is None or said.difference is None:
            continue
        told += 1
        covered += said.target.low <= target <= said.target.high
        differences += said.difference.low <= target - reference <= said.difference.high

    assert told >= 180
    assert 0.9 <= covered / told <= 0.99
    assert 0.9 <= differences / told <= 0.99


def test_clusters_make_the_interval_wider_than_rows_would() -> None:
    """Four decisions of a task that earn the same tell hardly more than one of them."""
    alike = [choice(f"{n}", float(n // 4 % 2), cluster=f"c{n // 4}") for n in range(200)]

    by_task = evaluate(alike).target
    by_row = evaluate([replace(one, cluster=one.decision) for one in alike]).target

    assert by_task is not None
    assert by_row is not None
    assert (by_task.high - by_task.low) / (by_row.high - by_row.low) == pytest.approx(2, rel=0.1)


def test_a_better_policy_is_told_from_the_active_one() -> None:
    random = np.random.default_rng(1)
    choices = []
    for number in range(600):
        taken = int(random.random() < 0.5)
        choices.append(
            choice(
                f"{number}",
                float(random.random() < (0.7 if taken == 1 else 0.3)),
                taken=taken,
                target=(0.1, 0.9),
                reference=(0.9, 0.1),
            )
        )

    said = evaluate(choices)

    assert said.target is not None
    assert said.reference is not None
    assert said.difference is not None
    assert said.target.doubly_robust == pytest.approx(0.66, abs=0.06)
    assert said.reference.doubly_robust == pytest.approx(0.34, abs=0.06)
    assert said.target.low > said.reference.high
    assert said.difference.low > 0


# --- what is said of it --------------------------------------------------------------------


def many(count: int = 100, **changed: object) -> list[LoggedChoice]:
    return [choice(f"{n}", 1.0, taken=n % 2, **changed) for n in range(count)]  # type: ignore[arg-type]


def test_the_reward_model_is_named() -> None:
    assert evaluate(many()).reward_model == "single choice"
    assert evaluate([*many(), choice("0", 0.5, slot=1)]).reward_model == (
        "item-position additive, prefixes as logged"
    )


def test_the_same_log_and_seed_give_the_same_numbers() -> None:
    choices, _ = bandit(5)

    first, again, other = (evaluate(choices, seed=seed) for seed in (4, 4, 5))

    assert first.target is not None
    assert first == again
    assert first != other


def test_an_empty_log_is_no_data() -> None:
    said = evaluate([])

    assert said.refusal is not None
    assert said.refusal.startswith("no data")
    assert (said.target, said.reference, said.difference) == (None, None, None)
    assert (said.ess, said.support, said.decisions, said.choices) == (0, 0, 0, 0)


def test_a_greedy_log_cannot_speak_of_another_policy() -> None:
    greedy = [
        choice(f"{n}", 1.0, behaviour=(1, 0), target=(0.2, 0.8), reference=(1, 0))
        for n in range(100)
    ]

    said = evaluate(greedy)

    assert said.refusal == (
        "not enough exploration: 0.20 of what the target policy would choose has a probability "
        "above 0.001 in the log, and 0.9 is needed"
    )
    assert said.target is None
    assert said.difference is None
    assert said.support == pytest.approx(0.2)
    assert said.decisions == 100


def test_a_reference_that_the_log_cannot_speak_of_is_named() -> None:
    choices = [
        choice(f"{n}", 1.0, behaviour=(1, 0), target=(1, 0), reference=(0, 1)) for n in range(100)
    ]

    assert "0.00 of what the reference policy" in (evaluate(choices).refusal or "")


def test_a_log_that_tells_too_little_is_refused_with_the_number() -> None:
    said = evaluate(many(20))

    assert said.refusal == (
        "too few decisions: for the target policy the 20 in the log tell as much as 20.0, and 30 "
        "are needed"
    )
    assert said.target is None
    assert said.ess == pytest.approx(20)


def test_decisions_from_a_handful_of_clusters_are_refused() -> None:
    few = [replace(one, cluster=f"c{n % 9}") for n, one in enumerate(many())]

    assert evaluate(few).refusal == (
        "too few clusters: the decisions come from 9 that are independent, and 10 are needed"
    )


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"taken": 2}, "took candidate 2 of 2"),
        ({"propensity": 0.4}, "propensity is logged as 0.4 and replayed as 0.5"),
        ({"reward": float("nan")}, "reward is nan"),
        ({"target": rows(0.5, 0.6)}, "target is no distribution"),
        ({"behaviour": rows(1.5, -0.5)}, "behaviour is no distribution"),
        ({"reference": rows(1)}, r"reference has the shape \(1,\)"),
        ({"features": np.ones((2, 3))}, "features have the shape"),
        ({"features": np.full((2, 2), np.inf)}, "feature is not finite"),
        ({"propensity": 0.0, "behaviour": rows(0, 1)}, "propensity is 0"),
    ],
)
def test_a_choice_whose_numbers_do_not_fit_is_named(
    changed: dict[str, object], reason: str
) -> None:
    wrong = replace(choice("d7", 1.0, slot=2), **changed)  # type: ignore[arg-type]

    with pytest.raises(InvalidChoice, match=f"Slot 2 of decision d7: .*{reason}"):
        evaluate([choice("d6", 1.0), wrong])


def test_a_decision_in_two_clusters_is_refused() -> None:
    with pytest.raises(InvalidChoice, match="in two clusters"):
        evaluate([choice("a", 1, cluster="x"), choice("a", 1, slot=1, cluster="y")])
