"""Tasks keep their split for ever, and siblings lie in one."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.trajectories import Task
from memserver.services.exporting.splits import Split, group_of, group_of_goal, split_of

GOALS = st.text(st.characters(codec="utf-8"), max_size=60)


@pytest.mark.parametrize(
    ("task", "group", "split"),
    [
        (Task("put a mug on a desk"), "01434707d2af5617776d3f9108c72849", "validation"),
        (
            Task("anything", template_id="pick_and_place/3"),
            "23f2b4564219d9f792cc6c680e1e89c2",
            "validation",
        ),
        (Task("Goal 0."), "a8d42ecb7612f59e9b0129a019064b78", "train"),
        (Task("goal 9"), "938f67ce68ad4737c27624abe152a00e", "test"),
    ],
)
def test_groups_and_splits_never_change(task: Task, group: str, split: str) -> None:
    """What is written here was in exports: if this fails, the code is wrong and not the test."""
    assert group_of(task) == group
    assert split_of(group) == split


@given(st.text(min_size=1, max_size=40), GOALS, GOALS)
def test_runs_of_one_template_lie_in_one_split(template: str, one: str, other: str) -> None:
    groups = {group_of(Task(goal, template_id=template)) for goal in (one, other)}
    assert len(groups) == len({split_of(group) for group in groups}) == 1


@given(
    st.from_regex(r"[a-zA-Z0-9 ]{0,40}[a-zA-Z0-9]", fullmatch=True),
    st.sampled_from([str.upper, str.title, str.strip]),
    st.sampled_from(["", ".", "!?"]),
)
def test_runs_and_queries_of_one_goal_lie_in_one_split(
    goal: str, spelt: Callable[[str], str], end: str
) -> None:
    again = f"  {spelt(goal)}{end}"
    assert group_of(Task(goal)) == group_of(Task(again, environment="elsewhere"))
    assert group_of(Task(goal)) == group_of_goal(again)


def test_a_template_and_a_goal_of_the_same_name_are_not_the_same_task() -> None:
    assert group_of(Task("x", template_id="x")) != group_of(Task("x"))


def test_eight_of_ten_groups_are_for_training_and_one_each_for_the_others() -> None:
    counted = Counter(split_of(group_of_goal(f"goal {n}")) for n in range(10_000))
    assert abs(counted[Split.TRAIN] - 8_000) < 200
    assert abs(counted[Split.VALIDATION] - 1_000) < 150
    assert abs(counted[Split.TEST] - 1_000) < 150
