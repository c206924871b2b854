"""SQLite has no statistics of our tables, so that an index can mislead it: no query by id or by
namespace may end up reading all rows of a tenant. Measured once: 16 ms became 96."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Connection, event

from memserver.domain.changes import RowRef, Table
from memserver.domain.items import Kind
from memserver.domain.policies import PolicyRole
from memserver.domain.ports.paging import PageRequest
from memserver.domain.ports.store import DecisionFilter, ItemFilter, TrajectoryFilter
from memserver.storage.sql.store import SqlStore
from tests.contract.store.world import World, merged, rows_of

CONTENT = "trajectory|item|version|evidence|belief|row_change|decision|policy"
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
                reader.merged_into(scope, versions)
                reader.facts_about(scope, spaces[0], [str(number) for number in range(many)])
                reader.turns(scope, spaces[0], ids[0], first=0, last=10)
                reader.last_turn(scope, spaces[0], ids[0])
                reader.newest(scope, every, ["note"], 10)
                reader.linked(scope, every, [str(number) for number in range(many)], 10)
                reader.items_by_content(
                    scope, spaces[0], Kind.NOTE, entries[0].version.content_hash
                )
                reader.trajectories_by_id(scope, [run.id for run in runs])
                reader.trajectories_of_task(scope, runs[0].task.goal)
                reader.evidence(scope, versions[0])
                reader.evidence_of_cause(scope, uuid4())
                reader.evidence_of_causes(scope, ids)
                reader.runs_in_brief(scope, [run.id for run in runs])
                reader.policy(scope, uuid4())
                reader.policies(scope, every, page)
                reader.decisions_of_trajectory(scope, uuid4())
                reader.change(scope, change.id)
                reader.row_changes(scope, change.id, page)
                refs = [RowRef(Table.VERSION, version) for version in versions]
                reader.documents(world.tenant.id, refs)
                reader.feed(0, 10)
    assert len(found) > 30
    assert _slow(found) == {}


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("newest_first", [False, True])
def test_each_page_of_decisions_starts_where_the_one_before_ended(
    world: World, store: SqlStore, newest_first: bool
) -> None:
    """Else the last page of an export would walk through all that came before it."""
    here, page = world.namespace(), PageRequest(1)
    for _ in range(3):
        world.decide(here)
    filters = (DecisionFilter(here.id), DecisionFilter(here.id, world.clock.now, explored=False))
    for where in filters:
        with plans(store) as found, store.reading() as reader:
            scope = world.scope()
            first = reader.decisions(scope, where, page, newest_first=newest_first)
            last = PageRequest(5, first.next_cursor)
            assert reader.decisions(scope, where, last, newest_first=newest_first).rows
        steps = [step for plan in found.values() for step in plan if "decision" in step]
        assert len(steps) == 2
        index = "SEARCH decision USING INDEX ix_decision_namespace_id_created_at_id"
        assert all(step.startswith(index) for step in steps), steps
        assert "created_at" in steps[-1].removeprefix(index), steps
        assert not [plan for plan in found.values() if any("TEMP B-TREE" in one for one in plan)]


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_what_every_retrieve_and_every_check_of_a_policy_asks_reads_no_whole_table(
    world: World, store: SqlStore
) -> None:
    here = world.namespace()
    world.apply(world.policy(here))
    with plans(store) as found, store.reading() as reader:
        reader.serving(here, PolicyRole.RETRIEVE)
        reader.scored_runs(here, since=world.clock.now, limit=100)
        reader.policy_weights("a hash")
        reader.namespace_settings(here)
    assert len(found) >= 5
    assert _slow(found) == {}
    walked = [step for plan in found.values() for step in plan if step.startswith("SCAN")]
    assert walked == []
    # Whether a run has an earlier decision is asked of each; 2000 of them once took 1.4 s.
    earlier = [step for plan in found.values() for step in plan if "SEARCH decision_1 " in step]
    assert len(earlier) == 1
    assert "(trajectory_id=? AND tenant_id=?)" in earlier[0]
    # All retrieves without a run, of every tenant and of all time, share one value there.
    by_run = re.compile(r"SEARCH decision .*\(trajectory_id=\?\)")
    assert not [step for plan in found.values() for step in plan if by_run.search(step)]


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_forgetting_decisions_reads_none_that_it_keeps(world: World, store: SqlStore) -> None:
    """Their rows are large; counting and choosing them is left to an index."""
    here = world.namespace()
    for _ in range(3):
        world.decide(here)
        world.clock.turn(days=1)
    with plans(store) as found:
        before = world.clock.now - timedelta(days=2, hours=1)
        assert store.write(lambda tx: tx.prune_decisions(before=before, most=1, limit=9)) == 2
    steps = [step for plan in found.values() for step in plan if "decision" in step]
    assert len(steps) >= 4
    allowed = re.compile(
        r"(SCAN|SEARCH) decision USING COVERING INDEX"
        r"|SEARCH decision USING INDEX sqlite_autoindex_decision_1 \(id=\? AND tenant_id=\?\)"
    )
    assert [step for step in steps if not allowed.match(step)] == []


def _slow(found: dict[str, list[str]]) -> dict[str, list[str]]:
    return {
        statement: steps
        for statement, steps in found.items()
        if any(READS_ALL.search(step) for step in steps)
    }
