"""What is proposed to be practised: new, possible, and neither sure to be reached nor to fail."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from statistics import mean
from uuid import uuid4

import pytest

from memserver.domain.practice import PracticeGoal, PracticeState, Refusal, Why
from memserver.domain.trajectories import Trajectory
from memserver.services.importers.alfworld import read_alfworld
from memserver_skills.practice.proposing import Exercise, propose
from memserver_skills.practice.space import read_space, said, units
from tests.unit.skills.runs import NAMESPACE, T0, run

THINGS, PLACES = ("mug", "apple", "book"), ("shelf", "desk", "cart")
PAIRS = tuple(zip(THINGS, PLACES, strict=True))


def put(
    thing: str,
    place: str,
    *,
    verb: str = "put",
    success: bool = True,
    house: str = "a",
    day: int = 0,
) -> Trajectory:
    return run(
        f"{verb} the {thing} on the {place}",
        [f"go to {thing} 1", f"take {thing} 2", f"go to {place} 3", f"leave {thing} at {place} 1"],
        success=success,
        environment=house,
        type=verb,
        day=day,
        name=house + str(day),
    )


def kitchen() -> list[Trajectory]:
    return [put(thing, place) for thing, place in zip(THINGS, PLACES, strict=True)]


def remembered(
    exercise: Exercise,
    state: PracticeState = PracticeState.PROPOSED,
    refusal: Refusal | None = None,
) -> PracticeGoal:
    return PracticeGoal(
        uuid4(),
        NAMESPACE,
        exercise.task,
        exercise.template,
        exercise.values,
        exercise.why,
        T0,
        state,
        refusal,
    )


def goals(exercises: tuple[Exercise, ...]) -> list[str]:
    return [one.task.goal for one in exercises]


def test_goals_are_new_combinations_of_what_was_seen_in_its_role() -> None:
    runs = kitchen()
    found = propose(runs, [], k=100)
    assert set(goals(found)) == {
        f"put the {thing} on the {place}" for thing in THINGS for place in PLACES
    } - {one.task.goal for one in runs}
    assert {one.task.environment for one in found} == {"a"}
    first = found[0]
    assert set(first.values) == {"object", "place"}
    assert first.why.coverage == (
        f"object: {first.values['object']}, place: {first.values['place']}",
    )
    assert first.why.redundancy == 0.5
    assert first.why.score == pytest.approx(
        first.why.novelty * first.why.p * (1 - first.why.p) * first.why.feasibility
    )


def test_nothing_of_another_environment_gets_into_a_goal() -> None:
    elsewhere = [put(thing, "pod", house="b") for thing in ("rock", "crater", "suit")]
    for one in propose([*kitchen(), *elsewhere], [], k=100):
        if one.task.environment == "a":
            assert not {"rock", "crater", "suit", "pod"} & set(one.values.values())
        else:
            assert not {*THINGS, *PLACES} & set(one.values.values())


def test_the_same_seed_gives_the_same_goals_in_whatever_order_the_runs_come() -> None:
    runs = kitchen()
    one = propose(runs, [], k=4, seed=3)
    assert propose(runs[::-1], [], k=4, seed=3) == one
    assert any(propose(runs, [], k=4, seed=seed) != one for seed in range(4, 9))


def test_half_a_chance_is_preferred_to_none_and_to_certainty() -> None:
    def outcomes(verb: str, wins: int) -> list[Trajectory]:
        return [
            put(thing, place, verb=verb, success=day < wins, day=day)
            for thing, place in zip(THINGS, PLACES, strict=True)
            for day in range(6)
        ]

    runs = [*outcomes("hide", 0), *outcomes("lay", 3), *outcomes("set", 6)]
    found = propose(runs, [], k=6)
    assert [one.task.type for one in found] == ["lay"] * 6
    assert found[0].why.p == pytest.approx(0.5)
    everything = {one.task.type: one.why.p for one in propose(runs, [], k=100)}
    assert everything["hide"] < 0.2 < 0.8 < everything["set"]


def test_a_kind_of_goal_that_was_never_judged_stands_as_its_type_does() -> None:
    lost = [put(t, p, success=False, day=d) for d in range(4) for t, p in PAIRS]
    unjudged = [replace(put(t, p, verb="drop"), outcome=None) for t, p in PAIRS]
    alike = [replace(one, task=replace(one.task, type="put")) for one in unjudged]
    won = [put(t, p, verb="lay", day=d) for d in range(4) for t, p in PAIRS]
    of_type = propose([*lost, *won, *alike], [], k=100)
    of_none = propose([*lost, *won, *unjudged], [], k=100)
    p_of_type = {one.why.p for one in of_type if one.template.startswith("drop")}
    p_of_none = {one.why.p for one in of_none if one.template.startswith("drop")}
    assert max(p_of_type) < 0.2
    assert min(p_of_none) == pytest.approx(0.5)


@pytest.mark.parametrize("refusal", [None, Refusal.FAILED, Refusal.INFEASIBLE, Refusal.UNVERIFIED])
def test_what_was_proposed_is_not_proposed_again(refusal: Refusal | None) -> None:
    state = PracticeState.PROPOSED if refusal is None else PracticeState.REJECTED
    runs = kitchen()
    everything = propose(runs, [], k=100)
    memory = [remembered(one, state, refusal) for one in everything[:3]]
    assert set(goals(propose(runs, memory, k=100))) == set(goals(everything[3:]))


def test_an_infeasible_combination_stays_out_in_other_words() -> None:
    runs = kitchen()
    bad = propose(runs, [], k=1)[0]
    reworded = replace(bad, task=replace(bad.task, goal=bad.task.goal.replace("the ", "some ")))
    memory = [remembered(reworded, PracticeState.REJECTED, Refusal.INFEASIBLE)]
    assert bad.task.goal not in goals(propose(runs, memory, k=100))


def test_what_turned_out_to_be_impossible_makes_goals_like_it_less_likely() -> None:
    runs = [*kitchen(), *(put(t, "wall", verb="hang") for t in ("photo", "clock", "coat"))]

    def moved(memory: list[PracticeGoal]) -> dict[str, float]:
        """The best that each thing stands in the new place."""
        best: dict[str, float] = {}
        for one in propose(runs, memory, k=200):
            thing = one.values.get("object", "")
            if one.template.startswith("hang") and thing in THINGS:
                best[thing] = max(best.get(thing, 0.0), one.why.feasibility)
        return best

    before = moved([])
    assert set(before) == set(THINGS)
    mug = next(
        one
        for one in propose(runs, [], k=200)
        if one.template.startswith("hang") and one.values["object"] == "mug"
    )
    after = moved([remembered(mug, PracticeState.REJECTED, Refusal.INFEASIBLE)])
    assert after["apple"] < before["apple"] < 1
    assert after["mug"] < after["apple"]


def test_a_failure_counts_in_the_chance_of_its_kind_and_no_other_refusal_does() -> None:
    runs = kitchen()
    first = propose(runs, [], k=1)[0]

    def p(refusal: Refusal) -> float:
        memory = [remembered(first, PracticeState.REJECTED, refusal)]
        return propose(runs, memory, k=1)[0].why.p

    assert p(Refusal.FAILED) < first.why.p
    assert p(Refusal.NOT_JUDGED) == p(Refusal.INFEASIBLE) == first.why.p


def test_goals_about_a_person_are_nobody_elses_exercise() -> None:
    runs = [*kitchen(), replace(put("diary", "desk"), subject="ana")]
    assert not any("diary" in goal for goal in goals(propose(runs, [], k=100)))


def test_no_runs_and_runs_without_slots_give_no_goals() -> None:
    assert propose([], [], k=5) == ()
    assert propose([run("think", ["wait"])], [], k=5) == ()


def test_thousands_of_values_are_looked_at_in_part_and_each_value_gets_its_turn() -> None:
    runs = [put(f"thing{n}", f"place{n}", day=n) for n in range(60)]
    found = propose(runs, [], k=60)
    assert len(found) == 60
    assert all(one.why.redundancy == 0.5 for one in found)
    assert len({one.values["object"] for one in found}) >= 40


def test_coverage_of_real_runs_grows_faster_than_by_chance(alfworld_runs: Path) -> None:
    times = (T0 + timedelta(seconds=n) for n in range(1000))
    runs = list(read_alfworld(alfworld_runs.read_bytes(), NAMESPACE, lambda: next(times)))
    space = read_space(runs)
    ran = {
        (one.key, unit)
        for one in space.runs
        for unit in units([s.name for s in one.slots], [s.example for s in one.slots])
    }
    run_before = {said(one.task.goal) for one in runs}

    def new(made: list[tuple[str, list[str], list[str]]]) -> int:
        return len({(key, unit) for key, slots, held in made for unit in units(slots, held)} - ran)

    proposed = propose(runs, [], k=40)
    assert not {said(one.task.goal) for one in proposed} & run_before
    ours = new([(one.template, [*one.values], [*one.values.values()]) for one in proposed])

    def by_chance(random: Random) -> int:
        made: list[tuple[str, list[str], list[str]]] = []
        while len(made) < 40:
            family = random.choice(space.families)
            values = [random.choice(options) for options in family.options]
            goal = family.goal(dict(zip(family.slots, values, strict=True)))
            if goal is not None and said(goal) not in run_before:
                made.append((family.template, list(family.slots), values))
        return new(made)

    chance = [by_chance(Random(seed)) for seed in range(20)]
    assert ours > max(chance)
    assert ours > 1.2 * mean(chance)


def test_a_score_is_kept_as_it_was_told() -> None:
    why = propose(kitchen(), [], k=1)[0].why
    assert isinstance(why, Why)
    assert 0 < why.score <= 0.25
