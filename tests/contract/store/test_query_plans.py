"""SQLite has no statistics of our tables, so that an index can mislead it: no query by id or by
namespace may end up reading all rows of a tenant. Measured once: 16 ms became 96."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Connection, event

from memserver.domain.changes import RowRef, Table
from memserver.domain.items import Kind
from memserver.domain.ports.store import ItemFilter, PageRequest, TrajectoryFilter
from memserver.storage.sql.store import SqlStore
from tests.contract.store.world import World, merged, rows_of

CONTENT = "trajectory|item|version|evidence|belief|row_change|decision"
READS_ALL = re.compile(rf"^SCAN ({CONTENT})\b|^SEARCH ({CONTENT}) .*\(tenant_id=\?\)$")


@contextmanager
def plans(store: SqlStore) -> Iterator[dict[str, list[str]]]:
    """How SQLite carries out each statement."""
    found: dict[str, list[str]] = {}

    def explain(
        connection: Connection, _: Any, statement: str, parameters: Any, *rest: Any
    ) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE")):
            one = parameters[0] if rest[-1] else parameters
            raw: Any = connection.connection.driver_connection
            steps = raw.execute(f"EXPLAIN QUERY PLAN {statement}", one).fetchall()
            found[statement] = [step[3] for step in steps]

    engines = (store._engines.reading, store._engines.writing)
    for engine in engines:
        event.listen(engine, "before_cursor_execute", explain)
    yield found
    for engine in engines:
        event.remove(engine, "before_cursor_execute", explain)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("many", [1, 100])
def test_no_query_by_id_or_namespace_reads_a_whole_tenant(
    world: World, store: SqlStore, many: int
) -> None:
    spaces = [world.namespace(f"team/{number}") for number in range(5)]
    entries = [world.entry(spaces[number % 5], str(number)) for number in range(many)]
    runs = [world.run(spaces[0]) for _ in range(many)]
    every, page = tuple(space.id for space in spaces), PageRequest(10)
    ids = [entry.item.id for entry in entries]
    versions = [entry.version.id for entry in entries]
    with plans(store) as found:
        change = world.apply(*rows_of(*entries), *runs)
        world.undo(world.apply(*(world.evidence(entry) for entry in entries)))
        world.apply(merged(entries[0], into=entries[-1]))
        for scope in (world.scope(), world.scope("team/**", "other")):
            with store.reading() as reader:
                cursor = reader.items(scope, ItemFilter(every), PageRequest(1)).next_cursor
                for where in (every[:1], every):
                    reader.items(scope, ItemFilter(where), page)
                    reader.items(scope, ItemFilter(where, (Kind.NOTE,)), PageRequest(1, cursor))
                    reader.trajectories(scope, TrajectoryFilter(where), page)
                    reader.changes(scope, where, page)
                    reader.changes(scope, where, page, ids[0])
                reader.items_by_id(scope, ids)
                reader.entries_by_version(scope, versions)
                reader.beliefs(scope, versions)
                reader.versions(scope, ids[0])
                reader.items_by_content(
                    scope, spaces[0], Kind.NOTE, entries[0].version.content_hash
                )
                reader.trajectories_by_id(scope, [run.id for run in runs])
                reader.trajectories_of_task(scope, runs[0].task.goal)
                reader.evidence(scope, versions[0])
                reader.evidence_of_cause(scope, uuid4())
                reader.decisions_of_trajectory(scope, uuid4())
                reader.change(scope, change.id)
                reader.row_changes(scope, change.id, page)
                refs = [RowRef(Table.VERSION, version) for version in versions]
                reader.documents(world.tenant.id, refs)
                reader.feed(0, 10)
    assert len(found) > 30
    slow = {
        statement: steps
        for statement, steps in found.items()
        if any(READS_ALL.search(step) for step in steps)
    }
    assert slow == {}
