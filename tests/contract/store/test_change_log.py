"""Content is written by changes alone, and each says what it did."""

from dataclasses import replace
from uuid import uuid4

import pytest

from memserver.domain.changes import Action, Draft, RowRef, Table, Verb
from memserver.domain.errors import IdConflict
from memserver.domain.items import Status
from memserver.domain.ports.paging import PageRequest
from memserver.domain.ports.store import Writer
from memserver.domain.scope import Namespace
from tests.contract.store.world import World, next_version, pages, ref, rows_of


def test_a_change_logs_what_it_did_to_each_row(world: World) -> None:
    here = world.namespace()
    entry = world.entry(here)
    inserted = world.apply(*rows_of(entry))
    updated = world.apply(replace(entry.item, status=Status.ARCHIVED))
    deleted = world.apply(deletes=(ref(entry.version), ref(entry.item)))
    with world.store.reading() as reader:
        logged = [
            reader.row_changes(world.scope(), change.id, PageRequest()).rows
            for change in (inserted, updated, deleted)
        ]
    assert [[(row.ref, row.action) for row in rows] for rows in logged] == [
        [(ref(entry.item), Action.INSERT), (ref(entry.version), Action.INSERT)],
        [(ref(entry.item), Action.UPDATE)],
        [(ref(entry.item), Action.DELETE), (ref(entry.version), Action.DELETE)],
    ]
    assert logged[0][0].before is None
    assert logged[1][0].before is not None
    assert logged[1][0].before["status"] == "active"
    assert logged[2][0].after_hash is None
    assert {row.namespace_id for rows in logged for row in rows} == {here.id}


def test_a_change_keeps_who_why_and_when(world: World) -> None:
    operation = uuid4()
    draft = replace(world.draft(world.run(world.namespace())), operation=operation)
    change = world.store.write(lambda tx: tx.apply(draft))
    with world.store.reading() as reader:
        stored = reader.change(world.scope(), change.id)
    assert stored == change
    assert (change.actor, change.reason, change.verb) == (world.actor, "a test", Verb.REMEMBER)
    assert (change.created_at, change.rows, change.operation) == (world.clock.now, 1, operation)


def test_hashes_of_consecutive_changes_of_the_same_rows_meet(world: World) -> None:
    entry = world.entry(world.namespace())
    world.apply(*rows_of(entry))
    archived = replace(entry.item, status=Status.ARCHIVED)
    first = world.apply(archived)
    second = world.apply(replace(archived, title="another"))
    third = world.apply(archived)
    assert first.after_hash == second.before_hash == third.after_hash
    assert first.before_hash != first.after_hash != second.after_hash


def test_putting_what_is_there_already_changes_nothing(world: World) -> None:
    entry, run = world.entry(world.namespace()), world.run(world.namespace())
    evidence = world.evidence(entry)
    world.apply(*rows_of(entry), run, evidence)
    again = world.apply(*rows_of(entry), run, evidence)
    assert again.rows == 0
    assert world.apply(deletes=(RowRef(Table.TRAJECTORY, uuid4()),)).rows == 0
    assert world.beliefs(entry.version.id)[""].outcomes == 1


def test_an_empty_draft_gives_a_change_without_rows_that_can_be_undone(world: World) -> None:
    change = world.apply()
    assert change.rows == 0
    assert change.before_hash == change.after_hash
    assert world.undo(change).undoes == change.id


def test_an_id_of_another_namespace_is_a_conflict_and_stores_nothing(world: World) -> None:
    entry = world.entry(world.namespace("a"))
    world.apply(*rows_of(entry))
    moved = replace(entry.item, namespace=world.namespace("b"), title="moved")
    fresh = world.run(world.namespace("b"))
    with pytest.raises(IdConflict):
        world.apply(fresh, moved)
    with world.store.reading() as reader:
        assert reader.item(world.scope(), entry.item.id) == entry
        assert reader.trajectory(world.scope(), fresh.id) is None


def test_two_tenants_may_use_the_same_ids(world: World) -> None:
    other = world.another()
    mine = world.entry(world.namespace())
    theirs = replace(mine.item, namespace=other.namespace(), title="theirs")
    version = replace(mine.version, namespace=other.namespace(), title="theirs")
    world.apply(*rows_of(mine))
    other.apply(theirs, version)
    assert world.item(mine.item.id) == mine
    found = other.item(mine.item.id)
    assert found is not None
    assert found.item.title == "theirs"


def test_a_namespace_of_another_tenant_is_refused(world: World) -> None:
    foreign = world.another().namespace()
    forged = Namespace(foreign.id, world.tenant.id, foreign.path)
    missing = Namespace(10_000, world.tenant.id, "nowhere")
    for namespace in (foreign, forged, missing):
        with pytest.raises(ValueError, match="no namespace of the tenant"):
            world.apply(world.run(namespace))


