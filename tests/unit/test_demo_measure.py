"""The demo's own yardsticks, on numbers worked by hand."""

from memserver.demo.measure import best_constant
from memserver.demo.recorded import load


def test_a_line_is_added_only_while_it_raises_the_mean_f1() -> None:
    # "a" alone: F1 is 2/3 for each run. With "b": 1 and 1/2, a mean of 3/4. With "c" as well:
    # 4/5 and 4/5, a mean of 4/5.
    assert best_constant([("a", "b"), ("a", "c")]) == ("a", "b", "c")


def test_a_line_that_most_runs_lack_is_left_out() -> None:
    runs = [("a",), ("a",), ("a", "b")]

    assert best_constant(runs) == ("a",)


def test_a_line_counts_as_often_as_a_run_holds_it() -> None:
    assert best_constant([("a", "a"), ("a", "a")]) == ("a", "a")


def test_held_out_tasks_are_never_trained_on_and_no_run_names_its_family() -> None:
    recorded = load()
    trained = {run["task"]["template_id"] for run in recorded.training}
    goals = {run["task"]["goal"] for run in recorded.training}

    assert len(recorded.held_out) >= 30
    for run in recorded.held_out:
        assert run["task"]["template_id"] not in trained
        assert run["task"]["goal"] not in goals
    assert all(run["task"].get("type") is None for run in recorded.training)
    assert recorded.training_successes
    assert len(recorded.training_successes) < len(recorded.training)
