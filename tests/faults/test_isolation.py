"""Isolation: nobody sees, changes or learns of what is another's, whichever way they come. The
routes are read from the app's own document: one that is added is tried without being told."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memserver.ids import uuid7
from memserver.services.reindexing import SERVER_NAMESPACE
from tests.faults.belongings import (
    APART,
    MINTED,
    NAMES,
    NEVER_LOOKED_UP,
    SECRET,
    Answer,
    Owner,
    alike,
    furnish,
    nobodys,
    query,
    view,
)
from tests.faults.document import ROUTES, IdPlace, Route, id_places, least, properties
from tests.integration.conftest import (
    App,
    Caller,
    asked_database,
    on_both_databases,
    passing_folder,
    start_app,
    wait_for,
)

PLACES = [place for place in id_places() if str(place.route) not in APART]
FACT = {"entity": "vault", "key": "opens with", "value": "a feather"}
STRANGERS = ("another tenant", "another namespace")
# What a careless comparison takes for `acme`: prefixes, wildcards of SQL and of shells, case,
# separators, letters that look the same.
VALID = ("acme", "acme-corp", "acme_corp", "acmeXcorp", "acm", "ACME", "Acme", "acme/a", "acme.")
INVALID = (
    "%", "acme%", "ac_e%", "*", "a*", "acme*", "acme/*", "acme/**/a", "acm?", "[a]cme", "acme ",
    " acme", "/acme", "acme/", "acme//a", "acme/../acme", "./acme", "acme\n", "acme'--", "acme\\",
    "\u0430cme", "\uff41\uff43\uff4d\uff45", "acm\u00e9", "acme\u200b", "\u212acme", "acme\u0301",
)  # fmt: skip


@dataclass(frozen=True)
class World:
    """An owner, and strangers who have as much of their own: each an admin who reaches all of
    another tenant, or another namespace of the owner's."""

    app: App
    owner: Owner
    strangers: dict[str, Owner]
    seen: dict[str, Answer]
    """All that the owner saw before anyone else did anything."""
    sent: set[str]
    """Ids of the owner's that strangers have sent, and may keep as ids or words of their own."""


@pytest.fixture(scope="module")
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    with ExitStack() as stack:
        data = passing_folder(stack, tmp_path_factory)
        app = start_app(stack, data, database_url=asked_database(request))
        owners = app.admin.with_key("admin", "**", tenant="owner")
        beside = owners.with_key("admin", "theirs/**")
        elsewhere = app.admin.with_key("admin", "**", tenant="stranger")
        strangers = {
            "another tenant": furnish(elsewhere, "mine/place", secret="a stranger's words"),
            "another namespace": furnish(beside, "theirs/place", secret="a stranger's words"),
        }
        mine = owners.with_key("admin", "mine/**")
        owner = furnish(mine, "mine/place")
        mine.post("/v1/memories", {"namespace": "mine/facts", "kind": "fact", "body": FACT})
        seen = view(owner)
        # What is refused to its owner shows nothing, and would hide whatever changes there.
        assert {name: one.text for name, one in seen.items() if one.status != 200} == {}
        yield World(app, owner, strangers, seen, {owner.own["run"], owner.own["version"]})


def test_every_id_that_a_route_takes_is_known_here() -> None:
    """A new one has to be named in `belongings.NAMES`, with one of its kind in `furnish`."""
    unknown = [str(place) for place in PLACES if place.name not in NAMES]

    assert unknown == []
    assert {name for _, name in NEVER_LOOKED_UP} <= {_spelt(place) for place in PLACES}


