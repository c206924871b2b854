"""What makes a memory stay true is kept: turns, validity, subjects, mentions, settings, choices."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

from memserver.domain.changes import Change
from memserver.domain.decisions import Choice
from memserver.domain.evidence import Event
from memserver.domain.items import Entry, FactBody, Kind, Status, Turn
from memserver.domain.namespace_settings import default_settings
from memserver.domain.ports.paging import PageRequest
from tests.contract.store.world import World, rows_of

SESSION = UUID(int=5)
PAGE = PageRequest(100)


def fact(world: World, entity: str, value: str = "B12", *, key: str = "office") -> Entry:
    here = world.namespace()
    return world.entry(here, f"{entity} {key}", kind=Kind.FACT, body=FactBody(entity, key, value))


def test_a_version_comes_back_with_its_turn_context_and_closing_time(world: World) -> None:
    said = world.entry(
        world.namespace(),
        turn=Turn(SESSION, 3, "Ana"),
        context="Bob: where do you sit?",
        closed_at=world.clock.now,
        valid_to=world.clock.now + timedelta(days=1),
    )
    dated = replace(said, item=replace(said.item, subject="p-17", expires_at=world.clock.now))
    world.apply(*rows_of(dated))
    assert world.item(said.item.id) == dated


def test_a_run_comes_back_with_its_subject(world: World) -> None:
    run = replace(world.run(world.namespace()), subject="p-17")
    world.apply(run)
    with world.store.reading() as reader:
        assert reader.trajectory(world.scope(), run.id) == run


def test_facts_are_found_by_any_spelling_of_their_entity(world: World) -> None:
    ana, office, bob = (
        fact(world, "Ana Lima"),
        fact(world, "ANA  lima", key="desk"),
        fact(world, "Bob"),
    )
    world.apply(*rows_of(ana, office, bob))
    with world.store.reading() as reader:
        found = reader.facts_about(world.scope(), world.namespace(), ["ana LIMA", "Ana Lima"])
    assert {entry.item.id for entry in found} == {ana.item.id, office.item.id}


def test_archived_facts_are_not_found(world: World) -> None:
    gone = fact(world, "Ana")
    world.apply(*rows_of(replace(gone, item=replace(gone.item, status=Status.ARCHIVED))))
    with world.store.reading() as reader:
        assert reader.facts_about(world.scope(), world.namespace(), ["Ana"]) == ()


def test_turns_come_in_the_order_in_which_they_were_said(world: World) -> None:
    here = world.namespace()
    turns = [world.entry(here, str(n), turn=Turn(SESSION, n, "Ana")) for n in (4, 2, 3, 1)]
    elsewhere = world.entry(here, "other", turn=Turn(uuid4(), 2, "Ana"))
    drawn = fact(world, "Ana")
    drawn = replace(drawn, version=replace(drawn.version, turn=Turn(SESSION, 2, "Ana")))
    world.apply(*rows_of(*turns, elsewhere, drawn))
    with world.store.reading() as reader:
        found = reader.turns(world.scope(), here, SESSION, first=2, last=3)
    assert [entry.version.title for entry in found] == ["2", "3"]


def test_a_mention_is_counted_and_says_nothing_of_whether_it_helps(world: World) -> None:
    entry = world.entry(world.namespace())
    world.apply(*rows_of(entry), world.evidence(entry, 1.0))
    before = world.beliefs(entry.version.id)[""]
    world.clock.turn(days=1)
    world.apply(world.evidence(entry, event=Event.MENTION))
    world.apply(world.evidence(entry, event=Event.MENTION))
    after = world.beliefs(entry.version.id)[""]
    assert after == replace(before, mentions=2, last=world.clock.now)


def test_settings_are_set_changed_and_undone(world: World) -> None:
    here = world.namespace()
    first = replace(default_settings(here), half_life_days=30.5, most_items=200)
    second = replace(
        first, personal_data=True, time_zone="Europe/Rome", allowed_tools=("Read", "Bash(ls:*)")
    )

    def there() -> object:
        with world.store.reading() as reader:
            return reader.namespace_settings(here)

    assert there() == default_settings(here)
    world.apply(first)
    assert there() == first
    changed = world.apply(second)
    assert there() == second
    world.undo(changed)
    assert there() == first
    with world.store.reading() as reader:
        assert reader.namespaces_with_settings() == (first,)


def test_a_write_decision_keeps_what_it_chose(world: World) -> None:
    decision = replace(
        world.decision(world.namespace()),
        verb="write",
        choice=Choice("UPDATE", UUID(int=3), "rules", "another value", UUID(int=4), UUID(int=5)),
    )
    world.store.write(lambda tx: tx.add_decision(decision))
    with world.store.reading() as reader:
        assert reader.decision(world.scope(), decision.id) == decision


def test_rows_without_the_new_columns_hash_as_they_did_before_there_were_any(
    world: World,
) -> None:
    """Else no change from before the upgrade could be undone after it."""
    entry = world.entry(world.namespace())
    change = world.apply(*rows_of(entry))
    renamed = world.apply(replace(entry.item, title="renamed"))
    assert _logged_names(world, renamed).isdisjoint({"subject", "expires_at"})
    world.undo(renamed)
    world.undo(change)
    assert world.item(entry.item.id) is None


def test_undo_takes_a_subject_away_again(world: World) -> None:
    entry = world.entry(world.namespace())
    world.apply(*rows_of(entry))
    named = world.apply(replace(entry.item, subject="p-17"))
    world.undo(named)
    found = world.item(entry.item.id)
    assert found is not None
    assert found.item.subject is None


def _logged_names(world: World, change: Change) -> set[str]:
    with world.store.reading() as reader:
        rows = reader.row_changes(world.scope(), change.id, PAGE).rows
    return {name for row in rows for name in row.before or {}}
