"""Runs as the world sends them: without an outcome, empty, endless, in several languages, twice, or
one inside the other. No distiller stumbles, is kept busy for long, or makes anything of nothing."""

import time
from dataclasses import replace
from datetime import timedelta

import pytest

from memserver.domain.items import render
from memserver.domain.trajectories import Step, Trajectory
from memserver_skills.distillers import DISTILLERS
from memserver_skills.experience import Experience
from memserver_skills.proposals import Proposal
from tests.unit.skills import runs as made_of

METHODS = sorted(DISTILLERS)
LONG = 10_000
WITHIN_S = 20.0
"""What takes longer grows faster than the runs do; it is a second or two on a quiet machine."""


def run(goal: str, *actions: str, success: bool = True, name: str = "") -> Trajectory:
    return made_of.run(goal, actions, success=success, name=name)


LANGUAGES = [
    run("Поставь кружку на полку", "идти к столу", "взять кружку", "поставить кружку на полку"),
    run("マグカップを棚に置く", "机に行く", "マグカップを取る", "棚にマグカップを置く"),
    run("ضع الكوب على الرف", "اذهب إلى الطاولة", "خذ الكوب", "ضع الكوب على الرف"),
    run("put the 杯子 on the Regal", "go to table", "take 杯子", "put 杯子 on Regal"),
]


def distilled(method: str, *runs: Trajectory) -> list[Proposal]:
    return DISTILLERS[method](Experience(runs))


def in_time(method: str, *runs: Trajectory) -> list[Proposal]:
    started = time.process_time()
    made = distilled(method, *runs)
    assert time.process_time() - started < WITHIN_S
    return made


@pytest.mark.parametrize("method", METHODS)
def test_runs_without_an_outcome_are_neither_examples_nor_warnings(method: str) -> None:
    good, bad = (
        run("put mug on shelf", "go to table", "take mug", "put mug on shelf"),
        run("put mug on shelf", "go to door", "open door", success=False),
    )
    told = distilled(method, good, bad)
    more = [
        replace(one, id=run("x", name=str(n)).id, outcome=None)
        for n, one in enumerate((good, bad, good, bad))
    ]

    assert [one.signature for one in distilled(method, *more)] == []
    sources = {s.trajectory_id for one in distilled(method, good, bad, *more) for s in one.sources}
    assert sources <= {good.id, bad.id}
    assert told == distilled(method, bad, good)


@pytest.mark.parametrize("method", METHODS)
def test_runs_with_nothing_in_them_teach_nothing(method: str) -> None:
    empty = [
        run("put mug on shelf"),
        run("put mug on shelf", success=False),
        replace(run("", "look"), steps=()),
        replace(run("put mug on shelf"), steps=(Step(), Step("", "  "), Step("a room", ""))),
    ]

    assert distilled(method, *empty) == []


@pytest.mark.parametrize("method", METHODS)
def test_runs_of_ten_thousand_steps_end_in_time_and_make_nothing_endless(method: str) -> None:
    steps = [f"do thing {n % 37} to part {n % 101}" for n in range(LONG)]
    good = run("finish the thing", *steps)
    bad = run("finish the thing", *steps[1:6], success=False)

    for one in in_time(method, good, bad):
        assert len(render(one.title, one.body)) < 100_000


@pytest.mark.parametrize("method", METHODS)
def test_runs_in_several_languages_are_told_as_they_are(method: str) -> None:
    made = distilled(method, *LANGUAGES)

    assert made == distilled(method, *LANGUAGES[::-1])
    for one in made:
        assert one.title.strip()
        render(one.title, one.body).encode()


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_is_there_twice_counts_as_it_does_once(method: str) -> None:
    """The store has an id once; whoever calls with a list may not."""
    good = run("put mug on shelf", "go to table", "take mug", "put mug on shelf")
    bad = run("put mug on shelf", "go to door", "open door", success=False)

    once, twice = distilled(method, good, bad), distilled(method, good, bad, good, bad)

    assert [one.signature for one in once] == [one.signature for one in twice]


@pytest.mark.parametrize("method", METHODS)
def test_tasks_that_ran_one_inside_the_other_keep_their_own_sources(method: str) -> None:
    mugs = run("put mug on shelf", "take mug", "go to shelf", "put mug on shelf")
    mails = run("answer the mail", "open mail", "write answer", "send answer")
    later = replace(mails, created_at=mugs.created_at + timedelta(seconds=1))

    for one in distilled(method, mugs, later):
        assert {source.trajectory_id for source in one.sources} <= {mugs.id, later.id}
        for source in one.sources:
            length = len((mugs if source.trajectory_id == mugs.id else later).steps)
            assert all(step < length for step in source.steps)
