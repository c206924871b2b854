"""The order within one task, by hand."""

import numpy as np
import pytest

from memserver_trainers.within_group import within_group_auc


def auc(scores: list[float], outcomes: list[float], groups: list[int]) -> float | None:
    return within_group_auc(np.array(scores), np.array(outcomes), np.array(groups))


def test_pairs_are_counted_within_a_group_and_groups_weigh_alike() -> None:
    # Group 0 is ordered rightly; in group 1 one pair of two is.
    assert auc([2.0, 1.0, 5.0, 9.0, 1.0], [1, 0, 1, 0, 0], [0, 0, 1, 1, 1]) == 0.75


def test_knowing_only_which_tasks_are_easy_is_worth_a_half() -> None:
    assert auc([1.0, 1.0, 9.0, 9.0], [1, 0, 1, 0], [0, 0, 1, 1]) == 0.5


def test_rows_of_a_group_need_not_lie_together() -> None:
    assert auc([2.0, 1.0, 1.0, 2.0], [1, 1, 0, 0], [0, 1, 0, 1]) == 0.5


def test_graded_outcomes_make_pairs_too() -> None:
    assert auc([3.0, 2.0, 1.0], [1.0, 0.5, 0.0], [0, 0, 0]) == pytest.approx(1.0)


def test_without_a_pair_there_is_no_figure() -> None:
    assert auc([1.0, 2.0], [1, 1], [0, 0]) is None


def test_of_many_candidates_of_one_task_every_pair_counts() -> None:
    rng = np.random.default_rng(0)
    scores, outcomes = rng.integers(0, 50, 1100) / 50, rng.integers(0, 3, 1100) / 2
    gap = np.sign(scores[:, None] - scores[None, :])
    right = (gap[outcomes[:, None] > outcomes[None, :]] + 1) / 2
    found = within_group_auc(scores, outcomes, np.zeros(1100, np.int64))
    assert found == pytest.approx(np.mean(right))
