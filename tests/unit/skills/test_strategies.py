"""Strategies: by what the reward rose, or by what tells a success from a failure."""

from dataclasses import replace

import pytest

from memserver.domain.items import Kind, TextBody
from memserver.domain.trajectories import Trajectory
from memserver_skills.proposals import Proposal
from memserver_skills.self_play import Play, SelfPlay, Trial, played
from memserver_skills.strategies import distil_strategies
from tests.unit.skills.runs import put, run

GOAL = "calm the customer"


def talk(*turns: tuple[str, float | None], success: bool, name: str = "") -> Trajectory:
    made = run(GOAL, [action for action, _ in turns], success=success, name=name)
    steps = [
        replace(step, reward=reward) for step, (_, reward) in zip(made.steps, turns, strict=True)
    ]
    return replace(made, steps=tuple(steps))


def text(made: Proposal) -> str:
    assert isinstance(made.body, TextBody)
    return made.body.text


def test_what_raised_the_reward_is_done_rather_than_what_did_not() -> None:
    good = talk(("greet", 0.1), ("apologise", 0.6), ("refund", 1.0), success=True)
    bad = talk(("greet", 0.1), ("argue", 0.0), ("leave", 0.0), success=False)

    made = {one.metadata["should"]: one for one in distil_strategies([good, bad])}

    strategy = made["apologise"]
    assert strategy.kind is Kind.PRINCIPLE
    assert strategy.metadata["rather_than"] == ["argue"]
    assert text(strategy) == (
        "When asked to calm the customer, after greet, you should apologise rather than argue, "
        "because the reward rose with it, and with the other it did not."
    )
    assert {(source.trajectory_id, source.steps) for source in strategy.sources} == {
        (good.id, (1,)),
        (bad.id, (1,)),
    }
    assert made["refund"].metadata["rather_than"] == []
    assert "leave" not in made


def test_without_rewards_the_parting_of_siblings_tells() -> None:
    good = put("mug", "cart", "shelf")
    bad = run(good.task.goal, ["go to shelf", "sing", "dance"], success=False)

    [made] = distil_strategies([good, bad])

    assert made.metadata["should"] == "take {object} from shelf"
    assert made.metadata["rather_than"] == ["sing"]
    assert made.metadata["because"] == (
        "the run that did so succeeded, and those that did the other failed"
    )


def test_what_wins_as_often_as_it_loses_is_no_strategy() -> None:
    runs = [
        talk(("joke", reward), success=False, name=str(n))
        for n, reward in enumerate([0.0, 0.5, 0.0, 0.5])
    ]

    assert distil_strategies(runs) == []


def test_without_rewards_and_siblings_there_is_nothing_to_say() -> None:
    assert distil_strategies([put("mug", "cart", "shelf"), put("cup", "bed", "desk")]) == []


def trial(strategy: str, reward: float, *, when: str = "the user hesitates") -> Trial:
    return Trial(when, strategy, reward)


def test_scripted_rewards_reproduce_the_branches() -> None:
    """Turn 0 succeeds at once; turn 1 fails twice and is played again from there; turn 2 ends."""
    result = played(
        [
            [trial("greet", 0.2)],
            [trial("push", 0.1), trial("flatter", 0.2), trial("listen", 0.7)],
            [trial("close", 1.0)],
        ]
    )

    assert result.branches == ((0, 0), (1, 0), (1, 1), (1, 2), (2, 0))
    assert [(one.should, one.rather_than) for one in result.strategies] == [
        ("greet", ()),
        ("listen", ("push", "flatter")),
        ("close", ()),
    ]
    assert result.strategies[1].text == (
        "When the user hesitates, you should listen rather than push or flatter, because the "
        "reward rose from 0.2 to 0.7, and was 0.2 at best otherwise."
    )


def test_a_failed_turn_is_asked_for_again_with_what_failed_there() -> None:
    play = SelfPlay()
    play.tell(trial("greet", 0.2))
    play.tell(trial("push", 0.1))

    again = play.next()

    assert isinstance(again, Play)
    assert (again.turn, again.attempt) == (1, 1)
    assert [one.strategy for one in again.line] == ["greet"]
    assert again.hint == "From turn 1, do something else than: push (reward 0.1)."


def test_when_all_tries_fail_the_best_stands_and_teaches_nothing() -> None:
    play = SelfPlay(start=0.5, tries=2)
    for strategy, reward in [("push", 0.1), ("beg", 0.4)]:
        assert play.tell(trial(strategy, reward)) is None

    following = play.next()

    assert following is not None
    assert (following.turn, following.failed) == (1, ())
    assert [one.strategy for one in following.line] == ["beg"]
    assert play.strategies == []


def test_a_play_is_over_when_it_is_solved_or_its_turns_are_played() -> None:
    solved, short = SelfPlay(), SelfPlay(turns=1)
    solved.tell(trial("refund", 1.0))
    short.tell(trial("greet", 0.1))

    assert solved.next() is None
    assert short.next() is None
    with pytest.raises(ValueError, match="over"):
        solved.tell(trial("more", 1.0))
