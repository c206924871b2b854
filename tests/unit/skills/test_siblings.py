"""What told siblings apart, by the acceptance of Training-Free GRPO and Combee: the planted
difference is the extracted one, and 1, 4 and 16 workers give the same set."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memserver.domain.items import HintBody, Kind, RuleBody
from memserver.domain.trajectories import Trajectory
from memserver_skills.siblings import (
    Lessons,
    distil_siblings,
    map_group,
    reduce_lessons,
    sibling_groups,
)
from tests.unit.skills.runs import HEATS, PUTS, put, run

PLANTED = "wipe {thing} with cloth"


def pair(thing: str, place: str = "shelf", **task: str) -> list[Trajectory]:
    """Two runs of one task: the good one wipes the thing first, the bad one does not."""
    bad = put(thing, place, "desk", success=False, **task)
    actions = [step.action for step in bad.steps]
    planted = PLANTED.replace("{thing}", thing)
    return [run(bad.task.goal, [*actions[:2], planted, *actions[2:]], **task), bad]


def families(count: int, seed: int) -> list[Trajectory]:
    """Siblings of many tasks, with noise of their own."""
    chance = random.Random(seed)
    runs: list[Trajectory] = []
    for n in range(count):
        good, bad = pair(f"thing{chr(97 + n % 26)}{chr(97 + n // 26)}")
        noise = [f"look at wall {chance.randrange(50)}" for _ in range(chance.randrange(3))]
        actions = [step.action for step in bad.steps]
        runs += [good, run(bad.task.goal, [*noise, *actions], success=False, name=str(n))]
    return runs


def test_the_planted_difference_is_the_extracted_one() -> None:
    good, bad = pair("mug")

    [made] = distil_siblings([*PUTS, good, bad])

    assert made.kind is Kind.HINT
    assert isinstance(made.body, HintBody)
    assert made.body.do == "wipe {object} with cloth"
    assert made.body.when.endswith("after take {object} from desk")
    sources = {source.trajectory_id: source.steps for source in made.sources}
    assert sources == {good.id: (2,), bad.id: (2,)}
    assert (made.metadata["best"], made.metadata["worst"]) == (1, 1)


def test_what_only_the_worst_did_is_to_be_avoided() -> None:
    good = put("mug", "shelf", "desk")
    actions = [step.action for step in good.steps]
    bad = run(good.task.goal, [*actions[:3], "throw mug"], success=False)

    made = distil_siblings([*PUTS, good, bad])

    [rule] = [one for one in made if one.kind is Kind.RULE]
    assert isinstance(rule.body, RuleBody)
    assert rule.body.text.startswith("Avoid: throw {object}.")
    assert {source.trajectory_id for source in rule.sources} == {good.id, bad.id}


def test_one_of_the_best_alone_teaches_nothing_that_its_equals_did_without() -> None:
    good, bad = pair("mug")
    other = run(good.task.goal, ["hum a song", *(step.action for step in good.steps)])

    made = distil_siblings([*PUTS, good, other, bad])

    assert [one.body.do for one in made if isinstance(one.body, HintBody)] == [
        "wipe {object} with cloth"
    ]


def test_of_runs_with_the_same_lines_the_order_is_the_difference() -> None:
    goal = "bake the cake"
    good = run(goal, ["heat oven", "open oven", "insert cake"])
    bad = run(goal, ["open oven", "heat oven", "insert cake"], success=False)

    [made] = distil_siblings([good, bad])

    assert isinstance(made.body, HintBody)
    assert made.body.do == "heat oven"


def test_siblings_by_generator_are_compared_whatever_their_goals() -> None:
    good, _ = pair("mug", template_id="t1")
    _, bad = pair("pan", template_id="t1")
    _, stranger = pair("cup", template_id="t2")

    [made] = distil_siblings([*PUTS, good, bad, stranger])

    assert {source.trajectory_id for source in made.sources} == {good.id, bad.id}


def test_equal_scores_and_single_runs_teach_nothing() -> None:
    assert distil_siblings([*PUTS, *HEATS]) == []
    assert distil_siblings([pair("mug")[0], pair("cup")[1]]) == []


def test_many_families_with_one_difference_make_one_lesson_with_all_sources() -> None:
    runs = families(12, seed=1)

    hints = [one for one in distil_siblings(runs) if one.kind is Kind.HINT]

    [made] = hints
    assert len(made.sources) == len(runs)


def worked(runs: Sequence[Trajectory], workers: int, chance: random.Random) -> Lessons:
    """The same groups by so many workers, shuffled, merged in a tree of any shape."""
    groups = sibling_groups(runs)
    chance.shuffle(groups)
    shares = [groups[n::workers] for n in range(workers)]
    parts = [reduce_lessons(map_group(group) for group in share) for share in shares]
    while len(parts) > 1:
        left = parts.pop(chance.randrange(len(parts)))
        right = parts.pop(chance.randrange(len(parts)))
        parts.append(reduce_lessons([left, right]))
    return parts[0]


@pytest.mark.parametrize("workers", [1, 4, 16])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_any_number_of_workers_gives_the_same_set(workers: int, seed: int) -> None:
    chance = random.Random(seed)
    runs = families(1 + seed % 9, seed)
    whole = reduce_lessons(map_group(group) for group in sibling_groups(runs))

    assert worked(runs, workers, chance) == whole
    assert whole
    shuffled = chance.sample(runs, len(runs))
    assert distil_siblings(shuffled) == distil_siblings(runs)


def test_a_part_taken_twice_does_no_harm() -> None:
    part = map_group(sibling_groups(pair("mug"))[0])

    assert reduce_lessons([part, part, {}]) == part
