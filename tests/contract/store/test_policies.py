"""Policies and exploration are content: written by changes, seen in the log, put back by an undo;
and what serves in a namespace follows from them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from memserver.domain.changes import Action, Change, Verb
from memserver.domain.errors import AlreadyUndone, IdConflict, InvalidCursor, UndoConflict
from memserver.domain.policies import (
    MOVES,
    Mode,
    Policy,
    PolicyRole,
    PolicyState,
    exploration_id,
)
from memserver.domain.ports.paging import PageRequest
from memserver.domain.ports.store import Serving
from memserver.domain.scope import Namespace
from memserver.storage.sql.store import SqlStore
from memserver.storage.sql.tables import EXPLORATION, POLICY
from tests.contract.store.world import START, Clock, World, pages, ref

SHADOW, CANARY = PolicyState.SHADOW, PolicyState.CANARY
ACTIVE, RETIRED = PolicyState.ACTIVE, PolicyState.RETIRED
MANIFEST: dict[str, Any] = {
    "format": 1,
    "encoder": None,
    "numbers": [0.1 + 0.2, 1e22, -0.0, 3],
    "config": {"ü": "é", "nested": {"empty": {}, "list": []}},
}


# --- content of the change log


def test_a_policy_comes_back_to_the_last_digit(world: World) -> None:
    here = world.namespace()
    plain = world.policy(here)
    full = world.policy(
        here,
        CANARY,
        manifest=MANIFEST,
        reason="better on the held-out split",
        share=1 / 3,
        previous=plain.id,
        baseline=(0.1 + 0.2, 1.0, 0.0),
    )
    full = replace(full, since=world.clock.turn(microseconds=1))
    world.apply(plain, full, world.policy(here, manifest={}))
    assert _policy(world, plain.id) == plain
    assert _policy(world, full.id) == full
    assert _policy(world, uuid4()) is None


def test_exploration_comes_back_as_it_was_last_set(world: World) -> None:
    here = world.namespace()
    assert _serving(world, here).exploration is None
    world.apply(world.exploration(here))
    assert _serving(world, here).exploration == world.exploration(here)
    learning = world.exploration(
        here, mode=Mode.LEARNING, temperature=0.1 + 0.2, share=1 / 3, exposure_slots=2
    )
    world.apply(learning)
    assert _serving(world, here).exploration == learning


def test_a_namespace_has_one_exploration_and_no_others_shares_it(world: World) -> None:
    other = world.another()
    places = [world.namespace("a"), world.namespace("b"), other.namespace("a")]
    made = [world.exploration(place, share=n / 4) for n, place in enumerate(places)]
    world.apply(*made[:2])
    other.apply(made[2])
    assert len({exploration.id for exploration in made}) == 3
    assert [_serving(world, place).exploration for place in places] == made


def test_the_log_says_what_became_of_a_policy_and_of_exploration(world: World) -> None:
    here = world.namespace()
    policy, exploration = world.policy(here), world.exploration(here)
    changes = [
        world.apply(policy, exploration),
        world.apply(replace(policy, state=ACTIVE)),
        world.apply(deletes=(ref(policy), ref(exploration))),
    ]
    with world.store.reading() as reader:
        logged = [reader.row_changes(world.scope(), one.id, PageRequest()).rows for one in changes]
        of_policy = reader.changes(world.scope(), [here.id], PageRequest(), policy.id).rows
        of_settings = reader.changes(world.scope(), [here.id], PageRequest(), exploration.id).rows
        hidden = reader.changes(world.scope("other"), [here.id], PageRequest(), policy.id).rows
    assert [[(row.ref, row.action) for row in rows] for rows in logged] == [
        [(ref(policy), Action.INSERT), (ref(exploration), Action.INSERT)],
        [(ref(policy), Action.UPDATE)],
        [(ref(policy), Action.DELETE), (ref(exploration), Action.DELETE)],
    ]
    assert logged[1][0].before is not None
    assert logged[1][0].before["state"] == "shadow"
    assert {row.namespace_id for rows in logged for row in rows} == {here.id}
    assert of_policy == tuple(reversed(changes))
    assert of_settings == (changes[2], changes[0])
    assert hidden == ()


@pytest.mark.parametrize(
    "verb", [verb for verb in Verb if verb.value.endswith("policy") or verb is Verb.EXPLORE]
)
def test_the_log_keeps_why_a_policy_moved(world: World, verb: Verb) -> None:
    draft = replace(world.draft(world.policy(world.namespace())), verb=verb)
    change = world.store.write(lambda tx: tx.apply(draft))
    with world.store.reading() as reader:
        assert reader.change(world.scope(), change.id) == change
    assert change.verb is verb


def test_hashes_of_consecutive_moves_of_a_policy_meet(world: World) -> None:
    policy = world.policy(world.namespace(), manifest=MANIFEST)
    world.apply(policy)
    first = world.apply(replace(policy, state=CANARY, share=0.1))
    second = world.apply(replace(policy, state=ACTIVE, baseline=(0.5, 1.0)))
    third = world.apply(replace(policy, state=CANARY, share=0.1))
    assert first.after_hash == second.before_hash == third.after_hash
    assert len({first.before_hash, first.after_hash, second.after_hash}) == 3


def test_writing_a_policy_as_it_is_touches_nothing(world: World) -> None:
    here = world.namespace()
    rows = (
        world.policy(here, manifest=MANIFEST, share=1, baseline=(1, 0)),
        world.exploration(here, temperature=1, share=1),
    )
    assert world.apply(*rows).rows == 2
    assert world.apply(*rows).rows == 0
    read = _policy(world, rows[0].id)
    assert read is not None
    assert world.apply(read).rows == 0


def test_an_id_belongs_to_the_namespace_where_it_was_first_used(world: World) -> None:
    here, there = world.namespace("a"), world.namespace("b")
    policy, exploration = world.policy(here), world.exploration(here)
    world.apply(policy, exploration)
    for row in (replace(policy, namespace=there), replace(exploration, namespace=there)):
        with pytest.raises(IdConflict):
            world.apply(row)
    assert _policy(world, policy.id) == policy
    assert _serving(world, there) == Serving((), None)


def test_two_tenants_may_use_one_id(world: World) -> None:
    other = world.another()
    mine = world.policy(world.namespace())
    theirs = replace(mine, namespace=other.namespace(), reason="theirs", state=ACTIVE)
    world.apply(mine)
    other.apply(theirs)
    assert (_policy(world, mine.id), _policy(other, mine.id)) == (mine, theirs)
    other.apply(deletes=(ref(theirs),))
    assert _policy(world, mine.id) == mine


def test_a_policy_in_anothers_namespace_is_refused(world: World) -> None:
    other = world.another()
    for row in (world.policy(other.namespace()), world.exploration(other.namespace())):
        with pytest.raises(ValueError, match="no namespace of the tenant"):
            world.apply(row)


# --- undo


def test_undoing_a_promotion_brings_back_what_served_before(world: World) -> None:
    here = world.namespace()
    old, new = world.policy(here, ACTIVE), world.policy(here, CANARY, share=0.2)
    world.apply(old, new)
    before = _serving(world, here)
    world.clock.turn(hours=1)
    promoted = world.apply(
        replace(old, state=RETIRED, since=world.clock.now, reason="replaced"),
        replace(
            new,
            state=ACTIVE,
            share=0.0,
            since=world.clock.now,
            previous=old.id,
            baseline=(0.5, 0.25),
        ),
    )
    assert [policy.id for policy in _serving(world, here).policies] == [new.id]
    undone = world.undo(promoted)
    assert _serving(world, here) == before
    assert (undone.before_hash, undone.after_hash) == (promoted.after_hash, promoted.before_hash)
    with pytest.raises(AlreadyUndone):
        world.undo(promoted)
    world.undo(undone)
    assert [policy.id for policy in _serving(world, here).policies] == [new.id]


def test_a_later_move_of_the_same_policy_stands_in_the_way_of_an_undo(world: World) -> None:
    here = world.namespace()
    policy, bystander = world.policy(here), world.policy(here)
    registered = world.apply(policy)
    promoted = world.apply(replace(policy, state=ACTIVE))
    world.apply(bystander, world.exploration(here, share=0.5))
    demoted = world.apply(replace(policy, state=RETIRED))
    with pytest.raises(UndoConflict) as conflict:
        world.undo(registered)
    assert conflict.value.later == (demoted.id, promoted.id)
    for change in (demoted, promoted, registered):
        world.undo(change)
    assert _policy(world, policy.id) is None
    assert _serving(world, here).policies == (bystander,)


def test_undoing_the_first_setting_leaves_exploration_unset(world: World) -> None:
    here = world.namespace()
    change = world.apply(world.exploration(here, mode=Mode.LEARNING))
    redone = world.undo(world.undo(change))
    assert _serving(world, here).exploration == world.exploration(here, mode=Mode.LEARNING)
    world.undo(redone)
    assert _serving(world, here).exploration is None
    world.undo(world.apply(world.exploration(here, share=0.5)))
    assert _serving(world, here).exploration is None


MOVE = st.tuples(
    st.sampled_from(("write", "promote", "explore", "delete", "undo")),
    st.integers(0, 3),
    st.sampled_from(PolicyState),
    st.floats(0, 1),
)


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(moves=st.lists(MOVE, min_size=1, max_size=10))
def test_any_moves_undone_in_reverse_order_leave_the_rows_as_they_were(
    store: SqlStore, clock: Clock, moves: list[tuple[str, int, PolicyState, float]]
) -> None:
    """Moves and undos of the newest move in any order, over four policies in two namespaces.
    After each undo the rows are compared column by column, their place in the log included."""
    world = World(store, clock)
    places = (world.namespace("a"), world.namespace("b"))
    ids = [uuid4() for _ in range(4)]
    standing: list[tuple[Change, Any]] = []

    def undo_newest() -> None:
        change, before = standing.pop()
        undone = world.undo(change)
        assert undone.after_hash == change.before_hash
        assert _state(world, places) == before

    empty = _state(world, places)
    for kind, number, state, share in moves:
        clock.turn(seconds=1)
        if kind == "undo":
            if standing:
                undo_newest()
            continue
        before = _state(world, places)
        change = _move(world, places[number % 2], ids[number], kind, state=state, share=share)
        standing.append((change, before))
    while standing:
        undo_newest()
    assert _state(world, places) == empty


def _move(
    world: World,
    namespace: Namespace,
    policy_id: UUID,
    kind: str,
    *,
    state: PolicyState,
    share: float,
) -> Change:
    """What the services do to policies, and what they never do: any state may follow any."""
    known = _policy(world, policy_id)
    policy = known or world.policy(namespace, id=policy_id, manifest=MANIFEST)
    moved = replace(policy, state=state, share=share, since=world.clock.now, reason=kind)
    match kind:
        case "promote":
            active = [one for one in _serving(world, namespace).policies if one.state is ACTIVE]
            previous = active[0].id if active else None
            baseline = (share, share / 3)[: len(active)]
            promoted = replace(moved, state=ACTIVE, previous=previous, baseline=baseline)
            others = (replace(one, state=RETIRED) for one in active if one.id != policy_id)
            return world.apply(promoted, *others)
        case "explore":
            mode = Mode.LEARNING if share else Mode.FIXED
            settings = world.exploration(namespace, mode=mode, temperature=share, share=share)
            return world.apply(settings, moved)
        case "delete":
            gone = (ref(policy), ref(world.exploration(namespace)))
            return world.apply(deletes=gone)
        case _:
            return world.apply(moved)


# --- what serves


def test_what_serves_are_the_policies_in_use_newest_first(world: World) -> None:
    here, there = world.namespace("a"), world.namespace("b")
    states = (ACTIVE, SHADOW, RETIRED, CANARY, SHADOW)
    made = [
        world.policy(here, state, created_at=START + timedelta(seconds=age), share=0.5)
        for age, state in enumerate(states)
    ]
    world.apply(*made, world.policy(there, ACTIVE), world.exploration(there))
    other = world.another()
    other.apply(other.policy(other.namespace("a"), ACTIVE))
    in_use = tuple(policy for policy in reversed(made) if policy.state is not RETIRED)
    assert _serving(world, here) == Serving(in_use, None)
    world.apply(*(replace(policy, state=RETIRED) for policy in in_use))
    assert _serving(world, here) == Serving((), None)


def test_a_policy_that_every_legal_move_led_through_is_seen_where_it_stands(world: World) -> None:
    here = world.namespace()
    for state, following in MOVES.items():
        for then in following:
            policy = world.policy(here, state)
            world.apply(policy)
            moved = replace(policy, state=then)
            world.apply(moved)
            served = moved in _serving(world, here).policies
            assert served == (then is not RETIRED)


def test_the_namespaces_to_watch_are_those_with_a_canary_or_an_active_policy(
    world: World,
) -> None:
    other = world.another()
    watched = [world.namespace("canary"), world.namespace("active"), other.namespace("active")]
    quiet = [world.namespace("shadow"), world.namespace("retired"), world.namespace("none")]
    active = world.policy(watched[1], ACTIVE)
    world.apply(
        world.policy(watched[0], CANARY),
        world.policy(watched[0], SHADOW),
        world.policy(watched[1], CANARY),
        active,
        world.policy(quiet[0], SHADOW),
        world.policy(quiet[1], RETIRED),
        world.exploration(quiet[2], mode=Mode.LEARNING),
    )
    other.apply(other.policy(watched[2], ACTIVE))
    assert _watched(world) == set(watched)
    world.apply(deletes=(ref(active),))
    assert _watched(world) == set(watched)
    other.apply(replace(_serving(other, watched[2]).policies[0], state=RETIRED))
    assert _watched(world) == set(watched[:2])


# --- lists and weights


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_policies_are_paged_newest_first_and_none_is_lost_among_equal_times(
    world: World, limit: int
) -> None:
    places = (world.namespace("a"), world.namespace("b"))
    made = [
        world.policy(place, state, created_at=START + timedelta(seconds=age))
        for state in (SHADOW, RETIRED)
        for place in places
        for age in (0, 0, 1)
    ]
    elsewhere = world.policy(world.namespace("c"))
    world.apply(*made, elsewhere)
    wanted = [place.id for place in places]
    in_order = sorted(made, key=lambda one: (one.created_at, one.id), reverse=True)

    def listed(*grants: str) -> list[Policy]:
        with world.store.reading() as reader:
            scope = world.scope(*grants)
            read = pages(lambda page: reader.policies(scope, wanted, page), limit)
            return [policy for page in read for policy in page.rows]

    assert listed() == in_order
    assert listed("b", "c") == [one for one in in_order if one.namespace == places[1]]
    with world.store.reading() as reader:
        assert reader.policies(world.scope(), [], PageRequest()).rows == ()
        cursor = reader.policies(world.scope(), wanted, PageRequest(1)).next_cursor
        with pytest.raises(InvalidCursor):
            reader.namespaces(world.scope(), PageRequest(1, cursor))


def test_weights_are_kept_once_by_their_hash(world: World) -> None:
    data = bytes(range(256)) * 2_000
    with world.store.reading() as reader:
        assert reader.policy_weights("a") is None
    for _ in range(2):
        world.store.write(lambda tx: tx.put_policy_weights("a", data))
    world.store.write(lambda tx: tx.put_policy_weights("b", b""))
    with world.store.reading() as reader:
        assert (reader.policy_weights("a"), reader.policy_weights("b")) == (data, b"")
        assert reader.policy_weights("c") is None


def test_weights_outlive_the_policy_that_an_undo_takes_away(world: World) -> None:
    policy = world.policy(world.namespace())
    world.store.write(lambda tx: tx.put_policy_weights(policy.weights_hash, b"w"))
    world.undo(world.undo(world.apply(policy)))
    found = _policy(world, policy.id)
    assert found == policy
    with world.store.reading() as reader:
        assert reader.policy_weights(policy.weights_hash) == b"w"


def test_the_id_of_exploration_settings_follows_from_tenant_namespace_and_role() -> None:
    tenant = UUID(int=7)
    ids = [
        exploration_id(Namespace(number, owner, "a"), PolicyRole.RETRIEVE)
        for number, owner in ((1, tenant), (2, tenant), (1, UUID(int=8)))
    ]
    assert len(set(ids)) == 3
    renamed = exploration_id(Namespace(1, tenant, "another path"), PolicyRole.RETRIEVE)
    assert renamed == ids[0]


def _policy(world: World, policy_id: UUID) -> Policy | None:
    with world.store.reading() as reader:
        return reader.policy(world.scope(), policy_id)


def _serving(world: World, namespace: Namespace) -> Serving:
    with world.store.reading() as reader:
        return reader.serving(namespace, PolicyRole.RETRIEVE)


def _watched(world: World) -> set[Namespace]:
    with world.store.reading() as reader:
        found = reader.namespaces_with_policies()
    assert len(set(found)) == len(found)
    return set(found)


def _state(world: World, places: tuple[Namespace, ...]) -> Any:
    """What a reader sees of the tenant's policies, and their very rows."""
    assert isinstance(world.store, SqlStore)
    with world.store.reading() as reader:
        ids = [place.id for place in places]
        listed = reader.policies(world.scope(), ids, PageRequest(100)).rows
        serving = [reader.serving(place, PolicyRole.RETRIEVE) for place in places]
    with world.store._engines.reading.connect() as connection:
        rows = [
            row
            for table in (POLICY, EXPLORATION)
            for row in connection.execute(
                select(table).where(table.c.tenant_id == world.tenant.id).order_by(table.c.id)
            ).all()
        ]
    return listed, serving, rows
