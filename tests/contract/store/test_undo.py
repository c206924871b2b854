"""An undo puts back exactly what was there, or refuses and says what stands in its way."""

import random
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memserver.domain.changes import Change, Verb
from memserver.domain.errors import AlreadyUndone, ChangeNotFound, UndoConflict
from memserver.domain.items import Entry, Status
from memserver.domain.ports.store import Reader
from memserver.domain.scope import Role
from memserver.domain.trajectories import Outcome
from memserver.storage.sql.store import SqlStore
from tests.contract.store.world import (
    Clock,
    World,
    merged,
    next_version,
    pages_of_items,
    ref,
    refolded,
    rows_of,
)


def test_undoing_an_insert_an_update_and_a_delete_puts_the_rows_back(world: World) -> None:
    entry, run = world.entry(world.namespace()), world.run(world.namespace())
    first = world.apply(*rows_of(entry), run)
    updated = world.apply(
        replace(entry.item, status=Status.ARCHIVED), replace(run, outcome=Outcome(0.0, False))
    )
    undone = world.undo(updated)
    assert world.item(entry.item.id) == entry
    deleted = world.apply(deletes=(ref(entry.item), ref(entry.version), ref(run)))
    assert world.item(entry.item.id) is None
    world.undo(deleted)
    assert world.item(entry.item.id) == entry
    with world.store.reading() as reader:
        assert reader.trajectory(world.scope(), run.id) == run
    world.undo(first)
    assert world.item(entry.item.id) is None
    assert (undone.verb, undone.undoes, undone.actor) == (Verb.UNDO, updated.id, world.actor)


def test_an_undo_ends_at_the_hash_that_the_change_began_with(world: World) -> None:
    entry = world.entry(world.namespace())
    world.apply(*rows_of(entry))
    change = world.apply(*rows_of(next_version(world, entry, "better")))
    undone = world.undo(change)
    assert (undone.before_hash, undone.after_hash) == (change.after_hash, change.before_hash)


def test_a_row_that_comes_back_stands_where_it_stood_in_its_list(world: World) -> None:
    first, second = world.entry(world.namespace(), "1"), world.entry(world.namespace(), "2")
    world.apply(*rows_of(first))
    world.apply(*rows_of(second))
    world.undo(world.apply(deletes=(ref(first.item), ref(first.version))))
    assert [entry.item.title for entry in _items(world)] == ["1", "2"]


def test_an_undo_can_be_undone_and_then_the_change_undone_again(world: World) -> None:
    entry = world.entry(world.namespace())
    world.apply(*rows_of(entry))
    change = world.apply(replace(entry.item, status=Status.ARCHIVED))
    undo = world.undo(change)
    with pytest.raises(AlreadyUndone):
        world.undo(change)
    redo = world.undo(undo)
    assert _status(world, entry) is Status.ARCHIVED
    assert _stored(world, change).undone_by is None
    assert _stored(world, undo).undone_by == redo.id
    again = world.undo(change)
    assert _status(world, entry) is Status.ACTIVE
    assert _stored(world, change).undone_by == again.id


def test_undoing_a_redo_leaves_the_change_undone(world: World) -> None:
    entry = world.entry(world.namespace())
    world.apply(*rows_of(entry))
    change = world.apply(replace(entry.item, status=Status.ARCHIVED))
    undo = world.undo(change)
    world.undo(world.undo(undo))
    assert _status(world, entry) is Status.ACTIVE
    assert _stored(world, change).undone_by == undo.id


def test_later_changes_of_the_same_rows_stand_in_the_way_newest_first(world: World) -> None:
    entry, other = world.entry(world.namespace()), world.entry(world.namespace())
    world.apply(*rows_of(entry, other))
    change = world.apply(replace(entry.item, title="1"), replace(other.item, title="1"))
    second = world.apply(replace(entry.item, title="2"))
    world.apply(world.run(world.namespace()))
    third = world.apply(replace(other.item, title="3"))
    with pytest.raises(UndoConflict) as conflict:
        world.undo(change)
    assert conflict.value.later == (third.id, second.id)
    for later in conflict.value.later:
        with world.store.reading() as reader:
            found = reader.change(world.scope(), later)
        assert found is not None
        world.undo(found)
    world.undo(change)
    assert world.item(entry.item.id) == entry


def test_a_change_and_its_undo_are_not_named_as_standing_in_the_way(world: World) -> None:
    entry = world.entry(world.namespace())
    world.apply(*rows_of(entry))
    change = world.apply(replace(entry.item, title="1"))
    world.undo(world.apply(replace(entry.item, title="2")))
    last = world.apply(replace(entry.item, title="3"))
    with pytest.raises(UndoConflict) as conflict:
        world.undo(change)
    assert conflict.value.later == (last.id,)


def test_a_conflict_changes_nothing(world: World) -> None:
    entry, other = world.entry(world.namespace()), world.entry(world.namespace())
    world.apply(*rows_of(entry, other))
    change = world.apply(replace(entry.item, title="1"), replace(other.item, title="1"))
    world.apply(replace(other.item, title="2"))
    with world.store.reading() as reader:
        before = reader.head_position()
    with pytest.raises(UndoConflict):
        world.undo(change)
    with world.store.reading() as reader:
        assert reader.head_position() == before
    assert {stored.item.title for stored in _items(world)} == {"1", "2"}


