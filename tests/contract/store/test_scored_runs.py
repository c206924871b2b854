"""How runs turned out under each policy: the record that canaries and rollbacks are judged by."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from memserver.domain.decisions import Decision
from memserver.domain.evidence import Event, Evidence
from memserver.domain.items import Entry
from memserver.domain.policies import BUILT_IN, ScoredRun
from memserver.domain.scope import Namespace
from memserver.domain.trajectories import Outcome, OutcomeSource, Trajectory
from tests.contract.store.world import START, World, rows_of

LEARNED = str(uuid4())


def test_a_run_counts_once_under_the_policy_of_its_first_decision(world: World) -> None:
    here = world.namespace()
    run = _run(world, here, 0.25)
    _decide(world, here, 1, trajectory_id=run.id, policy=LEARNED)
    _decide(world, here, 2, trajectory_id=run.id)
    _decide(world, here, 3, trajectory_id=run.id, policy=LEARNED)
    assert _scored(world, here) == (ScoredRun(LEARNED, run.id, 0.25, _at(1)),)
    later = ScoredRun(BUILT_IN, run.id, 0.25, _at(2))
    assert _scored(world, here, since=_at(2)) == (later,)


def test_a_run_whose_decisions_fell_at_one_time_counts_once(world: World) -> None:
    here = world.namespace()
    run = _run(world, here)
    for _ in range(4):
        _decide(world, here, 1, trajectory_id=run.id, policy=LEARNED)
    assert _scored(world, here) == (ScoredRun(LEARNED, run.id, 1.0, _at(1)),)


def test_only_runs_whose_outcome_is_known_count(world: World) -> None:
    here = world.namespace()
    unknown = replace(world.run(here), outcome=None)
    world.apply(unknown)
    for minute, unit in enumerate((unknown.id, uuid4())):
        _decide(world, here, minute, trajectory_id=unit)
    assert _scored(world, here) == ()
    world.apply(replace(unknown, outcome=Outcome(0.0, False)))
    assert [(one.unit, one.score) for one in _scored(world, here)] == [(unknown.id, 0.0)]


def test_a_run_counts_only_for_what_its_own_sender_asked(world: World) -> None:
    here, me, stranger = world.namespace(), uuid4(), uuid4()
    mine, nobodys = _run(world, here, sender=me), _run(world, here)
    _decide(world, here, 1, trajectory_id=mine.id, asked_by=stranger, policy="stranger's")
    _decide(world, here, 2, trajectory_id=mine.id, policy="nobody's")
    _decide(world, here, 3, trajectory_id=nobodys.id, asked_by=me, policy="mine")
    assert _scored(world, here) == ()
    _decide(world, here, 4, trajectory_id=mine.id, asked_by=me, policy=LEARNED)
    _decide(world, here, 5, trajectory_id=nobodys.id)
    assert _scored(world, here) == (
        ScoredRun(LEARNED, mine.id, 1.0, _at(4)),
        ScoredRun(BUILT_IN, nobodys.id, 1.0, _at(5)),
    )


def test_a_run_may_lie_in_another_namespace_than_the_one_whose_policy_served_it(
    world: World,
) -> None:
    shared, own = world.namespace("shared"), world.namespace("own")
    run = _run(world, own)
    _decide(world, shared, 1, trajectory_id=run.id, policy=LEARNED)
    assert [one.unit for one in _scored(world, shared)] == [run.id]
    assert _scored(world, own) == ()
    _decide(world, own, 2, trajectory_id=run.id)
    assert _scored(world, shared) == (ScoredRun(LEARNED, run.id, 1.0, _at(1)),)
    assert _scored(world, own) == (ScoredRun(BUILT_IN, run.id, 1.0, _at(2)),)


def test_a_retrieve_without_a_run_counts_by_the_feedback_on_it(world: World) -> None:
    here = world.namespace()
    told, untold = _decide(world, here, 1, policy=LEARNED), _decide(world, here, 2)
    _tell(world, here, told, 0.75)
    assert _scored(world, here) == (ScoredRun(LEARNED, told.id, 0.75, _at(1)),)
    assert untold.id not in {one.unit for one in _scored(world, here)}


def test_who_may_write_only_another_namespace_of_a_retrieve_does_not_judge_it(
    world: World,
) -> None:
    here, there = world.namespace("a"), world.namespace("b")
    both, told = (
        replace(_decide(world, here, minute), id=uuid4(), namespaces=(here, there))
        for minute in (1, 2)
    )
    for decision in (both, told):
        world.store.write(lambda tx, one=decision: tx.add_decision(one))
    _tell(world, here, told, 0.75)
    for decision in (both, told):
        _tell(world, there, decision, 0.0)
    assert [(one.unit, one.score) for one in _scored(world, here)] == [(told.id, 0.75)]


def test_feedback_on_a_retrieve_that_belongs_to_a_run_does_not_count_beside_it(
    world: World,
) -> None:
    here = world.namespace()
    run = _run(world, here, 0.5)
    decision = _decide(world, here, 1, trajectory_id=run.id)
    _tell(world, here, decision, 1.0)
    assert [(one.unit, one.score) for one in _scored(world, here)] == [(run.id, 0.5)]


def test_the_newest_feedback_that_stands_counts(world: World) -> None:
    here = world.namespace()
    decision = _decide(world, here, 1)
    first = _tell(world, here, decision, 0.25, source="judge")
    second = _tell(world, here, decision, 0.5, source="human")
    assert _scores(world, here) == [0.5]
    _retract(world, second)
    assert _scores(world, here) == [0.25]
    third = world.apply(*_pieces(world, here, decision, 1.0))
    assert _scores(world, here) == [1.0]
    world.undo(third)
    assert _scores(world, here) == [0.25]
    _retract(world, first)
    assert _scores(world, here) == []


def test_what_an_agent_says_of_itself_does_not_count(world: World) -> None:
    here = world.namespace()
    boasting = replace(world.run(here), outcome=Outcome(1.0, True, OutcomeSource.AGENT))
    world.apply(boasting)
    _decide(world, here, 1, trajectory_id=boasting.id)
    decision = _decide(world, here, 2)
    _tell(world, here, decision, 1.0, source="agent")
    assert _scored(world, here) == ()
    _tell(world, here, decision, 0.25, source="judge")
    _tell(world, here, decision, 1.0, source="agent")
    assert _scores(world, here) == [0.25]


def test_what_is_not_an_outcome_is_no_feedback(world: World) -> None:
    here = world.namespace()
    decision = _decide(world, here, 1)
    world.apply(*_pieces(world, here, decision, 1.0, event=Event.INHERITED))
    assert _scored(world, here) == ()


@pytest.mark.parametrize("limit", range(7))
def test_the_newest_runs_up_to_the_limit_are_given_oldest_first(world: World, limit: int) -> None:
    """Each with many decisions, or with feedback on many versions: neither crowds out others."""
    here, expected = world.namespace(), []
    for number in range(6):
        if number % 2:
            run = _run(world, here, number / 6)
            for repeat in range(3):
                minute = number * 10 + repeat
                _decide(world, here, minute, trajectory_id=run.id, policy=LEARNED)
            expected.append(ScoredRun(LEARNED, run.id, number / 6, _at(number * 10)))
        else:
            decision = _decide(world, here, number * 10)
            _tell(world, here, decision, number / 6, versions=3)
            expected.append(ScoredRun(BUILT_IN, decision.id, number / 6, _at(number * 10)))
    assert _scored(world, here, limit=limit) == tuple(expected[6 - limit :])


def test_only_decisions_from_the_given_time_on_count(world: World) -> None:
    here = world.namespace()
    runs = [_run(world, here) for _ in range(3)]
    retrieves = []
    for minute, run in enumerate(runs):
        _decide(world, here, minute, trajectory_id=run.id)
        retrieves.append(_decide(world, here, minute))
        _tell(world, here, retrieves[-1], 1.0)
    units = {one.unit for one in _scored(world, here, since=_at(1))}
    assert units == {one.id for one in (*runs[1:], *retrieves[1:])}
    assert _scored(world, here, since=_at(3)) == ()


def test_other_namespaces_and_tenants_do_not_leak_in(world: World) -> None:
    """The other tenant even has a run, a retrieve and feedback with this one's ids."""
    here, there, other = world.namespace("a"), world.namespace("b"), world.another()
    elsewhere = other.namespace("a")
    run, lost = _run(world, here, 0.5), uuid4()
    served = _decide(world, here, 1, trajectory_id=run.id)
    retrieve, told = _decide(world, here, 2), _decide(world, here, 4)
    _tell(world, here, told, 0.75)
    _decide(world, here, 3, trajectory_id=lost)
    _decide(world, there, 1, trajectory_id=_run(world, there).id)
    _tell(world, there, _decide(world, there, 2), 1.0)
    for unit in (run.id, lost):
        other.apply(replace(other.run(elsewhere), id=unit))
    for decision in (served, retrieve, told):
        copy = replace(
            decision, tenant=other.tenant.id, namespaces=(elsewhere,), created_at=_at(-1)
        )
        other.store.write(lambda tx, copy=copy: tx.add_decision(copy))
    for decision in (retrieve, told):
        _tell(other, elsewhere, decision, 1.0)
    assert _scored(world, here, since=_at(-9)) == (
        ScoredRun(BUILT_IN, run.id, 0.5, _at(1)),
        ScoredRun(BUILT_IN, told.id, 0.75, _at(4)),
    )
    theirs = {one.unit: one.score for one in _scored(other, elsewhere, since=_at(-9))}
    assert theirs == {run.id: 1.0, retrieve.id: 1.0, told.id: 1.0}