@pytest.mark.parametrize("place", [place for place in PLACES if place.name not in MINTED], ids=str)
def test_any_id_of_another_is_404_on_every_route_as_if_it_did_not_exist(
    world: World, place: IdPlace
) -> None:
    theirs = world.owner.own[NAMES[place.name]]
    world.sent.add(theirs)
    for stranger in world.strangers.values():
        reply, unknown = stranger.ask(place, theirs), stranger.ask(place, nobodys())

        if (str(place.route), _spelt(place)) in NEVER_LOOKED_UP:
            assert reply.status_code < 300, reply.text
        else:
            assert reply.status_code == 404, f"{reply.status_code}: {reply.text}"
        told = reply.status_code, alike(reply.text)
        assert told == (unknown.status_code, alike(unknown.text))
        assert SECRET not in reply.text
        assert [one for one in world.owner.ids - {theirs} if one in reply.text] == []
    assert view(world.owner) == world.seen


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_the_same_requests_reach_what_is_ones_own(shared_app: App, place: IdPlace) -> None:
    """Without this, a 404 for a stranger would prove nothing."""
    namespace = f"mine/{PLACES.index(place)}"
    owner = furnish(shared_app.admin.with_key("admin", "mine/**"), namespace)
    mine = nobodys() if place.name in MINTED else owner.own[NAMES[place.name]]
    reply = owner.ask(place, mine)

    # 409 says that it was found, and is in no state for this.
    assert reply.status_code < 300 or reply.status_code == 409, reply.text


@pytest.mark.parametrize("place", [place for place in PLACES if place.name in MINTED], ids=str)
def test_an_id_that_callers_make_up_is_a_tenants_own(world: World, place: IdPlace) -> None:
    taken = world.owner.own[NAMES[place.name]]
    world.sent.add(taken)
    elsewhere = world.strangers["another tenant"].ask(place, taken)
    beside = world.strangers["another namespace"].ask(place, taken)

    assert elsewhere.status_code < 300, elsewhere.text
    assert (beside.status_code, beside.json()["code"]) == (409, "id_conflict")
    assert SECRET not in beside.text
    assert "mine" not in beside.text
    assert view(world.owner) == world.seen


@pytest.mark.parametrize("path", INVALID)
def test_a_wildcard_or_lookalike_is_no_namespace_on_any_route(shared_app: App, path: str) -> None:
    caller = shared_app.admin.with_key("admin", "**", tenant="lookalikes")
    caller.post("/v1/memories", {"namespace": "acme", "body": {"text": SECRET}})
    for route in ROUTES:
        for where, request in _naming(route, path):
            reply = caller(route.method, _filled(route), **request)
            assert reply.status_code == 422, f"{route} {where}: {reply.status_code} {reply.text}"
            assert SECRET not in reply.text
    assert {row["path"] for row in caller.rows("/v1/namespaces")} == {"acme"}


def test_a_subtree_where_one_namespace_must_be_named_is_refused_and_never_a_fault(
    shared_app: App,
) -> None:
    caller = shared_app.admin.with_key("admin", "**", tenant="subtrees")
    for path in ("acme", "acme/a"):
        caller.post("/v1/memories", {"namespace": path, "body": {"text": SECRET}})
    for route in ROUTES:
        for pattern in ("acme/**", "**"):
            for where, request in _naming(route, pattern):
                reply = caller(route.method, _filled(route), **request)
                assert reply.status_code < 500, f"{route} {where}: {reply.status_code}"
    # An erasure that names no namespace is about the tenant, and at home in the server's own.
    made = {row["path"] for row in caller.rows("/v1/namespaces")} - {SERVER_NAMESPACE}
    assert made == {"acme", "acme/a"}


@on_both_databases("app")
def test_names_that_resemble_one_another_are_apart_in_every_list_and_search(app: App) -> None:
    for path in VALID:
        made = app.admin.post("/v1/memories", {"namespace": path, "body": {"text": SECRET}})
        assert made["existing"] is False, "the same text is no duplicate in another namespace"
        app.admin.post("/v1/trajectories", {"namespace": path, "task": {"goal": SECRET}})
    for path in VALID:
        reader = app.admin.with_key("reader", path)
        ask = {"query": SECRET, "kinds": ["note", "trajectory"], "k": 50}
        found = reader.post("/v1/retrieve", {**ask, "namespace": path})["items"]
        assert [hit["namespace"] for hit in found] == [path, path]
        for kind in ("memories", "trajectories"):
            rows = app.admin.rows(f"/v1/{kind}", namespace=path)
            assert [row["namespace"] for row in rows] == [path]
        assert len(app.admin.rows("/v1/changes", namespace=path)) == 2
        everything = reader.post("/v1/retrieve", {**ask, "namespace": "**"})["items"]
        assert {hit["namespace"] for hit in everything} == {path}
        others = [other for other in VALID if other != path]
        refused = [reader("POST", "/v1/retrieve", json={**ask, "namespace": o}) for o in others]
        assert {reply.status_code for reply in refused} == {403}