def test_an_item_that_has_got_another_version_since_is_not_taken_away(world: World) -> None:
    entry = world.entry(world.namespace())
    first = world.apply(*rows_of(entry))
    better = next_version(world, entry, "better")
    past = world.apply(better.version)
    with pytest.raises(UndoConflict) as conflict:
        world.undo(first)
    assert conflict.value.later == (past.id,)


def test_a_version_does_not_come_back_without_its_item(world: World) -> None:
    entry = world.entry(world.namespace())
    better = next_version(world, entry, "better")
    world.apply(*rows_of(entry), better.version)
    dropped = world.apply(deletes=(ref(better.version),))
    gone = world.apply(deletes=(ref(entry.version), ref(entry.item)))
    with pytest.raises(UndoConflict) as conflict:
        world.undo(dropped)
    assert conflict.value.later == (gone.id,)


def test_a_change_is_undone_only_by_whom_reaches_all_of_its_rows(world: World) -> None:
    change = world.apply(world.run(world.namespace("a")), world.run(world.namespace("b")))
    with pytest.raises(ChangeNotFound):
        world.undo(change, world.scope("a"))
    with pytest.raises(ChangeNotFound):
        world.undo(change, world.another().scope())
    with pytest.raises(ChangeNotFound):
        world.store.write(lambda tx: tx.undo(world.scope(), uuid4(), "unknown"))
    assert world.undo(change, world.scope("a", "b", role=Role.WRITER)).rows == 2


def test_undoing_evidence_takes_back_what_was_believed_of_it(world: World) -> None:
    entry = world.entry(world.namespace())
    world.apply(*rows_of(entry))
    world.apply(world.evidence(entry, 1.0))
    before = world.beliefs(entry.version.id)
    change = world.apply(world.evidence(entry, 0.0), world.evidence(entry, 0.5, context="kitchen"))
    undo = world.undo(change)
    assert world.beliefs(entry.version.id) == before
    world.undo(undo)
    assert world.beliefs(entry.version.id)[""].outcomes == 2
    assert world.beliefs(entry.version.id)["kitchen"].failures == 0.5


@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 8))
def test_undoing_any_sequence_backwards_shows_every_state_again(
    store: SqlStore, clock: Clock, seed: int, steps: int
) -> None:
    """Random changes of every kind; the whole state is compared after each undo, and once more
    after each redo."""
    world, chance = World(store, clock), random.Random(seed)
    world.namespace("a"), world.namespace("b")
    entries = [world.entry(world.namespace("a"), str(number)) for number in range(3)]
    world.apply(*rows_of(*entries))
    states, changes = [_state(world)], list[Change]()
    for _ in range(steps):
        clock.turn(seconds=1)
        changes.append(_some_change(world, entries, chance))
        states.append(_state(world))
    undone = []
    for number in reversed(range(len(changes))):
        undone.append(world.undo(changes[number]))
        assert _state(world) == states[number]
    for undo, number in zip(reversed(undone), range(1, len(states)), strict=True):
        world.undo(undo)
        assert _state(world) == states[number]


def _some_change(world: World, entries: list[Entry], chance: random.Random) -> Change:
    there = [entry for entry in entries if world.item(entry.item.id) is not None]
    fresh = world.entry(world.namespace(chance.choice("ab")), str(chance.random()))
    if not there:
        entries.append(fresh)
        return world.apply(*rows_of(fresh))
    one, two = chance.choice(there), chance.choice(there)
    current = world.item(one.item.id)
    assert current is not None
    match chance.randrange(6):
        case 0:
            entries.append(fresh)
            return world.apply(*rows_of(fresh), world.evidence(fresh, chance.random()))
        case 1:
            return world.apply(*rows_of(next_version(world, current, str(chance.random()))))
        case 2:
            with world.store.reading() as reader:
                versions = reader.versions(world.scope(), one.item.id)
            gone = (ref(current.item), *(ref(version) for version in versions))
            return world.apply(deletes=gone)
        case 3:
            context = chance.choice(["", "kitchen"])
            return world.apply(
                world.evidence(one, chance.random(), chance.random() + 0.1, context=context),
                world.evidence(two, chance.random()),
                world.run(world.namespace("b")),
            )
        case 4:
            return world.apply(merged(current, two), world.evidence(two, 1.0))
        case _:
            return world.apply(replace(current.item, status=chance.choice(list(Status))))


def _state(world: World) -> dict[str, Any]:
    """All that a reader can see of a tenant's content and beliefs."""
    scope = world.scope()
    with world.store.reading() as reader:
        items = _all_items(world, reader)
        subjects = [v.id for entry in items for v in reader.versions(scope, entry.item.id)]
        beliefs = reader.beliefs(scope, subjects)
        for subject in subjects:
            stored = {belief.context: belief for belief in beliefs.get(subject, ())}
            assert stored == refolded(reader, scope, subject)
        return {
            "items": items,
            "versions": {entry.item.id: reader.versions(scope, entry.item.id) for entry in items},
            "evidence": {subject: reader.evidence(scope, subject) for subject in subjects},
            "beliefs": beliefs,
        }


def _all_items(world: World, reader: Reader) -> list[Entry]:
    return [entry for page in pages_of_items(reader, world.scope()) for entry in page.rows]


def _items(world: World) -> list[Entry]:
    with world.store.reading() as reader:
        return _all_items(world, reader)


def _status(world: World, entry: Entry) -> Status:
    found = world.item(entry.item.id)
    assert found is not None
    return found.item.status


def _stored(world: World, change: Change) -> Change:
    with world.store.reading() as reader:
        found = reader.change(world.scope(), change.id)
    assert found is not None
    return found
