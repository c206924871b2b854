"""What is served of an item's worth is what follows from the log, whatever was taken back, merged
or parted; and a library's changes are told as they were made."""

import random
from dataclasses import replace
from uuid import UUID, uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memserver.domain.evidence import Event, Evidence, fold
from memserver.domain.items import Kind, Status
from memserver_skills.beliefs.utility import utilities, utility
from tests.contract.store.world import World, merged, next_version, refolded, rows_of

PROPERTY = settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def _of_lineage(world: World, version: UUID) -> tuple[Evidence, ...]:
    with world.store.reading() as reader:
        return reader.lineage_evidence(world.scope(), [version]).get(version, ())


@PROPERTY
@given(seed=st.integers(0, 2**32))
def test_recomputing_from_the_log_gives_what_is_stored_and_served(world: World, seed: int) -> None:
    chance = random.Random(seed)
    entries = [world.entry(world.namespace(), f"{seed} {number}") for number in range(4)]
    world.apply(*rows_of(*entries))
    told: list[Evidence] = []
    changes = []
    for _ in range(14):
        world.clock.turn(minutes=chance.randint(0, 2))
        entry = chance.choice(entries)
        match chance.randint(0, 4):
            case 0 if told:
                back = chance.choice(told)
                row = replace(back, id=uuid4(), event=Event.RETRACTION, retracts=back.id)
                changes.append(world.apply(replace(row, recorded_at=world.clock.now)))
            case 1:
                other = chance.choice(entries)
                if other is not entry:
                    changes.append(world.apply(merged(entry, into=other)))
            case 2:
                changes.append(world.apply(replace(entry.item, status=Status.ACTIVE)))
            case 3 if changes:
                last = changes.pop()
                world.undo(last)
            case _:
                piece = world.evidence(
                    entry,
                    chance.choice([0.0, 0.5, 1.0]),
                    chance.choice([0.5, 1.0]),
                    context=chance.choice(["", "clean"]),
                )
                told.append(piece)
                world.apply(piece)
    with world.store.reading() as reader:
        for entry in entries:
            subject = entry.version.id
            stored = world.beliefs(subject)
            pieces = _of_lineage(world, subject)
            by_context = {
                context: fold(subject, context, [p for p in pieces if p.context == context])
                for context in {p.context for p in pieces}
            }
            assert by_context == stored == refolded(reader, world.scope(), subject)
            again = list(pieces)
            chance.shuffle(again)
            assert utility(again) == utility(pieces)
            assert utilities(again).keys() <= stored.keys()


def test_the_statistics_of_what_was_merged_follow_it(world: World) -> None:
    one, two, three = (world.entry(world.namespace(), str(number)) for number in range(3))
    world.apply(*rows_of(one, two, three))
    world.apply(world.evidence(two, 1.0), world.evidence(three, 0.0))
    newer = next_version(world, three, "newer")
    world.apply(newer.version, newer.item, world.evidence(newer, 1.0))
    world.apply(merged(newer, into=two), merged(two, into=one))
    assert utility(_of_lineage(world, one.version.id)).outcomes == 3
    assert utility(_of_lineage(world, two.version.id)).outcomes == 3
    assert utility(_of_lineage(world, three.version.id)).outcomes == 1


def test_the_evidence_of_an_item_out_of_reach_is_not_told(world: World) -> None:
    entry = world.entry(world.namespace("secret"), "a")
    world.apply(*rows_of(entry), world.evidence(entry))
    with world.store.reading() as reader:
        assert reader.lineage_evidence(world.scope("team"), [entry.version.id]) == {}
        assert reader.lineage_evidence(world.another().scope(), [entry.version.id]) == {}


def test_changes_of_a_library_are_told_in_order_with_the_runs_between(world: World) -> None:
    here, there = world.namespace(), world.namespace("elsewhere")
    note = world.entry(here, "a")
    kind = note.item.kind
    first = world.apply(world.run(here), world.run(here))
    second = world.apply(*rows_of(note), world.evidence(note))
    world.apply(world.run(there), *rows_of(world.entry(there, "b")))
    third = world.apply(replace(note.item, status=Status.ARCHIVED), world.run(here))
    with world.store.reading() as reader:
        found = reader.library_changes(here, [kind], 100)
        none = reader.library_changes(here, [k for k in Kind if k is not kind], 100)
        newest = reader.library_changes(here, [kind], 2)
    assert [(one.position, one.runs, one.items) for one in found] == [
        (first.position, 2, frozenset()),
        (second.position, 0, frozenset({note.item.id})),
        (third.position, 1, frozenset({note.item.id})),
    ]
    assert [(one.runs, one.items) for one in none] == [(2, frozenset()), (1, frozenset())]
    assert [one.position for one in newest] == [third.position]