@on_both_databases("world")
def test_deleting_all_of_one_owner_leaves_everyone_else_whole(world: World) -> None:
    victims = [world.owner, *world.strangers.values()]
    wiper = world.app.admin.with_key("admin", "**", tenant="wiper")
    paths = ("mine/place", "mine", "theirs/place", "mine/placeX")
    for path in paths:
        furnish(wiper, path)
    before = [(view(one), _quiet(one)) for one in victims]

    for row in wiper.rows("/v1/memories", namespace="**"):
        wiper.delete(f"/v1/memories/{row['id']}")
    for row in wiper.rows("/v1/trajectories", namespace="**"):
        wiper.delete(f"/v1/trajectories/{row['id']}")

    assert wiper.rows("/v1/memories", namespace="**") == []
    assert _found(wiper) == []
    assert [(view(one), _quiet(one)) for one in victims] == before
    audit = world.app.audit()
    assert (audit["missing"], audit["orphans"]) == (0, 0)


def test_deleting_in_one_namespace_leaves_those_beside_it_whole(app: App) -> None:
    for path in VALID:
        app.admin.post("/v1/memories", {"namespace": path, "body": {"text": SECRET}})
    for row in app.admin.rows("/v1/memories", namespace="acme"):
        app.admin.delete(f"/v1/memories/{row['id']}")

    left = {hit["namespace"] for hit in _found(app.admin)}
    assert left == set(VALID) - {"acme"}


@on_both_databases("world")
def test_refusals_and_duplicates_name_nothing_of_another(world: World) -> None:
    """What the owner has is told again, and got wrong, by strangers."""
    owner, said = world.owner, []
    for stranger in world.strangers.values():
        caller, place = stranger.caller, stranger.own["namespace"]
        for method, path, body in (
            ("POST", "/v1/memories", {"namespace": place, "kind": "fact", "body": FACT}),
            ("POST", "/v1/skills", {"namespace": place, "body": {"when": f"{SECRET} in {place}"}}),
            ("POST", "/v1/trajectories", {"namespace": place, "task": {"goal": "x"},
                                          "id": owner.own["run"], "used": [owner.own["version"]]}),
            ("POST", f"/v1/changes/{stranger.own['change']}/undo", None),
            ("POST", "/v1/feedback", {"score": 1, "retrieval_id": stranger.own["retrieval"],
                                      "used": [owner.own["version"]]}),
        ):  # fmt: skip
            reply = caller(method, path, **({} if body is None else {"json": body}))
            said.append((reply, body))
            if reply.status_code == 201 and path != "/v1/trajectories":
                caller.delete(f"/v1/memories/{reply.json()['id']}")

    for reply, body in said:
        sent = str(body)
        assert [one for one in owner.ids if one in reply.text and one not in sent] == []
        assert reply.json().get("existing", False) is False


