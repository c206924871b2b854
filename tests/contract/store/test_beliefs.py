"""What is believed of a version is the fold over the evidence of its lineage, always."""

import random
from dataclasses import replace
from uuid import UUID, uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memserver.domain.evidence import Belief, Event
from memserver.domain.items import Entry, Status
from memserver.storage.sql.store import SqlStore
from tests.contract.store.world import (
    Clock,
    World,
    merged,
    next_version,
    ref,
    refolded,
    rows_of,
)


def _stored(world: World, count: int = 1) -> list[Entry]:
    entries = [world.entry(world.namespace(), str(number)) for number in range(count)]
    world.apply(*rows_of(*entries))
    return entries


def test_a_version_without_evidence_has_no_belief(world: World) -> None:
    (entry,) = _stored(world)
    with world.store.reading() as reader:
        assert reader.beliefs(world.scope(), [entry.version.id, uuid4()]) == {}


def test_evidence_adds_up_by_context(world: World) -> None:
    (entry,) = _stored(world)
    before = world.clock.now
    world.apply(world.evidence(entry, 0.75, 2.0), world.evidence(entry, 0.0, context="kitchen"))
    now = world.clock.turn(days=1)
    world.apply(world.evidence(entry, 1.0))
    subject = entry.version.id
    assert world.beliefs(subject) == {
        "": Belief(subject, "", successes=2.5, failures=0.5, outcomes=2, last=now),
        "kitchen": Belief(subject, "kitchen", failures=1.0, outcomes=1, last=before),
    }


def test_evidence_is_numbered_by_subject_and_context(world: World) -> None:
    entry, other = _stored(world, 2)
    world.apply(world.evidence(entry), world.evidence(other), world.evidence(entry))
    world.apply(world.evidence(entry, context="kitchen"), world.evidence(entry))
    with world.store.reading() as reader:
        pieces = reader.evidence(world.scope(), entry.version.id)
    assert sorted((piece.context, piece.seq) for piece in pieces) == [
        ("", 1),
        ("", 2),
        ("", 3),
        ("kitchen", 1),
    ]


def test_a_number_is_not_given_again_after_an_undo(world: World) -> None:
    (entry,) = _stored(world)
    undo = world.undo(world.apply(world.evidence(entry, 0.0)))
    world.apply(world.evidence(entry, 1.0))
    world.undo(undo)
    with world.store.reading() as reader:
        pieces = reader.evidence(world.scope(), entry.version.id)
    assert [(piece.seq, piece.value) for piece in pieces] == [(1, 0.0), (2, 1.0)]


def test_a_retraction_takes_back_one_piece_and_keeps_the_rest(world: World) -> None:
    (entry,) = _stored(world)
    wrong = world.evidence(entry, 0.0)
    world.apply(wrong, world.evidence(entry, 1.0))
    world.apply(world.evidence(entry, 0.0, event=Event.RETRACTION, retracts=wrong.id))
    belief = world.beliefs(entry.version.id)[""]
    assert (belief.successes, belief.failures, belief.outcomes) == (1.0, 0.0, 1)


def test_a_retraction_that_comes_before_what_it_takes_back_counts_as_well(world: World) -> None:
    (entry,) = _stored(world)
    late = world.evidence(entry, 0.0)
    world.apply(world.evidence(entry, 0.0, event=Event.RETRACTION, retracts=late.id))
    world.apply(world.evidence(entry, 1.0), late)
    belief = world.beliefs(entry.version.id)[""]
    assert (belief.successes, belief.failures, belief.outcomes) == (1.0, 0.0, 1)


def test_evidence_of_a_merged_item_counts_for_what_it_was_merged_into(world: World) -> None:
    one, two, three = _stored(world, 3)
    world.apply(world.evidence(one, 1.0), world.evidence(two, 0.0), world.evidence(three, 1.0))
    world.apply(merged(two, into=one))
    world.apply(merged(three, into=two))
    assert world.beliefs(one.version.id)[""].outcomes == 3
    assert world.beliefs(two.version.id)[""].outcomes == 2
    world.apply(world.evidence(three, 0.0))
    assert world.beliefs(one.version.id)[""].outcomes == 4
    world.apply(replace(two.item, status=Status.ACTIVE))
    assert world.beliefs(one.version.id)[""].outcomes == 1
    assert world.beliefs(two.version.id)[""].outcomes == 3


