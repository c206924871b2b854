"""The score of retrieved steps, by hand-worked numbers."""

import pytest

from memserver_skills.steps_score import normal_line, score_steps, step_lines


def test_equal_steps_score_one() -> None:
    score = score_steps(["go to desk", "take pen"], ["Go to desk.", "take  pen"])

    assert (score.f1, score.order, score.score) == (1.0, 1.0, 1.0)


def test_steps_count_as_often_as_they_occur() -> None:
    # matches: a, b -> 2; offered 3, done 4: f1 = 2*2/7
    score = score_steps(["a", "a", "b"], ["a", "b", "c", "d"])

    assert score.precision == pytest.approx(2 / 3)
    assert score.recall == pytest.approx(2 / 4)
    assert score.f1 == pytest.approx(4 / 7)
    assert score.order == 1.0


def test_order_is_the_share_of_matches_in_common_order() -> None:
    # all 4 match; longest common subsequence of abcd and badc is 2
    score = score_steps(["a", "b", "c", "d"], ["b", "a", "d", "c"])

    assert (score.f1, score.order, score.score) == (1.0, 0.5, 0.5)


def test_nothing_in_common_scores_nothing() -> None:
    assert score_steps(["a"], ["b"]).score == 0.0
    assert score_steps([], ["b"]).score == 0.0
    assert score_steps([], []).score == 0.0


def test_steps_are_read_from_numbered_and_bulleted_lines_only() -> None:
    text = "Title\nWhen: x\n1. go to desk → You see a pen.\n2) take pen\n- use pen\nnot a step"

    assert step_lines(text) == ("go to desk", "take pen", "use pen")


def test_a_step_is_compared_without_number_result_case_and_full_stop() -> None:
    assert normal_line("12. Take  Pen -> You hold it.") == "take pen"
    assert normal_line("take pen.") == "take pen"