@on_both_databases("app")
def test_tenants_that_write_at_once_into_equal_namespaces_stay_apart(app: App) -> None:
    """The same namespace, ids and words in each, written by all at the same time."""
    names = [f"tenant-{number}" for number in range(6)]
    callers = {name: app.admin.with_key("admin", "**", tenant=name) for name in names}
    ids = sorted(str(uuid7()) for _ in range(8))
    work = [(name, number) for name in names for number in range(len(ids))]
    random.Random(5).shuffle(work)

    def write(job: tuple[str, int]) -> None:
        name, number = job
        caller = callers[name]
        fact = {"entity": "door", "key": str(number), "value": name}
        caller.post("/v1/memories", {"namespace": "same", "kind": "fact", "body": fact})
        run = {"namespace": "same", "task": {"goal": f"open door {number}"}, "agent": name}
        caller.post("/v1/trajectories", {**run, "id": ids[number]})

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(write, work))

    for name, caller in callers.items():
        facts = caller.rows("/v1/memories", namespace="**")
        runs = caller.rows("/v1/trajectories", namespace="**")
        assert sorted(row["version"]["body"]["key"] for row in facts) == sorted("01234567")
        assert {row["version"]["body"]["value"] for row in facts} == {name}
        assert sorted(row["id"] for row in runs) == ids
        assert {row["agent"] for row in runs} == {name}
        assert len(caller.rows("/v1/changes", namespace="same")) == 2 * len(ids)
        ask = {"query": "open door", "namespace": "same", "k": 50}
        hits = caller.post("/v1/retrieve", {**ask, "kinds": ["fact"]})["items"]
        assert {hit["text"].count(name) for hit in hits} == {1}
        assert len(hits) == len(ids)


@pytest.mark.slow
@on_both_databases("world")
@given(data=st.data())
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_strangers_do_the_owner_sees_the_same_and_they_see_nothing_of_it(
    world: World, data: st.DataObject
) -> None:
    """Over all routes: lists, rows, histories, operations with their reports, and their counts."""
    found = _quiet(world.owner)
    for _ in range(data.draw(st.integers(2, 6))):
        stranger = world.strangers[data.draw(st.sampled_from(STRANGERS))]
        place = data.draw(st.sampled_from(PLACES))
        ids = sorted(world.owner.ids) + sorted(stranger.ids - {stranger.own["key"]})
        named = data.draw(st.sampled_from(ids))
        world.sent.add(named)
        stranger.ask(place, named)
        act = data.draw(st.sampled_from(ACTS))
        act(stranger)

    assert view(world.owner) == world.seen
    assert _quiet(world.owner) == found
    for stranger in world.strangers.values():
        told = str(view(stranger)) + str(_quiet(stranger))
        assert SECRET not in told
        assert {one for one in world.owner.ids if one in told} <= world.sent


@on_both_databases("app")
def test_counts_and_reports_are_the_same_beside_others_as_alone(app: App) -> None:
    def work(caller: Caller) -> list[Any]:
        for number in range(6):
            goal = {"goal": f"put the mug number {number} on the shelf", "type": "put"}
            steps = [{"action": f"take mug {number}"}, {"action": f"put mug {number} on shelf 1"}]
            won = {"score": 1.0, "success": True}
            run = {"namespace": "work", "task": goal, "steps": steps, "outcome": won}
            caller.post("/v1/trajectories", run)
        done = [
            wait_for(caller, caller.post(f"/v1/{verb}", {"namespace": "work", **more}))
            for verb, more in (
                ("distill", {}),
                ("consolidate", {"apply": True}),
            )
        ]
        seen = [alike(str(one["report"])) for one in done]
        counts = [len(caller.rows(f"/v1/{rows}", namespace="**")) for rows in LISTS]
        return [*seen, *counts, len(caller.rows("/v1/operations")), len(caller.rows("/v1/keys"))]

    alone = work(app.admin.with_key("admin", "**", tenant="alone"))
    for name in ("loud", "louder"):
        work(app.admin.with_key("admin", "**", tenant=name))
        furnish(app.admin.with_key("admin", "**", tenant=name), "work")
    beside = work(app.admin.with_key("admin", "**", tenant="beside"))

    assert beside == alone


@on_both_databases("world")
def test_what_anyone_may_ask_without_a_key_names_nobody(world: World) -> None:
    paths = {getattr(route, "path", "") for route in world.app.server.api.routes}
    for path in sorted(path for path in paths if not path.startswith("/v1")):
        text = world.app.anonymous("GET", path).text
        for owner in (world.owner, *world.strangers.values()):
            assert [word for word in (*owner.ids, SECRET, "mine/", "theirs/") if word in text] == []


