"""What the indexer follows: every change in order, and how each row should look in the index."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from memserver.domain.changes import RowRef, Table
from memserver.domain.items import Kind, Status
from memserver.domain.policies import PolicyState
from memserver.domain.ports import NEVER
from memserver.domain.ports.store import PAST, Document
from tests.contract.store.world import World, merged, next_version, ref, rows_of


def _documents(world: World, *refs: RowRef) -> dict[UUID, Document]:
    with world.store.reading() as reader:
        documents = reader.documents(world.tenant.id, refs)
    assert len({document.id for document in documents}) == len(documents)
    return {document.id: document for document in documents}


def test_the_feed_has_every_change_and_only_what_is_indexed(world: World) -> None:
    here = world.namespace()
    entry, run = world.entry(here), world.run(here)
    written = world.apply(*rows_of(entry), run)
    credited = world.apply(world.evidence(entry))
    empty = world.apply()
    other = world.another()
    foreign = other.apply(other.run(other.namespace()))
    with world.store.reading() as reader:
        feed = reader.feed(0, 100)
        assert reader.head_position() == foreign.position
        assert reader.feed(credited.position, 1) == feed[2:3]
        assert reader.feed(foreign.position, 100) == ()
    assert [entry.position for entry in feed] == [
        change.position for change in (written, credited, empty, foreign)
    ]
    assert feed[0].refs == (ref(run), ref(entry.item), ref(entry.version))
    assert [entry.refs for entry in feed[1:3]] == [(), ()]
    assert [entry.tenant for entry in feed] == [world.tenant.id] * 3 + [other.tenant.id]


def test_an_empty_log_has_no_feed(world: World) -> None:
    with world.store.reading() as reader:
        assert reader.feed(0, 10) == ()
        assert reader.head_position() == 0
        assert reader.live_documents(None, 10) == ()


def test_a_run_is_found_by_its_goal_on_one_line(world: World) -> None:
    run = world.run(world.namespace(), "put a mug\n on a   desk", type="kitchen")
    world.apply(run)
    assert _documents(world, ref(run)) == {
        run.id: Document(
            id=run.id,
            item=run.id,
            tenant=world.tenant.id,
            namespace_id=run.namespace.id,
            kind="trajectory",
            status="active",
            task_type="kitchen",
            created=int(run.created_at.timestamp()),
            text="put a mug on a desk",
            live=True,
            valid_from=int(run.created_at.timestamp()),
            recorded=int(run.created_at.timestamp()),
        )
    }


def test_an_active_items_versions_are_live_and_say_which_of_them_holds(world: World) -> None:
    entry = world.entry(world.namespace(), "first", kind=Kind.PRINCIPLE, task_type="kitchen")
    second = next_version(world, entry, "second")
    world.apply(*rows_of(entry))
    world.apply(*rows_of(second))
    for named in (ref(entry.item), ref(entry.version), ref(second.version)):
        documents = _documents(world, named)
        assert {key: (one.live, one.status) for key, one in documents.items()} == {
            entry.version.id: (True, PAST),
            second.version.id: (True, "active"),
        }
    head = documents[second.version.id]
    assert (head.item, head.kind, head.task_type) == (entry.item.id, "principle", "kitchen")
    assert head.text == second.version.text
    assert head.created == int(entry.item.created_at.timestamp())
    for status in set(Status) - {Status.ACTIVE}:
        world.apply(replace(second.item, status=status))
        documents = _documents(world, ref(entry.item))
        assert not any(one.live for one in documents.values())
        assert {one.status for one in documents.values()} == {status.value}


def test_a_document_says_in_whole_seconds_when_it_held_and_since_when_that_is_known(
    world: World,
) -> None:
    entry = world.entry(world.namespace())
    begun, ended = (
        datetime(1969, 12, 31, 23, 59, 59, 500_000, UTC),
        datetime(2020, 1, 2, tzinfo=UTC),
    )
    told, closed = datetime(2021, 1, 1, tzinfo=UTC), datetime(2022, 1, 1, 0, 0, 0, 999_999, UTC)
    version = replace(entry.version, valid_from=begun, recorded_at=told)
    world.apply(entry.item, version)

    def document() -> Document:
        return _documents(world, ref(entry.item))[version.id]

    assert (document().valid_from, document().valid_to) == (-1, NEVER)
    assert (document().recorded, document().closed) == (int(told.timestamp()), NEVER)
    assert document().status == "active"
    world.apply(replace(version, valid_to=ended, closed_at=closed))
    assert (document().valid_to, document().closed) == (
        int(ended.timestamp()),
        int(closed.timestamp()),
    )
    assert (document().live, document().status) == (True, PAST)


def test_a_turn_comes_with_the_words_around_it(world: World) -> None:
    turn, note = (
        world.entry(world.namespace(), "yes", context="is it red? yes"),
        world.entry(world.namespace(), "blue"),
    )
    world.apply(*rows_of(turn, note))

    documents = _documents(world, ref(turn.item), ref(note.item))

    assert documents[turn.version.id].context == "is it red? yes"
    assert documents[turn.version.id].text == "yes"
    assert documents[note.version.id].context == ""


def test_a_row_that_an_undo_took_away_is_not_live(world: World) -> None:
    entry, run = world.entry(world.namespace()), world.run(world.namespace())
    change = world.apply(*rows_of(entry), run)
    refs = [ref(row) for row in (*rows_of(entry), run)]
    undo = world.undo(change)
    gone = _documents(world, *refs)
    assert gone.keys() == {entry.item.id, entry.version.id, run.id}
    assert not any(document.live for document in gone.values())
    assert {document.tenant for document in gone.values()} == {world.tenant.id}
    world.undo(undo)
    assert {key for key, one in _documents(world, *refs).items() if one.live} == {
        entry.version.id,
        run.id,
    }


def test_documents_of_another_tenant_are_gone_for_this_one(world: World) -> None:
    other = world.another()
    run = other.run(other.namespace())
    other.apply(run)
    assert [document.live for document in _documents(world, ref(run)).values()] == [False]


def test_evidence_is_no_document(world: World) -> None:
    assert _documents(world, RowRef(Table.EVIDENCE, uuid4())) == {}


def test_policies_and_exploration_move_the_feed_on_and_are_no_documents(world: World) -> None:
    here = world.namespace()
    run, policy, exploration = world.run(here), world.policy(here), world.exploration(here)
    first = world.apply(run)
    moves = [
        world.apply(policy),
        world.apply(exploration),
        world.apply(replace(policy, state=PolicyState.ACTIVE), replace(exploration, share=0.5)),
    ]
    moves.append(world.undo(moves[-1]))
    mixed = world.apply(replace(policy, reason="with a run"), replace(run, agent="another"))
    with world.store.reading() as reader:
        assert reader.head_position() == mixed.position
        feed = reader.feed(first.position, 100)
        live = reader.live_documents(None, 100)
    assert [entry.position for entry in feed] == [one.position for one in (*moves, mixed)]
    assert [entry.refs for entry in feed] == [()] * len(moves) + [(ref(run),)]
    gone = (RowRef(Table.POLICY, uuid4()), RowRef(Table.EXPLORATION, uuid4()))
    assert _documents(world, ref(policy), ref(exploration), *gone) == {}
    assert [document.id for document in live] == [run.id]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_live_documents_of_all_tenants_are_paged_without_a_gap(world: World, limit: int) -> None:
    """Two tenants hold the same ids, so that an id alone does not say where a page ended."""
    here = world.namespace()
    entries = [world.entry(here, str(number)) for number in range(4)]
    runs = [world.run(here) for _ in range(3)]
    world.apply(*rows_of(*entries), *runs)
    world.apply(merged(entries[0], into=entries[1]))
    world.apply(*rows_of(next_version(world, entries[2], "newer")))
    other = world.another()
    there = other.namespace()
    for entry in entries:
        other.apply(replace(entry.item, namespace=there), replace(entry.version, namespace=there))
    other.apply(*(replace(run, namespace=there) for run in runs))

    found: list[Document] = []
    after: tuple[str, UUID] | None = None
    with world.store.reading() as reader:
        while page := reader.live_documents(after, limit):
            found += page
            table = Table.TRAJECTORY if page[-1].kind == "trajectory" else Table.VERSION
            after = (table.value, page[-1].id)
    keys = [(document.tenant, document.id) for document in found]
    assert len(keys) == len(set(keys)) == 3 + 4 + 3 + 4
    assert all(document.live for document in found)


def test_live_documents_equal_the_live_ones_that_the_feed_leads_to(world: World) -> None:
    here = world.namespace()
    entries = [world.entry(here, str(number)) for number in range(3)]
    world.apply(*rows_of(*entries), world.run(here))
    world.apply(*rows_of(next_version(world, entries[0], "newer")))
    world.undo(world.apply(replace(entries[1].item, status=Status.ARCHIVED)))
    world.apply(deletes=(ref(entries[2].item), ref(entries[2].version)))
    with world.store.reading() as reader:
        refs = [ref for entry in reader.feed(0, 100) for ref in entry.refs]
        followed = reader.documents(world.tenant.id, refs)
        live = reader.live_documents(None, 100)
    assert {one.id: one for one in followed if one.live} == {one.id: one for one in live}
    assert len(live) == 4
