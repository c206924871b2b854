"""What a retrieve finds in SQL: the newest items, and facts about an entity by its name."""

from dataclasses import replace
from datetime import timedelta

from memserver.domain.items import Entry, FactBody, Kind, Status
from tests.contract.store.world import World, next_version, rows_of


def texts(entries: list[Entry]) -> dict[object, str]:
    return {entry.version.id: entry.version.title for entry in entries}


def test_the_newest_are_those_stored_last_in_order_of_when_they_began_to_hold(
    world: World,
) -> None:
    here = world.namespace()
    for text, days in (("first", 0), ("late", 5), ("early", -5), ("now", 1)):
        entry = world.entry(here, text)
        began = entry.version.valid_from + timedelta(days=days)
        world.apply(entry.item, replace(entry.version, valid_from=began))

    with world.store.reading() as reader:
        found = reader.newest(world.scope(), [here.id], ["note"], 3)
        entries = reader.entries_by_version(world.scope(), [one.version for one in found])

    assert [entries[one.version].version.title for one in found] == ["late", "now", "early"]
    assert [entries[one.version].item.id for one in found] == [one.item for one in found]


def test_the_newest_are_active_and_of_the_kinds_and_namespaces_asked_for(world: World) -> None:
    here, there = world.namespace("here"), world.namespace("there")
    kept, rule = world.entry(here, "kept"), world.entry(here, "rule", kind=Kind.RULE)
    gone, other = world.entry(here, "gone"), world.entry(there, "other")
    world.apply(*rows_of(kept, rule, gone, other))
    world.apply(replace(gone.item, status=Status.ARCHIVED))

    with world.store.reading() as reader:
        notes = reader.newest(world.scope(), [here.id], ["note"], 9)
        both = reader.newest(world.scope(), [here.id, there.id], ["note", "rule"], 9)
        none = reader.newest(world.scope(), [], ["note"], 9)

    assert [one.version for one in notes] == [kept.version.id]
    assert {one.version for one in both} == {
        kept.version.id,
        rule.version.id,
        other.version.id,
    }
    assert none == ()


def test_facts_are_linked_by_the_name_of_their_entity_the_latest_first(world: World) -> None:
    here = world.namespace()
    office, desk, other = (
        world.entry(here, key, kind=Kind.FACT, body=FactBody(entity, key, "value"))
        for entity, key in (("Ana", "office"), ("ANA ", "desk"), ("Ben", "office"))
    )
    for entry in (office, desk, other):
        world.apply(*rows_of(entry))
    moved = next_version(world, office, "moved")
    moved = replace(moved, version=replace(moved.version, body=FactBody("Ana", "office", "new")))
    world.apply(*rows_of(moved))

    with world.store.reading() as reader:
        found = reader.linked(world.scope(), [here.id], ["ana"], 9)
        one = reader.linked(world.scope(), [here.id], ["ana"], 1)
        nobody = reader.linked(world.scope(), [here.id], ["carl"], 9)

    assert [each.version for each in found] == [moved.version.id, desk.version.id]
    assert [each.version for each in one] == [moved.version.id]
    assert nobody == ()
