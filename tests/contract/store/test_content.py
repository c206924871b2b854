"""What is stored comes back as it was, and is found by what it is filtered by."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID, uuid4

import pytest

from memserver.domain.errors import InvalidCursor
from memserver.domain.items import (
    Body,
    CaseBody,
    FactBody,
    HintBody,
    Kind,
    RuleBody,
    SkillBody,
    SkillStep,
    Slot,
    Source,
    Status,
    TextBody,
)
from memserver.domain.ports.paging import PageRequest
from memserver.domain.ports.store import ItemFilter, Reader, TrajectoryFilter
from memserver.domain.trajectories import Outcome, OutcomeSource, Step, Task
from tests.contract.store.world import World, merged, next_version, pages, rows_of

BODIES: dict[Kind, Body] = {
    Kind.SKILL: SkillBody(
        "a mug is wanted",
        (SkillStep("go to {place}", "a shelf"), SkillStep("take mug")),
        (Slot("place", "receptacle", "shelf 1"), Slot("other")),
        goal="put a mug on {place}",
        form="workflow",
    ),
    Kind.HINT: HintBody("at the shelf", "look first", avoid="leaving"),
    Kind.RULE: RuleBody("never put two mugs", "in a kitchen"),
    Kind.FACT: FactBody("mug", "colour", "bläulich 青い 🫖"),
    Kind.CASE: CaseBody("find a mug", ("go", "look"), 0.1 + 0.2),
    Kind.NOTE: TextBody("a line\nand \t another \\ \" ' %s :name"),
}


@pytest.mark.parametrize("kind", BODIES)
def test_an_item_of_each_kind_comes_back_as_it_was(world: World, kind: Kind) -> None:
    entry = world.entry(
        world.namespace(),
        "a title",
        kind=kind,
        body=BODIES[kind],
        sources=(Source(uuid4(), (0, 3)), Source(uuid4())),
        task_type="kitchen",
        parent=uuid4(),
        method="distill/workflows",
        metadata={"zahl": 1e22, "null": None, "deep": [{"a": [1, 2.5, -0.0, True]}], "é": "ø"},
    )
    world.apply(*rows_of(entry))
    assert world.item(entry.item.id) == entry
    assert world.undo(world.apply(replace(entry.item, title="other"))).rows == 1


def test_a_trajectory_comes_back_as_it_was(world: World) -> None:
    run = replace(
        world.run(world.namespace(), type="kitchen", environment="alfworld", template_id="t-1"),
        steps=(
            Step("you see", "go", reward=0.5, metadata={"n": 1}),
            Step(),
            Step(action="stop", reward=0.0),
        ),
        outcome=Outcome(0.25, False, OutcomeSource.JUDGE, cost=1.5),
        used=(uuid4(), uuid4()),
        mistakes=("went twice", ""),
        metadata={"model": "m"},
        sent_hash="abc",
    )
    bare = replace(
        world.run(world.namespace()), steps=(), outcome=None, used=(), task=Task(""), agent=""
    )
    world.apply(run, bare)
    with world.store.reading() as reader:
        found = reader.trajectories_by_id(world.scope(), [run.id, bare.id, uuid4()])
    assert found == {run.id: run, bare.id: bare}


def test_times_come_back_in_utc_whatever_offset_they_had(world: World) -> None:
    east = datetime(2026, 3, 1, 1, 30, 0, 1, tzinfo=timezone(timedelta(hours=5, minutes=45)))
    early = datetime(1, 1, 1, tzinfo=UTC)
    entry = world.entry(world.namespace())
    version = replace(entry.version, valid_from=early, valid_to=east)
    world.apply(replace(entry.item, created_at=east), version)
    found = world.item(entry.item.id)
    assert found is not None
    assert found.item.created_at == found.version.valid_to == east
    assert found.item.created_at.tzinfo is UTC
    assert found.version.valid_from == early


def test_a_naive_time_is_refused_and_nothing_is_stored(world: World) -> None:
    run = replace(world.run(world.namespace()), created_at=datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(ValueError, match="without an offset"):
        world.apply(run)
    operation = replace(world.operation(world.namespace()), created_at=run.created_at)
    with pytest.raises(Exception, match="without an offset"):
        world.store.write(lambda tx: tx.put_operation(operation))
    with world.store.reading() as reader:
        assert reader.trajectory(world.scope(), run.id) is None
        assert reader.any_operation(operation.id) is None


def test_what_is_no_json_is_refused(world: World) -> None:
    run = replace(world.run(world.namespace()), metadata={"score": float("nan")})
    with pytest.raises(ValueError, match="JSON"):
        world.apply(run)


def test_trajectories_are_filtered_by_every_field(world: World) -> None:
    here, there = world.namespace("here"), world.namespace("there")
    runs = {
        "plain": world.run(here),
        "typed": world.run(here, type="kitchen"),
        "placed": world.run(here, environment="alfworld"),
        "by agent": replace(world.run(here), agent="other"),
        "failed": replace(world.run(here), outcome=Outcome(0.0, False)),
        "open": replace(world.run(here), outcome=None),
        "elsewhere": world.run(there),
    }
    world.apply(*runs.values())
    names = {run.id: name for name, run in runs.items()}

    def found(**where: Any) -> set[str]:
        where.setdefault("namespaces", (here.id,))
        with world.store.reading() as reader:
            page = reader.trajectories(world.scope(), TrajectoryFilter(**where), PageRequest())
        return {names[run.id] for run in page.rows}

    assert found() == set(runs) - {"elsewhere"}
    assert found(task_type="kitchen") == {"typed"}
    assert found(environment="alfworld") == {"placed"}
    assert found(agent="other") == {"by agent"}
    assert found(success=False) == {"failed"}
    assert found(success=True) == {"plain", "typed", "placed", "by agent"}
    assert found(namespaces=(there.id,)) == {"elsewhere"}
    assert found(namespaces=()) == set()


def test_items_are_filtered_by_kind_and_status(world: World) -> None:
    here = world.namespace()
    skill = world.entry(here, kind=Kind.SKILL, body=BODIES[Kind.SKILL])
    note, gone = world.entry(here), world.entry(here)
    world.apply(*rows_of(skill, note, gone), deletes=())
    gone = replace(gone, item=replace(gone.item, status=Status.DELETED))
    world.apply(gone.item)

    def found(**where: Any) -> list[UUID]:
        with world.store.reading() as reader:
            page = reader.items(world.scope(), ItemFilter((here.id,), **where), PageRequest())
        return sorted(entry.item.id for entry in page.rows)

    assert found() == sorted([skill.item.id, note.item.id, gone.item.id])
    assert found(kinds=(Kind.SKILL,)) == [skill.item.id]
    assert found(statuses=(Status.DELETED,)) == [gone.item.id]
    assert found(kinds=(Kind.NOTE, Kind.SKILL), statuses=(Status.ACTIVE,)) == sorted(
        [skill.item.id, note.item.id]
    )


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 50])
def test_pages_give_every_row_once_in_the_order_of_writing(world: World, limit: int) -> None:
    here = world.namespace()
    for _ in range(3):
        world.apply(*(world.run(here) for _ in range(2)), *rows_of(world.entry(here)))
    everywhere = (here.id,)
    with world.store.reading() as reader:
        of_runs = pages(
            lambda page: reader.trajectories(world.scope(), TrajectoryFilter(everywhere), page),
            limit,
        )
        runs = [run for page in of_runs for run in page.rows]
        of_items = pages(
            lambda page: reader.items(world.scope(), ItemFilter(everywhere), page), limit
        )
        items = [entry.item.id for page in of_items for entry in page.rows]
        spaces = pages(lambda page: reader.namespaces(world.scope(), page), 1)
        assert [one.path for page in spaces for one in page.rows] == ["team"]
    assert len(runs) == len({run.id for run in runs}) == 6
    assert len(items) == len(set(items)) == 3


def test_a_row_that_is_written_between_two_pages_shifts_none(world: World) -> None:
    here = world.namespace()
    first = [world.run(here) for _ in range(4)]
    for run in first:
        world.apply(run)

    def read(page: PageRequest) -> Any:
        with world.store.reading() as reader:
            return reader.trajectories(world.scope(), TrajectoryFilter((here.id,)), page)

    page = read(PageRequest(2))
    world.apply(world.run(here))
    world.apply(replace(first[0], agent="changed"))
    rest = read(PageRequest(10, page.next_cursor))
    assert [run.id for run in page.rows + rest.rows][:4] == [run.id for run in first]


@pytest.mark.parametrize(
    "cursor", ["", "x", "null", "e30", "WzFd", "WyJpdGVtcyIsMV0", "é", "W" * 999, "\ud800"]
)
def test_a_cursor_of_no_list_is_refused(world: World, cursor: str) -> None:
    here = world.namespace()
    page = PageRequest(10, cursor)
    lists: list[Any] = [
        lambda r: r.items(world.scope(), ItemFilter((here.id,)), page),
        lambda r: r.trajectories(world.scope(), TrajectoryFilter((here.id,)), page),
        lambda r: r.changes(world.scope(), [here.id], page),
        lambda r: r.row_changes(world.scope(), uuid4(), page),
        lambda r: r.operations(world.scope(), (), page),
        lambda r: r.namespaces(world.scope(), page),
        lambda r: r.keys(world.scope(), page),
    ]
    with world.store.reading() as reader:
        for read in lists:
            with pytest.raises(InvalidCursor):
                read(reader)


def test_the_cursor_of_another_list_is_refused(world: World) -> None:
    here = world.namespace()
    world.apply(*rows_of(world.entry(here), world.entry(here)))
    with world.store.reading() as reader:
        cursor = reader.items(world.scope(), ItemFilter((here.id,)), PageRequest(1)).next_cursor
        assert cursor is not None
        with pytest.raises(InvalidCursor):
            reader.trajectories(world.scope(), TrajectoryFilter((here.id,)), PageRequest(1, cursor))


def test_equal_content_is_found_where_it_is_active_and_the_head(world: World) -> None:
    here = world.namespace()
    first, second = world.entry(here, "same"), world.entry(here, "same")
    other_kind = world.entry(here, "same", kind=Kind.PRINCIPLE)
    elsewhere = world.entry(world.namespace("other"), "same")
    archived, outgrown = world.entry(here, "same"), world.entry(here, "same")
    for entry in (first, second, other_kind, elsewhere, archived, outgrown):
        world.apply(*rows_of(entry))
    world.apply(replace(archived.item, status=Status.ARCHIVED))
    world.apply(*rows_of(next_version(world, outgrown, "different")))
    with world.store.reading() as reader:
        found = reader.items_by_content(world.scope(), here, Kind.NOTE, first.version.content_hash)
    assert found == (first, second)


def test_versions_of_an_item_are_newest_first_and_its_head_is_what_it_says(world: World) -> None:
    entry = world.entry(world.namespace())
    second = next_version(world, entry, "second")
    third = next_version(world, second, "third")
    world.apply(*rows_of(entry))
    world.apply(*rows_of(second))
    world.apply(third.version)
    with world.store.reading() as reader:
        versions = reader.versions(world.scope(), entry.item.id)
        entries = reader.entries_by_version(world.scope(), [entry.version.id, third.version.id])
    assert versions == (third.version, second.version, entry.version)
    assert world.item(entry.item.id) == second
    assert entries == {
        entry.version.id: replace(second, version=entry.version),
        third.version.id: replace(second, version=third.version),
    }


def test_runs_of_a_task_are_found_by_goal_template_and_kinship(world: World) -> None:
    here = world.namespace()
    plain = world.run(here, "Put a  mug on a desk.")
    typed = world.run(here, "put a mug on a desk", template_id="mugs")
    sibling = world.run(here, "put a cup on a desk", template_id="mugs")
    unrelated = world.run(here, "open the door", template_id="doors")
    long = world.run(here, "walk " * 5000)
    world.apply(plain, typed, sibling, unrelated, long)

    def of_task(name: str, reader: Reader) -> frozenset[UUID]:
        return reader.trajectories_of_task(world.scope(), name)

    with world.store.reading() as reader:
        assert of_task("put a MUG on a desk!", reader) == {plain.id, typed.id, sibling.id}
        assert of_task("mugs", reader) == {typed.id, sibling.id}
        assert of_task("put a cup on a desk", reader) == {typed.id, sibling.id}
        assert of_task("nothing of the kind", reader) == frozenset()
        assert of_task("walk " * 5000, reader) == {long.id}


def test_reads_by_id_take_more_ids_than_a_statement_takes_parameters(world: World) -> None:
    entry = world.entry(world.namespace())
    world.apply(*rows_of(entry))
    many = [uuid4() for _ in range(70_000)]
    with world.store.reading() as reader:
        found = reader.items_by_id(world.scope(), [*many, entry.item.id, entry.item.id])
    assert found == {entry.item.id: entry}


def test_a_merged_item_says_what_it_was_merged_into(world: World) -> None:
    one, two = world.entry(world.namespace()), world.entry(world.namespace())
    world.apply(*rows_of(one, two))
    world.apply(merged(two, into=one))
    found = world.item(two.item.id)
    assert found is not None
    assert (found.item.status, found.item.merged_into) == (Status.MERGED, one.version.id)
