"""The log of decisions: what it keeps of a choice, how it is paged, and how it is forgotten."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import numpy as np
import pytest

from memserver.domain.decisions import Considered, Decision, Shadowed
from memserver.domain.errors import InvalidCursor
from memserver.domain.evidence import Event
from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.ports.store import DecisionFilter, RunBrief
from memserver.domain.scope import Namespace, Scope
from memserver.domain.trajectories import Outcome, OutcomeSource
from tests.contract.store.world import START, World, pages, rows_of

QUERY_VECTOR = np.array([0.1, -0.0, 3e38], "<f4").tobytes()
AGES = (timedelta(seconds=0), timedelta(seconds=0), timedelta(seconds=1), timedelta(seconds=1))


# --- what is kept


def test_a_decision_keeps_how_it_was_made(world: World) -> None:
    shown, hidden, gated = uuid4(), uuid4(), uuid4()
    decision = world.decision(
        world.namespace("a"),
        world.namespace("b"),
        policy=str(uuid4()),
        trajectory_id=uuid4(),
        asked_by=world.actor,
        k=7,
        explored=True,
        temperature=0.1 + 0.2,
        exposure_slots=2,
        encoder="sha256:5f",
        query_vector=QUERY_VECTOR,
        shadows=(
            Shadowed(str(uuid4()), (hidden, shown)),
            Shadowed(str(uuid4()), (), failed="InvalidPolicy"),
        ),
        candidates=(
            Considered(shown, (0.5,), 1, True, 1 / 3, None, -2.5e-17, "exposure"),
            Considered(hidden, (1.5,), None, False, score=1e300),
            Considered(gated, (), None, False, gated="lower bound"),
        ),
    )
    world.store.write(lambda tx: tx.add_decision(decision))
    with world.store.reading() as reader:
        found = reader.decision(world.scope(), decision.id)
    assert found == decision
    assert found is not None
    assert (found.packed, found.unit) == ((shown,), decision.trajectory_id)
    assert [candidate.id for candidate in found.admitted] == [shown, hidden]


def test_a_decision_that_left_nothing_to_chance_says_so(world: World) -> None:
    decision = world.decide(world.namespace())
    with world.store.reading() as reader:
        found = reader.decision(world.scope(), decision.id)
    assert found == decision
    assert found is not None
    assert (found.explored, found.temperature, found.query_vector) == (False, 0.0, None)
    assert (found.shadows, found.unit) == ((), decision.id)


# --- paging


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_decisions_are_paged_in_order_of_time_and_none_is_lost_among_equal_times(
    world: World, limit: int, newest_first: bool
) -> None:
    here, there = world.namespace("a"), world.namespace("b")
    made = [world.decide(here, created_at=START + age) for age in AGES * 2]
    world.decide(there, here)
    other = world.another()
    other.decide(other.namespace("a"))
    in_order = sorted(made, key=lambda one: (one.created_at, one.id), reverse=newest_first)
    assert _listed(world, here, limit=limit, newest_first=newest_first) == in_order


def test_decisions_are_those_of_the_namespace_whose_policy_decided(world: World) -> None:
    here, there = world.namespace("a"), world.namespace("b")
    of_both, of_here = world.decide(there, here), world.decide(here)
    assert _listed(world, here) == [of_here]
    assert _listed(world, there) == [of_both]


def test_decisions_are_narrowed_by_time_and_by_whether_they_explored(world: World) -> None:
    here = world.namespace()
    greedy, explored = world.decide(here), world.decide(here, explored=True)
    later = world.decide(here, explored=True, created_at=START + timedelta(microseconds=1))
    filters = {
        DecisionFilter(here.id, since=START): {greedy.id, explored.id, later.id},
        DecisionFilter(here.id, since=later.created_at): {later.id},
        DecisionFilter(here.id, since=START + timedelta(seconds=1)): set(),
        DecisionFilter(here.id, explored=True): {explored.id, later.id},
        DecisionFilter(here.id, explored=False): {greedy.id},
        DecisionFilter(here.id, since=later.created_at, explored=False): set(),
    }
    with world.store.reading() as reader:
        for where, expected in filters.items():
            for newest_first in (False, True):
                found = reader.decisions(
                    world.scope(), where, PageRequest(), newest_first=newest_first
                )
                assert {one.id for one in found.rows} == expected


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_decisions_that_read_out_of_reach_are_left_out_and_paging_ends(
    world: World, limit: int, newest_first: bool
) -> None:
    """Whole pages of them, too: at both ends, and more than a page in the middle."""
    here, secret = world.namespace("a"), world.namespace("secret")
    read = [(here, secret), (here,), (here, secret), (here, secret), (here, secret), (here,)]
    made = []
    for namespaces in (*read, (here, secret)):
        made.append(world.decide(*namespaces))
        world.clock.turn(seconds=1)
    within = [made[1], made[5]]
    found = _listed(world, here, world.scope("a"), limit=limit, newest_first=newest_first)
    assert found == (within[::-1] if newest_first else within)
    everything = made[::-1] if newest_first else made
    assert _listed(world, here, limit=limit, newest_first=newest_first) == everything


def test_decisions_of_a_namespace_out_of_reach_are_not_listed(world: World) -> None:
    here, other = world.namespace("a"), world.another()
    world.decide(here)
    assert _listed(world, here, world.scope("b")) == []
    assert _listed(world, here, replace(world.scope(), grants=())) == []
    assert _listed(world, here, other.scope()) == []


def test_decisions_made_while_a_list_is_read_come_at_its_end_or_not_at_all(world: World) -> None:
    here = world.namespace()
    made = [world.decide(here, created_at=START + timedelta(seconds=n)) for n in range(4)]
    firsts = {newest: _page(world, here, PageRequest(2), newest) for newest in (False, True)}
    later = world.decide(here, created_at=START + timedelta(seconds=9))
    rest = {
        newest: _page(world, here, PageRequest(9, first.next_cursor), newest).rows
        for newest, first in firsts.items()
    }
    assert rest == {False: (*made[2:], later), True: (made[1], made[0])}


def test_the_cursor_of_one_direction_is_not_taken_for_the_other(world: World) -> None:
    here = world.namespace()
    for _ in range(3):
        world.decide(here)
    for newest_first in (False, True):
        cursor = _page(world, here, PageRequest(1), newest_first).next_cursor
        assert cursor is not None
        with pytest.raises(InvalidCursor):
            _page(world, here, PageRequest(1, cursor), not newest_first)


# --- the runs that came of them, and what these led to


def test_a_run_in_brief_says_what_was_to_be_done_and_what_came_of_it(world: World) -> None:
    here, used = world.namespace(), (uuid4(), uuid4())
    told = replace(
        world.run(here, type="kitchen", environment="alf", template_id="t"),
        outcome=Outcome(0.25, False, OutcomeSource.JUDGE, cost=3.5),
        used=used,
        sender=world.actor,
    )
    untold = replace(world.run(here), outcome=None)
    unused = replace(world.run(here), used=())
    world.apply(told, untold, unused)
    with world.store.reading() as reader:
        found = reader.runs_in_brief(world.scope(), [told.id, uuid4(), untold.id, unused.id])
        assert reader.runs_in_brief(world.scope(), []) == {}
    assert found == {
        told.id: RunBrief(told.id, told.task, told.outcome, used, world.actor, told.agent),
        untold.id: RunBrief(untold.id, untold.task, None, None, None, untold.agent),
        unused.id: RunBrief(unused.id, unused.task, unused.outcome, (), None, unused.agent),
    }


def test_runs_out_of_reach_are_not_among_those_in_brief(world: World) -> None:
    mine, theirs = world.run(world.namespace("a")), world.run(world.namespace("b"))
    other = world.another()
    foreign = replace(other.run(other.namespace("a")), id=mine.id)
    world.apply(mine, theirs)
    other.apply(replace(foreign, agent="another's"))
    with world.store.reading() as reader:
        assert reader.runs_in_brief(world.scope("a"), [mine.id, theirs.id]).keys() == {mine.id}
        assert reader.runs_in_brief(other.scope(), [theirs.id]) == {}


def test_the_evidence_of_many_causes_is_that_of_each(world: World) -> None:
    entries = [world.entry(world.namespace(path)) for path in "ab"]
    world.apply(*rows_of(*entries))
    causes = [uuid4() for _ in range(3)]
    pieces = [
        world.evidence(entry, value, cause=cause)
        for cause in causes[:2]
        for entry, value in zip(entries, (1.0, 0.5), strict=True)
    ]
    for piece in (*pieces, world.evidence(entries[0])):
        world.apply(piece)
        world.clock.turn(seconds=1)
    world.apply(
        world.evidence(entries[1], event=Event.RETRACTION, cause=causes[0], retracts=pieces[1].id)
    )
    asked = [*causes, *(uuid4() for _ in range(1_500)), causes[0]]
    with world.store.reading() as reader:
        for scope in (world.scope(), world.scope("b"), world.another().scope()):
            each = {cause: reader.evidence_of_cause(scope, cause) for cause in causes}
            assert reader.evidence_of_causes(scope, asked) == {c: e for c, e in each.items() if e}
        whole = reader.evidence_of_causes(world.scope(), asked)
        assert reader.evidence_of_causes(world.scope(), []) == {}
    assert [len(whole[cause]) for cause in causes[:2]] == [3, 2]
    assert whole.keys() == set(causes[:2])


# --- forgetting


def test_decisions_made_before_the_given_time_are_forgotten(world: World) -> None:
    here, other = world.namespace(), world.another()
    old = [world.decide(here, created_at=START - timedelta(seconds=n)) for n in (3, 2, 1)]
    foreign = other.decide(other.namespace(), created_at=START - timedelta(seconds=1))
    kept = [world.decide(here), world.decide(here, created_at=START + timedelta(seconds=1))]
    assert _prune(world) == 4
    assert _prune(world) == 0
    assert _left(world, [*old, *kept]) == _ids(kept)
    assert _left(other, [foreign]) == set()


def test_a_tenant_keeps_the_newest_that_it_may_and_others_keep_theirs(world: World) -> None:
    """The other's are newer than some that go and older than some that stay."""
    others = (world.another(), world.another())
    mine = [_at(world, world.namespace(f"n{n % 2}"), n) for n in range(5)]
    theirs = [_at(others[0], others[0].namespace(), n) for n in range(1, 3)]
    thirds = [_at(others[1], others[1].namespace(), n) for n in range(2, 6)]
    assert _prune(world, most=2) == 3 + 0 + 2
    assert _left(world, mine) == _ids(mine[3:])
    assert _left(others[0], theirs) == _ids(theirs)
    assert _left(others[1], thirds) == _ids(thirds[2:])