def test_a_draft_that_names_a_row_twice_is_refused(world: World) -> None:
    run = world.run(world.namespace())
    with pytest.raises(ValueError, match="twice"):
        world.apply(run, replace(run, agent="another"))
    with pytest.raises(ValueError, match="twice"):
        world.apply(run, deletes=(ref(run),))


def test_a_work_sees_its_own_writes_and_nobody_else_does_before_its_end(world: World) -> None:
    entry = world.entry(world.namespace())
    scope = world.scope()

    def work(tx: Writer) -> None:
        tx.apply(world.draft(*rows_of(entry), world.evidence(entry)))
        assert tx.item(scope, entry.item.id) == entry
        assert tx.beliefs(scope, [entry.version.id])[entry.version.id][0].outcomes == 1
        with world.store.reading() as reader:
            assert reader.item(scope, entry.item.id) is None

    world.store.write(work)
    assert world.item(entry.item.id) == entry


def test_a_work_that_raises_leaves_nothing_behind(world: World) -> None:
    run = world.run(world.namespace())

    def work(tx: Writer) -> None:
        tx.apply(world.draft(run))
        tx.ensure_namespace(world.tenant.id, "brand-new")
        tx.set_mark("index", 7, "f")
        raise ZeroDivisionError

    with world.store.reading() as reader:
        before = reader.head_position()
    with pytest.raises(ZeroDivisionError):
        world.store.write(work)
    with world.store.reading() as reader:
        assert reader.head_position() == before
        assert reader.trajectory(world.scope(), run.id) is None
        assert reader.namespace(world.scope(), "brand-new") is None
        assert reader.mark("index") is None


def test_a_namespace_that_was_rolled_back_is_not_taken_for_the_next_one(world: World) -> None:
    def make_and_fail(tx: Writer) -> None:
        doomed = tx.ensure_namespace(world.tenant.id, "doomed")
        run = world.run(doomed)
        tx.apply(world.draft(run))
        assert tx.trajectory(world.scope(), run.id) == run
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        world.store.write(make_and_fail)
    run = world.run(world.namespace("blessed"))
    world.apply(run)
    with world.store.reading() as reader:
        found = reader.trajectory(world.scope(), run.id)
    assert found is not None
    assert found.namespace.path == "blessed"


def test_the_history_of_an_item_holds_that_of_its_versions_newest_first(world: World) -> None:
    here = world.namespace()
    entry, bystander = world.entry(here), world.entry(here, "another")
    first = world.apply(*rows_of(entry, bystander))
    second = world.apply(*rows_of(next_version(world, entry, "better")))
    closed = world.apply(replace(entry.version, valid_to=world.clock.now))
    world.apply(replace(bystander.item, status=Status.ARCHIVED))
    with world.store.reading() as reader:
        history = [
            change.id
            for page in pages(
                lambda page: reader.changes(world.scope(), [here.id], page, entry.item.id), 1
            )
            for change in page.rows
        ]
        of_version = reader.changes(world.scope(), [here.id], PageRequest(), entry.version.id)
    assert history == [closed.id, second.id, first.id]
    assert [change.id for change in of_version.rows] == [closed.id, first.id]


def test_changes_are_listed_newest_first_for_the_namespaces_named(world: World) -> None:
    a, b = world.namespace("a"), world.namespace("b")
    in_a = [world.apply(world.run(a)) for _ in range(3)]
    in_b = world.apply(world.run(b))
    both = world.apply(world.run(a), world.run(b))

    def listed(*namespaces: Namespace) -> list[int]:
        with world.store.reading() as reader:
            ids = [namespace.id for namespace in namespaces]
            found = pages(lambda page: reader.changes(world.scope(), ids, page), 2)
            return [change.position for page in found for change in page.rows]

    newest_first = [both.position, *reversed([change.position for change in in_a])]
    assert listed(a) == newest_first
    assert listed(b) == [both.position, in_b.position]
    assert len(listed(a, b)) == 5
    assert listed() == []


def test_rows_of_a_change_are_paged_in_order(world: World) -> None:
    runs = [world.run(world.namespace()) for _ in range(5)]
    change = world.apply(*runs)
    with world.store.reading() as reader:
        found = pages(lambda page: reader.row_changes(world.scope(), change.id, page), 2)
        logged = [row.ref for page in found for row in page.rows]
    assert logged == [ref(run) for run in runs]


def test_a_draft_of_another_tenant_is_refused(world: World) -> None:
    run = world.run(world.namespace())
    foreign = Draft(world.another().tenant.id, Verb.REMEMBER, world.actor, "no", (run,))
    with pytest.raises(ValueError, match="no namespace of the tenant"):
        world.store.write(lambda tx: tx.apply(foreign))