@pytest.mark.slow
def test_a_small_tenant_and_a_small_namespace_get_all_hits_beside_large_ones(app: App) -> None:
    """Five runs beside five thousand that fit the question as well, or better."""
    large = app.admin.with_key("admin", "**", tenant="large")
    small = app.admin.with_key("admin", "**", tenant="small")
    for start in range(0, 5_000, 1_000):
        runs = [{"task": {"goal": f"find the mug {n % 50}"}} for n in range(start, start + 1_000)]
        batch = {"namespace": "same", "trajectories": runs}
        assert large.post("/v1/trajectories/batch", batch)["stored"] == 1_000
    for caller, path in ((small, "same"), (large, "little")):
        few = [{"task": {"goal": f"find the mug {n} quickly"}} for n in range(5)]
        caller.post("/v1/trajectories/batch", {"namespace": path, "trajectories": few})

    for caller, path in ((small, "same"), (small, "**"), (large, "little")):
        ask = {"query": "find the mug 3", "namespace": path, "kinds": ["trajectory"], "k": 10}
        hits = caller.post("/v1/retrieve", ask)["items"]
        assert len(hits) == 5
        assert set(hits[0]["arms"]) == {"dense", "sparse"}
        assert hits[0]["title"] == "find the mug 3 quickly"


LISTS = ("memories", "skills", "trajectories", "changes")


def _found(caller: Caller) -> list[Any]:
    ask = {"query": SECRET, "namespace": "**", "k": 50}
    hits = caller.post("/v1/retrieve", {**ask, "kinds": ["skill", "note", "trajectory", "fact"]})
    return list(hits["items"])


def _quiet(owner: Owner) -> list[Any]:
    """What is found where nothing else is listed: a retrieve is logged, and so changes a view."""
    ask = {"query": SECRET, "namespace": f"{owner.own['namespace']}/quiet"}
    return list(owner.caller.post("/v1/retrieve", ask)["items"])


def _remember(stranger: Owner) -> None:
    body = {"namespace": stranger.own["namespace"], "body": {"text": "a stranger's words again"}}
    stranger.caller.post("/v1/memories", body)


def _distill(stranger: Owner) -> None:
    sent = {"namespace": stranger.own["namespace"]}
    wait_for(stranger.caller, stranger.caller.post("/v1/distill", sent))


def _consolidate(stranger: Owner) -> None:
    sent = {"namespace": stranger.own["namespace"], "apply": True}
    wait_for(stranger.caller, stranger.caller.post("/v1/consolidate", sent))


def _undo_the_last(stranger: Owner) -> None:
    last = stranger.caller.get("/v1/changes", namespace="**", limit=1)["rows"]
    for change in last:
        stranger.caller("POST", f"/v1/changes/{change['id']}/undo")


def _give_a_key(stranger: Owner) -> None:
    stranger.caller.with_key("writer", stranger.own["namespace"])


ACTS = (_remember, _distill, _consolidate, _undo_the_last, _give_a_key)


def _spelt(place: IdPlace) -> str:
    return ".".join(map(str, place.place)) or place.name


def _filled(route: Route) -> str:
    """The path with ids of nothing: what is wrong with the request comes first."""
    path = route.path
    for one in route.parameters("path"):
        path = path.replace(f"{{{one['name']}}}", nobodys())
    return path


def _naming(route: Route, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Requests that name the namespace `path`, at each place where the route takes one."""
    if any(one["name"] == "namespace" for one in route.parameters("query")):
        yield "query", {"params": {**query(route, "acme"), "namespace": path}}
    if route.body is None:
        return
    body = least(route.body, "acme")
    if str(route) == "POST /v1/memories":
        body["body"] = {"text": "x"}
    for name in properties(route.body) & {"namespace", "path", "namespaces", "grants"}:
        several = name in ("namespaces", "grants")
        yield name, {"json": {**body, name: [path] if several else path}}
