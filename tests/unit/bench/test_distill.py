"""What the benchmark of distilling compares, and that it compares it fairly."""

import pytest

from memserver_bench.distill.arms import cut
from memserver_bench.distill.failures import wrong_steps
from memserver_bench.distill.runs import Corpus, Run, folds
from memserver_bench.distill.scoring import interval
from memserver_bench.distill.slotting import heads_of, slotted, things


def run(goal: str, *actions: str, success: bool = True, at: int | None = None) -> Run:
    return Run(goal, actions, success, {}, template="t/1", perturbed_at=at)


MUG = run("Put some mug on shelf.", "go to table 2", "take mug 1 from table 2", "put mug on shelf")
HEADS = heads_of([MUG])


def test_the_goals_things_become_slots_and_everything_else_stays() -> None:
    slots = things(MUG, HEADS)

    assert slots == {"mug": "{object1}", "shelf": "{place1}"}
    assert slotted(MUG.actions, slots) == (
        "go to table",
        "take {object1} from table",
        "put {object1} on {place1}",
    )


def test_another_runs_steps_are_compared_with_their_own_things_as_slots() -> None:
    egg = run("put some egg on desk", "take egg from table", "put egg on desk")

    assert (
        slotted(egg.actions, things(egg, HEADS))[-1] == slotted(MUG.actions, things(MUG, HEADS))[-1]
    )


def test_no_goal_is_both_taught_and_held_out_and_each_is_held_out_once() -> None:
    runs = [run(f"goal {n // 2}", "go") for n in range(40)]

    dealt = folds(runs, seed=3)

    for fold in dealt:
        assert not {one.goal for one in fold.taught} & {one.goal for one in fold.held_out}
    assert sorted(one.goal for fold in dealt for one in fold.held_out) == sorted(
        one.goal for one in runs
    )


def test_the_interval_of_a_sure_difference_leaves_out_zero_and_that_of_none_holds_it() -> None:
    goals = [str(n) for n in range(30)]
    noise = [0.1 * (n % 3) for n in range(30)]

    low, high = interval([0.5 + x for x in noise], noise, goals, seed=1)
    same = interval(noise, noise[::-1], goals, seed=1)

    assert low == pytest.approx(0.5)
    assert high == pytest.approx(0.5)
    assert same[0] < 0 < same[1]


def test_runs_of_one_goal_are_one_look() -> None:
    """A difference that one goal alone makes, however often it was run, is not sure."""
    goals = ["often"] * 50 + ["a", "b", "c"]

    low, _ = interval([1.0] * 50 + [0.0] * 3, [0.0] * 53, goals, seed=1)

    assert low <= 0


def test_a_step_is_named_as_a_line_and_warned_of_only_as_advice() -> None:
    failed = run("put some mug on shelf", "go to table", "put mug on floor", success=False, at=1)
    good = run("put some mug on shelf", "go to table", "put mug on shelf")
    [wrong] = wrong_steps([failed], [good], HEADS)

    assert (wrong.right, wrong.done) == ("put {object1} on {place1}", "put {object1} on floor")
    assert wrong.is_named("1. go to table\n2. put mug on shelf")
    assert not wrong.is_warned_of("1. go to table\n2. put mug on shelf")
    assert wrong.is_warned_of("When: at the table\nDo: wait\nAvoid: put mug on floor or run")
    assert not wrong.is_named("1. go to table")


def test_a_text_is_cut_at_the_budget() -> None:
    assert cut(["go there", "take it", "leave"], 6, lambda text: len(text.split())) == (
        "1. go there",
        "2. take it",
    )


def test_the_recorded_runs_have_failures_that_were_made_to_leave_the_good_run() -> None:
    corpus = Corpus.recorded()
    good = [one for one in corpus.runs if one.success]
    failures = [one for one in corpus.runs if not one.success]

    assert len(wrong_steps(failures, good, heads_of(good))) > 50