def test_at_most_the_limit_is_forgotten_at_a_time_and_the_oldest_first(world: World) -> None:
    other = world.another()
    here, there = world.namespace(), other.namespace()
    old = [_at(world, here, n - 10) for n in range(3)]
    mine = [_at(world, here, n) for n in range(4)]
    theirs = [_at(other, there, n) for n in range(4)]
    assert _prune(world, most=2, limit=2) == 2
    assert _left(world, old) == _ids(old[2:])
    assert [_prune(world, most=2, limit=2) for _ in range(4)] == [2, 2, 1, 0]
    assert _left(world, [*old, *mine]) == _ids(mine[2:])
    assert _left(other, theirs) == _ids(theirs[2:])


def test_a_decision_with_the_id_of_anothers_is_not_forgotten_with_it(world: World) -> None:
    other = world.another()
    old = world.decide(world.namespace(), created_at=START - timedelta(days=1))
    namesake = replace(other.decision(other.namespace()), id=old.id)
    other.store.write(lambda tx: tx.add_decision(namesake))
    assert _prune(world) == 1
    assert _left(world, [old]) == set()
    assert _left(other, [namesake]) == {old.id}


def test_decisions_of_one_time_are_forgotten_one_by_one(world: World) -> None:
    made = [world.decide(world.namespace()) for _ in range(5)]
    assert _prune(world, most=2) == 3
    assert _left(world, made) == _ids(sorted(made, key=lambda one: one.id)[3:])