def test_undoing_a_merge_parts_what_was_believed(world: World) -> None:
    one, two = _stored(world, 2)
    world.apply(world.evidence(one, 1.0), world.evidence(two, 0.0, context="kitchen"))
    before = world.beliefs(one.version.id)
    change = world.apply(merged(two, into=one))
    assert world.beliefs(one.version.id).keys() == {"", "kitchen"}
    world.undo(change)
    assert world.beliefs(one.version.id) == before


def test_a_ring_of_merges_ends(world: World) -> None:
    one, two = _stored(world, 2)
    world.apply(world.evidence(one, 1.0), world.evidence(two, 0.0))
    world.apply(merged(one, into=two), merged(two, into=one))
    assert world.beliefs(one.version.id)[""].outcomes == 2
    assert world.beliefs(two.version.id)[""].outcomes == 2


def test_evidence_of_every_version_of_a_merged_item_counts(world: World) -> None:
    one, two = _stored(world, 2)
    world.apply(merged(two, into=one))
    newer = next_version(world, replace(two, item=merged(two, into=one)), "newer")
    world.apply(newer.version, world.evidence(newer, 1.0), world.evidence(two, 1.0))
    assert world.beliefs(one.version.id)[""].outcomes == 2


def test_a_version_that_goes_takes_its_evidence_out_of_what_it_was_merged_into(
    world: World,
) -> None:
    one, two = _stored(world, 2)
    world.apply(merged(two, into=one))
    newer = next_version(world, replace(two, item=merged(two, into=one)), "newer")
    world.apply(newer.version)
    world.apply(world.evidence(newer, 1.0), world.evidence(two, 1.0))
    gone = world.apply(deletes=(ref(newer.version),))
    assert world.beliefs(one.version.id)[""].outcomes == 1
    world.undo(gone)
    assert world.beliefs(one.version.id)[""].outcomes == 2


def test_new_evidence_takes_its_place_among_that_of_the_merged(world: World) -> None:
    """Sums of floats depend on their order, so that only the right order gives the right one."""
    one, two = _stored(world, 2)
    world.apply(world.evidence(two, 1.0, 0.2))
    world.apply(world.evidence(two, 1.0, 0.1), merged(two, into=one))
    world.apply(world.evidence(one, 1.0, 0.3))
    assert world.beliefs(one.version.id)[""].successes == (0.2 + 0.3) + 0.1 != (0.2 + 0.1) + 0.3


def test_a_belief_is_seen_where_its_version_is_and_not_where_its_evidence_came_from(
    world: World,
) -> None:
    entry = world.entry(world.namespace("skills"))
    world.apply(*rows_of(entry))
    world.apply(replace(world.evidence(entry), namespace=world.namespace("runs")))
    with world.store.reading() as reader:
        subject = [entry.version.id]
        assert reader.beliefs(world.scope("skills"), subject).keys() == set(subject)
        assert reader.beliefs(world.scope("runs"), subject) == {}


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 15))
def test_stored_beliefs_equal_the_fold_over_the_log(
    store: SqlStore, clock: Clock, seed: int, steps: int
) -> None:
    """Random evidence, retractions, merges, partings and undos."""
    world, chance = World(store, clock), random.Random(seed)
    entries = _stored(world, 4)
    pieces, changes = list[tuple[Entry, UUID]](), []
    for _ in range(steps):
        clock.turn(minutes=1)
        one, two = chance.choice(entries), chance.choice(entries)
        match chance.randrange(5):
            case 0 | 1:
                piece = world.evidence(
                    one,
                    chance.random(),
                    chance.random() + 0.01,
                    context=chance.choice(["", "kitchen"]),
                    event=chance.choice([Event.OUTCOME, Event.INHERITED]),
                )
                pieces.append((one, piece.id))
                changes.append(world.apply(piece))
            case 2 if pieces:
                of, piece_id = chance.choice(pieces)
                taken = world.evidence(of, event=Event.RETRACTION, retracts=piece_id)
                changes.append(world.apply(taken))
            case 3:
                changes.append(world.apply(merged(one, into=two)))
            case _:
                if changes and chance.random() < 0.5:
                    world.undo(changes.pop())
                else:
                    changes.clear()
                    world.apply(one.item)
    with store.reading() as reader:
        for entry in entries:
            subject = entry.version.id
            found = reader.beliefs(world.scope(), [subject]).get(subject, ())
            expected = refolded(reader, world.scope(), subject)
            assert {belief.context: belief for belief in found} == expected