def test_anothers_retraction_takes_no_feedback_back(world: World) -> None:
    here, other = world.namespace(), world.another()
    decision = _decide(world, here, 1)
    (piece,) = _tell(world, here, decision, 1.0)
    foreign = replace(piece, namespace=other.namespace())
    other.apply(*rows_of(_entry_of(other, foreign)), foreign)
    _retract(other, [foreign])
    assert _scores(world, here) == [1.0]


def _at(minute: int) -> datetime:
    return START + timedelta(minutes=minute)


def _run(world: World, namespace: Namespace, score: float = 1.0, **more: Any) -> Trajectory:
    run = replace(world.run(namespace), outcome=Outcome(score, score >= 0.5), **more)
    world.apply(run)
    return run


def _decide(world: World, namespace: Namespace, minute: int, **more: Any) -> Decision:
    return world.decide(namespace, created_at=_at(minute), **more)


def _pieces(
    world: World,
    namespace: Namespace,
    decision: Decision,
    value: float,
    *,
    versions: int = 1,
    **more: Any,
) -> list[Evidence]:
    """Feedback on a retrieve that had packed so many versions."""
    entries = [world.entry(namespace) for _ in range(versions)]
    world.apply(*rows_of(*entries))
    return [
        world.evidence(entry, value, 1 / versions, cause=decision.id, **more) for entry in entries
    ]


def _tell(
    world: World,
    namespace: Namespace,
    decision: Decision,
    value: float,
    *,
    versions: int = 1,
    source: str = "human",
) -> list[Evidence]:
    pieces = _pieces(world, namespace, decision, value, versions=versions, source=source)
    world.apply(*pieces)
    return pieces


def _retract(world: World, pieces: list[Evidence]) -> None:
    world.apply(
        *(replace(piece, id=uuid4(), event=Event.RETRACTION, retracts=piece.id) for piece in pieces)
    )


def _entry_of(world: World, piece: Evidence) -> Entry:
    entry = world.entry(piece.namespace)
    return Entry(replace(entry.item, head=piece.subject), replace(entry.version, id=piece.subject))


def _scored(
    world: World, namespace: Namespace, *, since: datetime = START, limit: int = 100
) -> tuple[ScoredRun, ...]:
    with world.store.reading() as reader:
        return reader.scored_runs(namespace, since=since, limit=limit)


def _scores(world: World, namespace: Namespace) -> list[float]:
    return [one.score for one in _scored(world, namespace)]
