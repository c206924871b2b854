"""Nobody sees, changes or learns of what their key does not reach, on any path that exists."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memserver.domain.scope import covers
from memserver.ids import uuid7
from tests.integration.conftest import (
    App,
    Caller,
    asked_database,
    on_both_databases,
    start_app,
    wait_for,
)

SECRET = "the vault opens with a turquoise feather"
# Names that a careless comparison confuses: prefixes, wildcards of SQL, case, separators.
PATHS = ("acme", "acme-corp", "acme_corp", "acmeXcorp", "ACME", "acme/a", "acme/a/b", "acme/ab")
PATTERNS = (*PATHS, "acme/**", "acme/a/**", "ACME/**", "**")


@dataclass(frozen=True)
class World:
    """One app in which every path of `PATHS` holds one note, in each of two tenants."""

    app: App
    admins: dict[str, Caller]
    ids: dict[str, dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    with ExitStack() as stack:
        data = tmp_path_factory.mktemp("scopes") / "data"
        app = start_app(stack, data, database_url=asked_database(request))
        admins = {name: app.admin.with_key("admin", "**", tenant=name) for name in ("one", "two")}
        yield World(app, admins, {name: fill(admin, name) for name, admin in admins.items()})


def fill(admin: Caller, tenant: str) -> dict[str, dict[str, Any]]:
    ids = {}
    for path in PATHS:
        note = {"namespace": path, "body": {"text": f"{SECRET} {tenant} {path}"}}
        made = admin.post("/v1/memories", note)
        run = {"namespace": path, "task": {"goal": f"{SECRET} {tenant} {path}"}}
        stored = admin.post("/v1/trajectories", run)
        found = admin.post("/v1/retrieve", {"query": SECRET, "namespace": path})
        operation = wait_for_nothing(admin, path)
        ids[path] = {
            "memory": made["id"],
            "version": made["version_id"],
            "change": made["change_id"],
            "run": stored["id"],
            "retrieval": found["retrieval_id"],
            "operation": operation["id"],
        }
    return ids


def wait_for_nothing(admin: Caller, path: str) -> dict[str, Any]:
    started: dict[str, Any] = admin.post("/v1/consolidate", {"namespace": path})
    return wait_for(admin, started)


def texts(caller: Caller, **asked: Any) -> set[str]:
    reply = caller("POST", "/v1/retrieve", json={"query": SECRET, "k": 50, **asked})
    if reply.status_code in (403, 404):
        return set()
    assert reply.status_code == 200, reply.text
    return {item["namespace"] for item in reply.json()["items"]}


@on_both_databases("world")
@given(
    grants=st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3, unique=True),
    asked=st.sampled_from(PATTERNS),
    tenant=st.sampled_from(("one", "two")),
)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_retrieve_and_lists_give_what_grants_and_question_both_cover_and_no_more(
    world: World, grants: list[str], asked: str, tenant: str
) -> None:
    reader = world.admins[tenant].with_key("reader", *grants)
    granted = {path for path in PATHS if any(covers(grant, path) for grant in grants)}
    expected = {path for path in granted if covers(asked, path)}

    assert texts(reader, namespace=asked) == expected
    listed = reader("GET", "/v1/memories", params={"namespace": asked})
    bodies = [row["version"]["text"] for row in listed.json().get("rows", [])]
    assert len(bodies) == len(expected)
    assert all(f" {tenant} " in body for body in bodies)
    assert {row["path"] for row in reader.rows("/v1/namespaces")} == granted


@given(
    grants=st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=2, unique=True),
    path=st.sampled_from(PATHS),
    owner=st.sampled_from(("one", "two")),
)
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_id_outside_the_reach_is_as_if_it_did_not_exist(
    world: World, grants: list[str], path: str, owner: str
) -> None:
    writer = world.admins["one"].with_key("writer", *grants)
    reaches = owner == "one" and any(covers(grant, path) for grant in grants)
    ids = world.ids[owner][path]
    expected = 200 if reaches else 404

    for where in (
        f"/v1/memories/{ids['memory']}",
        f"/v1/memories/{ids['memory']}/history",
        f"/v1/trajectories/{ids['run']}",
        f"/v1/changes/{ids['change']}",
        f"/v1/operations/{ids['operation']}",
        f"/v1/operations/{ids['operation']}/events?seconds=1",
    ):
        assert writer("GET", where).status_code == expected, where
    if reaches:
        return
    for method, where, body in (
        ("DELETE", f"/v1/memories/{ids['memory']}", None),
        ("POST", f"/v1/memories/{ids['memory']}/versions", {"body": {"text": "mine"}}),
        ("DELETE", f"/v1/trajectories/{ids['run']}", None),
        ("POST", f"/v1/changes/{ids['change']}/undo", None),
        ("POST", f"/v1/operations/{ids['operation']}/cancel", None),
        ("POST", f"/v1/operations/{ids['operation']}/retry", None),
        ("POST", "/v1/feedback", {"score": 0.0, "trajectory_id": ids["run"]}),
        ("POST", "/v1/feedback", {"score": 0.0, "retrieval_id": ids["retrieval"]}),
    ):
        refused = writer(method, where, json=body)
        assert refused.status_code == 404, (method, where, refused.text)
        assert SECRET not in refused.text
    intact = world.admins[owner].get(f"/v1/memories/{ids['memory']}")["version"]
    assert (intact["number"], intact["belief"]["outcomes"]) == (1, 0)


def test_a_foreign_version_cannot_be_credited(world: World) -> None:
    writer = world.admins["one"].with_key("writer", "acme")
    for tenant, path in (("two", "acme"), ("one", "acme-corp")):
        run = {
            "namespace": "acme",
            "task": {"goal": "x"},
            "outcome": {"score": 0.0, "success": False},
            "used": [world.ids[tenant][path]["version"]],
        }
        reply = writer("POST", "/v1/trajectories", json=run)
        assert (reply.status_code, reply.json()["code"]) == (404, "version_not_found")


def test_a_foreign_plan_cannot_be_applied(world: World) -> None:
    writer = world.admins["one"].with_key("writer", "acme")
    plan = world.ids["two"]["acme"]["operation"]
    reply = writer("POST", "/v1/consolidate", json={"namespace": "acme", "plan": plan})

    assert (reply.status_code, reply.json()["code"]) == (404, "operation_not_found")


def test_two_tenants_may_use_the_same_ids(world: World) -> None:
    run = {"id": str(uuid7()), "namespace": "same", "task": {"goal": "first"}}
    other = {**run, "task": {"goal": "second"}}
    world.admins["one"].post("/v1/trajectories", run)

    assert world.admins["two"].post("/v1/trajectories", other)["existing"] is False
    goals = [
        admin.get(f"/v1/trajectories/{run['id']}")["task"]["goal"]
        for admin in world.admins.values()
    ]
    assert goals == ["first", "second"]
    found = world.admins["one"].post(
        "/v1/retrieve", {"query": "first", "namespace": "same", "kinds": ["trajectory"]}
    )
    assert [item["title"] for item in found["items"]] == ["first"]


def test_deleting_everything_of_one_tenant_leaves_the_other_whole(world: World) -> None:
    one, two = world.admins["one"], world.admins["two"]
    for admin in (one, two):
        admin.post("/v1/memories", {"namespace": "wipe", "body": {"text": SECRET}})
    for row in one.rows("/v1/memories", namespace="wipe"):
        one.delete(f"/v1/memories/{row['id']}")

    assert texts(one, namespace="wipe") == set()
    assert texts(two, namespace="wipe") == {"wipe"}


def test_a_reader_may_not_write_and_a_writer_may_not_administer(world: World) -> None:
    reader = world.admins["one"].with_key("reader", "acme")
    writer = world.admins["one"].with_key("writer", "acme")
    note = {"namespace": "acme", "body": {"text": "x"}}
    for caller, method, path, body, code in (
        (reader, "POST", "/v1/memories", note, "namespace_forbidden"),
        (reader, "POST", "/v1/distill", {"namespace": "acme"}, "namespace_forbidden"),
        (
            reader,
            "POST",
            f"/v1/changes/{world.ids['one']['acme']['change']}/undo",
            None,
            "role_forbidden",
        ),
        (
            reader,
            "DELETE",
            f"/v1/memories/{world.ids['one']['acme']['memory']}",
            None,
            "namespace_forbidden",
        ),
        (writer, "POST", "/v1/keys", {"role": "reader", "grants": ["acme"]}, "role_forbidden"),
        (writer, "GET", "/v1/keys", None, "role_forbidden"),
        (writer, "POST", "/v1/reindex", None, "role_forbidden"),
        (writer, "GET", "/health/ready?audit=true", None, "role_forbidden"),
        (writer, "POST", "/v1/memories", {**note, "namespace": "b"}, "namespace_forbidden"),
    ):
        reply = caller(method, path, **({} if body is None else {"json": body}))
        assert (reply.status_code, reply.json()["code"]) == (403, code), (method, path)


def test_an_admin_gives_no_more_than_they_have(world: World) -> None:
    admin = world.admins["one"].with_key("admin", "acme/**")
    for grant in ("**", "acme-corp", "acmeXcorp/**"):
        reply = admin("POST", "/v1/keys", json={"role": "reader", "grants": [grant]})
        assert (reply.status_code, reply.json()["code"]) == (403, "namespace_forbidden")
    reply = admin("POST", "/v1/keys", json={"role": "admin", "grants": ["a"], "tenant": "two"})
    assert (reply.status_code, reply.json()["code"]) == (403, "role_forbidden")
    assert admin.with_key("writer", "acme/a/**").get("/v1/namespaces")["rows"]


def test_an_admin_takes_away_no_more_than_they_could_give(app: App) -> None:
    admin = app.admin.with_key("admin", "**")
    narrow = app.admin.with_key("admin", "acme/**")
    system = app.admin.rows("/v1/keys")[0]
    wider = app.admin.post("/v1/keys", {"role": "reader", "grants": ["acme", "other"]})
    own = narrow.post("/v1/keys", {"role": "reader", "grants": ["acme/a"]})

    refused = admin("DELETE", f"/v1/keys/{system['id']}")
    assert (refused.status_code, refused.json()["code"]) == (403, "role_forbidden")
    assert narrow("DELETE", f"/v1/keys/{wider['id']}").status_code == 404
    assert narrow("DELETE", f"/v1/keys/{own['id']}").status_code == 200
    assert app.admin.delete(f"/v1/keys/{system['id']}")["revoked_at"] is not None


def test_a_revoked_key_opens_nothing_from_then_on(world: World) -> None:
    admin = world.admins["one"]
    made = admin.post("/v1/keys", {"role": "reader", "grants": ["acme"]})
    caller = Caller(admin.http, made["key"])
    assert caller("GET", "/v1/namespaces").status_code == 200
    admin.delete(f"/v1/keys/{made['id']}")

    assert caller("GET", "/v1/namespaces").status_code == 401
    foreign = world.admins["two"]("DELETE", f"/v1/keys/{made['id']}")
    assert foreign.status_code == 404


def test_a_namespace_comes_into_being_by_a_writer_and_not_by_a_reader(world: World) -> None:
    admin = world.admins["one"]
    writer, reader = (admin.with_key(role, "fresh/**") for role in ("writer", "reader"))
    ask = {"query": "x", "namespace": "fresh/one"}

    missing = reader("POST", "/v1/retrieve", json=ask)
    assert (missing.status_code, missing.json()["code"]) == (404, "namespace_not_found")
    assert writer("POST", "/v1/retrieve", json=ask).status_code == 200
    assert reader("POST", "/v1/retrieve", json=ask).status_code == 200
    # What one may not reach is 403 whether or not it exists.
    for namespace in ("acme", "nowhere"):
        reply = reader("POST", "/v1/retrieve", json={**ask, "namespace": namespace})
        assert (reply.status_code, reply.json()["code"]) == (403, "namespace_forbidden")
