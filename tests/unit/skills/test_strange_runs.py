"""Runs as nobody would wish them: each distiller takes what it can, alike in whatever order."""

import time
from dataclasses import replace

import pytest

from memserver_skills.distillers import DISTILLERS
from memserver_skills.experience import Experience
from tests.unit.skills.runs import HEATS, PUTS, run

STRANGE = [
    run("(((", ["((("]),
    run("…", ["…", "—"]),
    run("", [""]),
    run("put mug on shelf", []),
    run("İstanbul’a git", ["git İstanbul", "оставь {object}"], observations=["", "ничего", ""]),
    run("打开 门", ["打开 门", "走 到 门"]),
    run("打开 门", ["打开 窗", "走 到 窗"], success=False),
    run("a" * 5_000, ["go " + "a" * 5_000] * 3),
    run("go {class} {", ["{0.__class__}", "go {x} in {"]),
    replace(run("nobody knows", ["go away", "take it"]), outcome=None),
    run("count to it", [f"count {n}" for n in range(5_000)]),
    run("count to it", ["count 1"] * 5_000, success=False),
]
NAMES = ["milestones", "experiences", "demonstrations", "siblings", "edits", "code"]


@pytest.mark.parametrize("name", NAMES)
def test_strange_runs_do_no_harm(name: str) -> None:
    runs = [*STRANGE, *PUTS, *HEATS, *PUTS]
    began = time.process_time()

    made = DISTILLERS[name](Experience(runs))

    assert time.process_time() - began < 10
    assert len({one.signature for one in made}) == len(made)
    for one in made:
        ids = [source.trajectory_id for source in one.sources]
        assert len(set(ids)) == len(ids)
        assert all(len(set(source.steps)) == len(source.steps) for source in one.sources)


@pytest.mark.parametrize("name", NAMES)
def test_runs_sent_twice_and_turned_about_teach_the_same(name: str) -> None:
    runs = [*STRANGE[:-2], *PUTS, *HEATS, *PUTS]

    assert DISTILLERS[name](Experience(runs[::-1])) == DISTILLERS[name](Experience(runs))
