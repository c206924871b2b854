"""What distillers make of runs that are odd: unfinished, empty, very long, in other scripts, or
there twice."""

from dataclasses import replace

import pytest

from memserver_skills.distillers import DISTILLERS
from memserver_skills.experience import Experience
from tests.unit.skills.runs import HEATS, PUTS, run

NAMES = ["principles", "skillbank", "reflections", "strategies", "rubrics"]
LONG = [f"go to place{n} {n}" for n in range(1_500)]
ODD = [
    *HEATS,
    *PUTS,
    run(HEATS[0].task.goal, LONG),
    run(HEATS[0].task.goal, [*LONG, "sing"], success=False),
    run("", [], success=False),
    run("把杯子放在桌子上", ["走到桌子", "拿杯子"]),
    run("把杯子放在桌子上", ["走到桌子", "唱歌"], success=False),
    run("поставь чашку", ["иди", ""], mistakes=["", "  "], success=False),
    run("x" * 5_000, ["y" * 5_000] * 3, mistakes=["m " * 3_000], success=False),
]


@pytest.mark.parametrize("name", NAMES)
def test_odd_runs_teach_what_they_can_in_any_order(name: str) -> None:
    made = DISTILLERS[name](Experience(ODD))

    assert made
    assert all(len(one.title) <= 100 for one in made)
    assert len({one.signature for one in made}) == len(made)
    assert DISTILLERS[name](Experience(ODD[::-1])) == made


@pytest.mark.parametrize("name", NAMES)
def test_an_unfinished_run_and_one_that_is_there_twice_change_nothing(name: str) -> None:
    runs = [*HEATS, *PUTS]
    unfinished = replace(run(HEATS[0].task.goal, ["go to desk"]), outcome=None)

    made = DISTILLERS[name](Experience([*runs, unfinished, HEATS[1]]))

    assert made == DISTILLERS[name](Experience(runs))
