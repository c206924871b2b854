"""Isolation: what a scope does not reach is as if it were not there, on every path there is."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memserver.domain.changes import Change
from memserver.domain.decisions import Decision
from memserver.domain.evidence import Evidence
from memserver.domain.items import Entry, FactBody, Kind, Turn
from memserver.domain.operations import Operation
from memserver.domain.policies import Policy
from memserver.domain.ports.corpus import CorpusFilter
from memserver.domain.ports.paging import PageRequest
from memserver.domain.ports.practice import PracticeFilter
from memserver.domain.ports.privacy import Original
from memserver.domain.ports.sessions import SessionFilter
from memserver.domain.ports.store import (
    DecisionFilter,
    ItemFilter,
    Reader,
    TrajectoryFilter,
    Writer,
)
from memserver.domain.practice import PracticeGoal, Why
from memserver.domain.scope import Key, Namespace, Role, Scope, covers, is_path
from memserver.domain.sessions.events import Message, Session, SessionEvent
from memserver.domain.times import TimeFrame
from memserver.domain.trajectories import Task, Trajectory
from memserver.storage.sql.sealed_rows import seal
from memserver.storage.sql.store import SqlStore
from memserver.storage.sql.writing import SqlWriter
from tests.contract.store.world import START, Clock, World, merged, rows_of

PAGE = PageRequest(500)
SESSION, EVENT = UUID(int=77), UUID(int=78)
NEIGHBOURS = (
    "acme",
    "acme-corp",
    "acme_corp",
    "acme.corp",
    "Acme",
    "ACME",
    "acme/a",
    "acme/A",
    "acme/a_b",
    "acme/a.b",
    "acme/axb",
    "acme-corp/a",
    "a/b",
    "a/bc",
    "a/b/c",
    "a/b_c",
    "A/b",
    "a",
    "a_b",
    "axb",
)


@dataclass(frozen=True)
class Belongings:
    """One row of every table, all in one namespace."""

    namespace: Namespace
    entry: Entry
    run: Trajectory
    evidence: Evidence
    decision: Decision
    operation: Operation
    policy: Policy
    change: Change
    session: Session
    practice: PracticeGoal


def furnish(world: World, path: str) -> Belongings:
    here = world.namespace(path)
    entry, run = world.entry(here, f"a note in {path}"), world.run(here, template_id="t")
    fact = world.entry(
        here,
        kind=Kind.FACT,
        body=FactBody("Ana", "office", path),
    )
    turn = world.entry(here, "said", turn=Turn(SESSION, 0, "Ana"))
    evidence = world.evidence(entry, cause=run.id)
    decision, operation = world.decision(here, trajectory_id=run.id), world.operation(here)
    policy = world.policy(here)
    behind = world.entry(here, "behind")
    change = world.apply(
        *rows_of(entry, fact, turn),
        behind.version,
        merged(behind, into=entry),
        run,
        evidence,
        policy,
    )
    session = Session(uuid4(), here, "tester", None, world.clock.now, world.clock.now, events=1)
    why = Why(score=0.2, novelty=0.8, p=0.5, feasibility=1.0, redundancy=0.0)
    practice = PracticeGoal(
        uuid4(), here, Task("put mug on desk"), "put {object} on desk", {}, why, world.clock.now
    )
    said = SessionEvent(1, Message("Ana", f"said in {path}"), world.clock.now, EVENT)

    def plain_rows(tx: Writer) -> None:
        tx.add_decision(decision)
        tx.put_operation(operation)
        tx.put_session(session)
        tx.add_session_events(session, [said])
        tx.add_practice_goals([practice])

    world.store.write(plain_rows)
    world.store.write(lambda tx: _seal(tx, here))
    return Belongings(
        here, entry, run, evidence, decision, operation, policy, change, session, practice
    )


def _seal(tx: Writer, here: Namespace) -> None:
    assert isinstance(tx, SqlWriter)
    seal(tx, here, [Original("0" * 16, "key", here.tenant.bytes)], subject=None)


Look = Callable[[Reader, Scope, Belongings], Any]

# How each scoped method would show what another owns, were it not for the scope. A method that
# is missing here fails the first test below.
LOOKS: dict[str, Look] = {
    "keys": lambda r, s, b: [k for k in r.keys(s, PAGE).rows if k.tenant == b.namespace.tenant],
    "key": lambda r, s, b: _key_of(r, s, b),
    "namespace": lambda r, s, b: _same(r.namespace(s, b.namespace.path), b.namespace),
    "namespaces_under": lambda r, s, b: b.namespace in r.namespaces_under(s, "**"),
    "namespaces": lambda r, s, b: b.namespace in r.namespaces(s, PAGE).rows,
    "trajectory": lambda r, s, b: r.trajectory(s, b.run.id),
    "trajectories_by_id": lambda r, s, b: r.trajectories_by_id(s, [b.run.id]),
    "trajectories": lambda r, s, b: (
        r.trajectories(s, TrajectoryFilter((b.namespace.id,)), PAGE).rows
    ),
    "trajectories_of_task": lambda r, s, b: (
        b.run.id in r.trajectories_of_task(s, b.run.task.goal) | r.trajectories_of_task(s, "t")
    ),
    "item": lambda r, s, b: r.item(s, b.entry.item.id),
    "items": lambda r, s, b: r.items(s, ItemFilter((b.namespace.id,)), PAGE).rows,
    "items_by_id": lambda r, s, b: r.items_by_id(s, [b.entry.item.id]),
    "items_by_content": lambda r, s, b: r.items_by_content(
        s, b.namespace, b.entry.item.kind, b.entry.version.content_hash
    ),
    "entries_by_version": lambda r, s, b: r.entries_by_version(s, [b.entry.version.id]),
    "facts_about": lambda r, s, b: r.facts_about(s, b.namespace, ["ana"]),
    "turns": lambda r, s, b: r.turns(s, b.namespace, SESSION, first=0, last=9),
    "last_turn": lambda r, s, b: r.last_turn(s, b.namespace, SESSION) is not None,
    "newest": lambda r, s, b: r.newest(s, [b.namespace.id], [b.entry.item.kind], 9),
    "linked": lambda r, s, b: r.linked(s, [b.namespace.id], ["ana"], 9),
    "merged_into": lambda r, s, b: r.merged_into(s, [b.entry.version.id]),
    "versions_of": lambda r, s, b: r.versions_of(s, [b.entry.item.id]),
    "versions": lambda r, s, b: r.versions(s, b.entry.item.id),
    "beliefs": lambda r, s, b: r.beliefs(s, [b.entry.version.id]),
    "evidence": lambda r, s, b: r.evidence(s, b.entry.version.id),
    "evidence_of_cause": lambda r, s, b: r.evidence_of_cause(s, b.run.id),
    "evidence_of_causes": lambda r, s, b: r.evidence_of_causes(s, [b.run.id]),
    "decision": lambda r, s, b: r.decision(s, b.decision.id),
    "decisions_of_trajectory": lambda r, s, b: r.decisions_of_trajectory(s, b.run.id),
    "decisions": lambda r, s, b: _decisions_of(r, s, b),
    "runs_in_brief": lambda r, s, b: r.runs_in_brief(s, [b.run.id]),
    "policy": lambda r, s, b: r.policy(s, b.policy.id),
    "policies": lambda r, s, b: r.policies(s, [b.namespace.id], PAGE).rows,
    "change": lambda r, s, b: r.change(s, b.change.id),
    "changes": lambda r, s, b: (
        (
            r.changes(s, [b.namespace.id], PAGE).rows,
            r.changes(s, [b.namespace.id], PAGE, b.entry.item.id).rows,
        )
        != ((), ())
    ),
    "row_changes": lambda r, s, b: r.row_changes(s, b.change.id, PAGE).rows,
    "originals": lambda r, s, b: (
        b.namespace.tenant.bytes in r.originals(s, [b.namespace.path], ["0" * 16]).values()
    ),
    "entities": lambda r, s, b: r.entities(s, [b.namespace.id], PAGE).rows,
    "first_recorded": lambda r, s, b: r.first_recorded(s, [b.run.id]),
    "item_places": lambda r, s, b: r.item_places(
        s, CorpusFilter((b.namespace.id,), tuple(Kind)), None, 9
    ),
    "items_held": lambda r, s, b: (
        r.items_held(s, ItemFilter((b.namespace.id,)), TimeFrame(START), PAGE).rows
    ),
    "run_places": lambda r, s, b: r.run_places(s, CorpusFilter((b.namespace.id,)), None, 9),
    "runs_that_may_hold": lambda r, s, b: r.runs_that_may_hold(s, [b.run.id], "mug"),
    "session": lambda r, s, b: r.session(s, b.session.id),
    "sessions": lambda r, s, b: r.sessions(s, SessionFilter((b.namespace.id,)), PAGE).rows,
    "session_events": lambda r, s, b: r.session_events(s, b.session.id, PAGE).rows,
    "all_session_events": lambda r, s, b: r.all_session_events(s, b.session.id),
    "session_events_by_id": lambda r, s, b: r.session_events_by_id(s, b.session.id, [EVENT]),
    "lineage_evidence": lambda r, s, b: r.lineage_evidence(s, [b.entry.version.id]),
    "practice_goal": lambda r, s, b: r.practice_goal(s, b.practice.id),
    "practice_goals": lambda r, s, b: (
        r.practice_goals(s, PracticeFilter((b.namespace.id,)), PAGE).rows
    ),
    "sessions_after": lambda r, s, b: r.sessions_after(s, CorpusFilter((b.namespace.id,)), None, 9),
    "operation": lambda r, s, b: r.operation(s, b.operation.id),
    "operations": lambda r, s, b: b.operation in r.operations(s, (), PAGE).rows,
}


HANDED_BACK = {"as_known"}
"""Methods that give only what the caller has read before, in another light."""


def test_every_scoped_method_of_the_port_is_looked_through_here() -> None:
    scoped = {
        name
        for name, method in inspect.getmembers(Reader, inspect.isfunction)
        if "scope" in inspect.signature(method).parameters
    }
    assert scoped == LOOKS.keys() | HANDED_BACK


def test_another_tenant_sees_nothing_whatever_its_grants(world: World) -> None:
    mine = furnish(world, "team")
    _add_key(world, ("team",))
    stranger = world.another()
    furnish(stranger, "team")
    with world.store.reading() as reader:
        for method, look in LOOKS.items():
            assert look(reader, world.scope(), mine), f"{method} shows it to its owner"
            for grants in (("**",), ("team",), ("team/**",)):
                assert not look(reader, stranger.scope(*grants), mine), f"{method} with {grants}"


def test_grants_that_miss_the_namespace_see_nothing_of_it(world: World) -> None:
    mine = furnish(world, "team/a_b")
    _add_key(world, ("team/a_b",))
    reaching = (("team/a_b",), ("team/**",), ("other", "team/a_b/**"))
    missing = (("team",), ("team/axb",), ("team/A_b",), ("team/a",), ("tea/**",), ("*",))
    nothing = replace(world.scope(), grants=())
    with world.store.reading() as reader:
        for method, look in LOOKS.items():
            for grants in reaching:
                assert look(reader, world.scope(*grants), mine), f"{method} with {grants}"
            for grants in missing:
                assert not look(reader, world.scope(*grants), mine), f"{method} with {grants}"
            assert not look(reader, nothing, mine), f"{method} with no grants"


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_sql_and_covers_agree_on_what_a_pattern_reaches(
    store: SqlStore, clock: Clock, data: st.DataObject
) -> None:
    segment = st.from_regex(r"[aAbB0_][aAbB._-]{0,2}", fullmatch=True)
    path = st.lists(segment, min_size=1, max_size=3).map("/".join).filter(is_path)
    near = st.one_of(path, st.sampled_from(NEIGHBOURS))
    pattern = st.one_of(near, near.map(lambda root: root + "/**"), st.just("**"))
    paths = data.draw(st.lists(near, min_size=1, max_size=12, unique=True))
    grants = tuple(data.draw(st.lists(pattern, max_size=3)))
    asked = data.draw(pattern)
    world = World(store, clock)
    store.write(lambda tx: [tx.ensure_namespace(world.tenant.id, one) for one in paths])
    scope = replace(world.scope(), grants=grants)
    reached = {one for one in paths if any(covers(grant, one) for grant in grants)}
    with store.reading() as reader:
        listed = [one.path for one in reader.namespaces(scope, PAGE).rows]
        under = [one.path for one in reader.namespaces_under(scope, asked)]
        found = {one for one in paths if reader.namespace(scope, one) is not None}
    assert listed == sorted(reached)
    assert found == reached
    assert under == sorted(one for one in reached if covers(asked, one))


def test_names_that_differ_in_case_or_by_a_wildcard_are_different_namespaces(
    world: World,
) -> None:
    made = {path: world.namespace(path) for path in NEIGHBOURS}
    assert len({namespace.id for namespace in made.values()}) == len(NEIGHBOURS)
    assert {path: world.namespace(path) for path in NEIGHBOURS} == made
    with world.store.reading() as reader:
        found = {path: reader.namespace(world.scope(), path) for path in NEIGHBOURS}
    assert found == made


def test_a_decision_over_several_namespaces_is_seen_from_each_of_them(world: World) -> None:
    decision = world.decision(world.namespace("a"), world.namespace("b"))
    world.store.write(lambda tx: tx.add_decision(decision))
    with world.store.reading() as reader:
        assert reader.decision(world.scope("a"), decision.id) == decision
        assert reader.decision(world.scope("b"), decision.id) == decision
        assert reader.decision(world.scope("c"), decision.id) is None


def test_a_change_shows_only_those_of_its_rows_that_are_within_reach(world: World) -> None:
    mine, theirs = world.run(world.namespace("a")), world.run(world.namespace("b"))
    change = world.apply(mine, theirs)
    with world.store.reading() as reader:
        seen = reader.row_changes(world.scope("a"), change.id, PAGE).rows
        assert [row.ref.id for row in seen] == [mine.id]
        assert reader.change(world.scope("c"), change.id) is None


def test_a_key_that_reaches_further_than_the_scope_is_not_shown(world: World) -> None:
    keys = {
        grants: _add_key(world, grants)
        for grants in [("**",), ("a/**",), ("a",), ("a/b", "a/c/**"), ("a", "b"), ("ab/**",)]
    }

    def shown(*grants: str) -> set[tuple[str, ...]]:
        with world.store.reading() as reader:
            scope = world.scope(*grants)
            listed = {key.grants for key in reader.keys(scope, PAGE).rows}
            single = {g for g, key in keys.items() if reader.key(scope, key.id) is not None}
        assert listed == single
        return listed

    assert shown("**") == keys.keys()
    assert shown("a/**") == {("a/**",), ("a",), ("a/b", "a/c/**")}
    assert shown("a") == {("a",)}
    assert shown("a", "b") == {("a",), ("a", "b")}


def _add_key(world: World, grants: tuple[str, ...]) -> Key:
    key = Key(
        id=uuid4(),
        tenant=world.tenant.id,
        digest=uuid4().hex,
        role=Role.WRITER,
        grants=grants,
        label="a key",
        created_at=world.clock.now,
    )
    world.store.write(lambda tx: tx.add_key(key))
    return key


def _key_of(reader: Reader, scope: Scope, belongings: Belongings) -> Key | None:
    everything = Scope(belongings.namespace.tenant, UUID(int=0), Role.ADMIN, ("**",))
    (key,) = reader.keys(everything, PAGE).rows
    return reader.key(scope, key.id)


def _decisions_of(reader: Reader, scope: Scope, belongings: Belongings) -> list[Decision]:
    where = DecisionFilter(belongings.namespace.id)
    both = (reader.decisions(scope, where, PAGE, newest_first=newest) for newest in (False, True))
    return [decision for page in both for decision in page.rows]


def _same(found: Namespace | None, wanted: Namespace) -> bool:
    return found == wanted