def _page(
    world: World, namespace: Namespace, page: PageRequest, newest_first: bool
) -> Page[Decision]:
    with world.store.reading() as reader:
        where = DecisionFilter(namespace.id)
        return reader.decisions(world.scope(), where, page, newest_first=newest_first)


def _listed(
    world: World,
    namespace: Namespace,
    scope: Scope | None = None,
    *,
    limit: int = 2,
    newest_first: bool = False,
) -> list[Decision]:
    where = DecisionFilter(namespace.id)
    with world.store.reading() as reader:
        read = pages(
            lambda page: reader.decisions(
                scope or world.scope(), where, page, newest_first=newest_first
            ),
            limit,
        )
        return [decision for page in read for decision in page.rows]


def _at(world: World, namespace: Namespace, minute: int) -> Decision:
    return world.decide(namespace, created_at=START + timedelta(minutes=minute))


def _prune(world: World, *, most: int = 1_000, limit: int = 1_000) -> int:
    return world.store.write(lambda tx: tx.prune_decisions(before=START, most=most, limit=limit))


def _ids(decisions: Sequence[Decision]) -> set[UUID]:
    return {decision.id for decision in decisions}


def _left(world: World, decisions: Sequence[Decision]) -> set[UUID]:
    """Which of them are still there."""
    with world.store.reading() as reader:
        found = [reader.decision(world.scope(), decision.id) for decision in decisions]
    return {decision.id for decision in found if decision is not None}
