"""Exports over HTTP: what leaves, for whom, how it ends, and that nothing else does."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memserver.domain.policy.features import NAMES
from memserver.domain.scope import covers
from memserver.ids import uuid7
from tests.fakes.encoder import HashEncoder
from tests.integration.conftest import (
    App,
    Caller,
    asked_database,
    on_both_databases,
    start_app,
)

ROUTES = ("decisions", "vectors", "trajectories", "items")
MAIL = "ada@example.org"


@dataclass(frozen=True)
class Exported:
    rows: list[dict[str, Any]]
    end: dict[str, Any]
    raw: bytes

    @property
    def body(self) -> bytes:
        """All lines but the last."""
        return b"".join(self.raw.splitlines(keepends=True)[:-1])


def export(caller: Caller, what: str, **params: Any) -> Exported:
    reply = caller("GET", f"/v1/export/{what}", params=params)
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/x-ndjson"
    *rows, end = (json.loads(line) for line in reply.content.splitlines())
    return Exported(rows, end, reply.content)


def lived_through(caller: Caller, path: str, *, goal: str = "find the mug", **outcome: Any) -> Any:
    """One memory, one retrieve that packs it, and the run that asked."""
    caller.post("/v1/memories", {"namespace": path, "body": {"text": f"{goal}: look at the desk"}})
    run = str(uuid7())
    found = caller.post(
        "/v1/retrieve",
        {"query": goal, "namespace": path, "trajectory_id": run, "task_type": "search"},
    )
    caller.post(
        "/v1/trajectories",
        {
            "id": run,
            "namespace": path,
            "task": {"goal": goal},
            "steps": [{"observation": f"mail from {MAIL}", "action": "read it"}],
            "metadata": {"from": MAIL},
            "outcome": {"score": 1.0, "success": True, **outcome},
        },
    )
    return found


@pytest.fixture
def space() -> str:
    """A namespace of its own for each test, since they share one app."""
    return f"space-{uuid7().hex}"


def test_a_decision_leaves_with_its_features_its_vector_and_what_came_of_it(
    shared_app: App, space: str
) -> None:
    found = lived_through(shared_app.admin, space, goal=f"answer {MAIL}", score=0.75)
    [row] = export(shared_app.admin, "decisions", namespace=space).rows

    assert row["id"] == found["retrieval_id"]
    assert (row["namespace"], row["verb"], row["task_type"]) == (space, "retrieve", "search")
    assert row["query"] == "answer [redacted:email]"
    assert row["rewards"] == {"outcome": 0.75, "environment": 0.75}
    encoder = HashEncoder()
    assert row["encoder"] == encoder.fingerprint
    logged = encoder.encode_query(f"answer {MAIL}")
    assert np.array_equal(np.asarray(row["query_vector"], np.float32), logged)
    [candidate] = row["candidates"]
    assert candidate["id"] == found["items"][0]["version_id"]
    assert len(candidate["features"]) == len(NAMES)
    assert (candidate["rank"], candidate["packed"], candidate["credit"]) == (1, True, 1.0)


def test_each_version_that_a_decision_considered_has_a_vector_once(
    shared_app: App, space: str
) -> None:
    for _ in range(2):
        found = lived_through(shared_app.admin, space)
    rows = export(shared_app.admin, "vectors", namespace=space).rows
    text = shared_app.admin.get(f"/v1/memories/{found['items'][0]['id']}")["version"]["text"]

    assert [row["id"] for row in rows] == [found["items"][0]["version_id"]]
    assert np.array_equal(np.float32(rows[0]["vector"]), HashEncoder().encode([text])[0])
    assert rows[0]["encoder"] == HashEncoder().fingerprint


@pytest.mark.parametrize("what", ROUTES)
def test_a_whole_stream_is_sealed_with_the_number_and_hash_of_its_rows(
    shared_app: App, space: str, what: str
) -> None:
    lived_through(shared_app.admin, space)
    found = export(shared_app.admin, what, namespace=space)
    assert len(found.rows) == 1
    assert found.end == {"rows": 1, "sha256": hashlib.sha256(found.body).hexdigest()}


@pytest.mark.parametrize("what", ROUTES)
def test_nothing_is_a_whole_stream_too(shared_app: App, space: str, what: str) -> None:
    empty = {"rows": 0, "sha256": hashlib.sha256().hexdigest()}
    assert export(shared_app.admin, what, namespace=space).end == empty


def test_a_line_is_canonical_so_that_others_can_check_its_hash(shared_app: App, space: str) -> None:
    lived_through(shared_app.admin, space, goal="größer als 😀")
    [line] = export(shared_app.admin, "decisions", namespace=space).body.splitlines()
    again = json.dumps(json.loads(line), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert again.encode() == line


def test_runs_come_redacted_in_the_form_that_import_reads(shared_app: App, space: str) -> None:
    lived_through(shared_app.admin, space)
    found = export(shared_app.admin, "trajectories", namespace=space)
    assert MAIL not in found.raw.decode()
    [run] = found.rows
    assert run["steps"][0]["observation"] == "mail from [redacted:email]"
    assert run["metadata"] == {"from": "[redacted:email]"}
    there = shared_app.admin.with_key("admin", "**", tenant="elsewhere")
    stored = there(
        "POST", "/v1/trajectories/import", params={"namespace": "copy"}, content=found.body
    )
    assert (stored.status_code, stored.json()["ids"]) == (201, [run["id"]])


def test_runs_as_they_are_come_back_as_what_is_there_already(shared_app: App, space: str) -> None:
    lived_through(shared_app.admin, space)
    found = export(shared_app.admin, "trajectories", namespace=space, redact=False)
    assert MAIL in found.raw.decode()
    again = shared_app.admin(
        "POST", "/v1/trajectories/import", params={"namespace": space}, content=found.body
    )
    assert (again.json()["stored"], again.json()["existing"]) == (0, 1)


@pytest.mark.parametrize("what", ["decisions", "trajectories", "items"])
def test_without_text_no_word_leaves(shared_app: App, space: str, what: str) -> None:
    lived_through(shared_app.admin, space, goal="find the turquoise mug")
    found = export(shared_app.admin, what, namespace=space, text=False)
    assert len(found.rows) == 1
    for word in ("turquoise", "desk", "read it", MAIL):
        assert word not in found.raw.decode()


def test_since_and_split_leave_out_the_rest(shared_app: App, space: str) -> None:
    goals = [f"goal {n}" for n in (0, 9)]  # a task for training and one for testing
    for goal in goals:
        lived_through(shared_app.admin, space, goal=goal)
    for what in ("decisions", "trajectories"):
        every = export(shared_app.admin, what, namespace=space).rows
        later = export(shared_app.admin, what, namespace=space, since=every[1]["created_at"]).rows
        assert [row["id"] for row in later] == [every[1]["id"]]
        for number, split in enumerate(("train", "test")):
            rows = export(shared_app.admin, what, namespace=space, split=split).rows
            assert [row["id"] for row in rows] == [every[number]["id"]]
        assert export(shared_app.admin, what, namespace=space, split="validation").rows == []
    considered = [
        {
            candidate["id"]
            for row in export(shared_app.admin, "decisions", namespace=space, split=s).rows
            for candidate in row["candidates"]
        }
        for s in ("train", "test")
    ]
    named = [
        {row["id"] for row in export(shared_app.admin, "vectors", namespace=space, split=s).rows}
        for s in ("train", "test")
    ]
    assert named == considered
    assert considered[0] != considered[1]


def test_a_decision_that_read_what_the_key_does_not_reach_stays(
    shared_app: App, space: str
) -> None:
    secret = f"{space}/secret"
    for path in (space, secret):
        lived_through(shared_app.admin, path)
    shared_app.admin.post("/v1/retrieve", {"query": "x", "namespaces": [space, secret]})
    reader = shared_app.admin.with_key("reader", space)
    assert len(export(shared_app.admin, "decisions", namespace=space).rows) == 2
    assert len(export(reader, "decisions", namespace=space).rows) == 1
    assert len(export(shared_app.admin, "vectors", namespace=space).rows) == 2
    assert len(export(reader, "vectors", namespace=space).rows) == 1


@pytest.mark.parametrize("what", ROUTES)
def test_refusals_come_before_the_first_row(shared_app: App, space: str, what: str) -> None:
    def status(caller: Caller, **params: Any) -> tuple[int, str]:
        reply = caller("GET", f"/v1/export/{what}", params=params)
        return reply.status_code, reply.json()["code"]

    reader = shared_app.admin.with_key("reader", f"{space}/**")
    assert status(shared_app.anonymous, namespace=space) == (401, "unauthenticated")
    assert status(shared_app.admin) == (422, "invalid_request")
    assert status(shared_app.admin, namespace=space, wat=1) == (422, "invalid_request")
    assert status(shared_app.admin, namespace="mi ne") == (422, "invalid_namespace")
    assert status(reader, namespace="other") == (403, "namespace_forbidden")
    assert status(reader, namespace=f"{space}/new") == (404, "namespace_not_found")
    if what != "items":
        assert status(shared_app.admin, namespace=f"{space}/**") == (422, "invalid_namespace")
        assert status(shared_app.admin, namespace=space, split="half") == (422, "invalid_request")
        assert status(shared_app.admin, namespace=space, since="2026-01-01")[0] == 422


# --- streams that do not come to their end -----------------------------------------------


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DECISIONS_TOGETHER", "RUNS_TOGETHER", "ITEMS_TOGETHER", "VECTORS_TOGETHER"):
        monkeypatch.setattr(f"memserver.services.exporting.export.{name}", 1)


def after_the_first_page(app: App, monkeypatch: pytest.MonkeyPatch, happens: Any) -> None:
    """Lets something happen between two pages, as a slow receiver gives it time to."""
    access = app.server.services.access
    asked = 0

    def is_valid(scope: Any) -> bool:
        nonlocal asked
        asked += 1
        if asked == 2:
            happens()
        return type(access).is_valid(access, scope)

    monkeypatch.setattr(access, "is_valid", is_valid)


@pytest.mark.parametrize("what", ROUTES)
def test_a_revoked_key_ends_the_stream_at_the_next_page(
    shared_app: App, space: str, what: str, small_pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for goal in ("a", "b", "c"):
        lived_through(shared_app.admin, space, goal=goal)
    made = shared_app.admin.post("/v1/keys", {"role": "reader", "grants": [space]})
    reader = Caller(shared_app.admin.http, made["key"])
    assert export(reader, what, namespace=space).end["rows"] >= 3
    after_the_first_page(
        shared_app, monkeypatch, lambda: shared_app.admin.delete(f"/v1/keys/{made['id']}")
    )
    found = export(reader, what, namespace=space)
    assert len(found.rows) <= 1
    assert found.end["error"]["code"] == "unauthenticated"


def test_a_restore_between_two_pages_ends_the_stream(
    shared_app: App, space: str, small_pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for goal in ("a", "b"):
        lived_through(shared_app.admin, space, goal=goal)
    gate = shared_app.server.services.gate
    sealed = 0

    def replaced() -> None:
        nonlocal sealed
        sealed += 1
        gate.epoch += 1

    after_the_first_page(shared_app, monkeypatch, replaced)
    found = export(shared_app.admin, "decisions", namespace=space)
    assert sealed == 1
    assert found.end["error"]["code"] == "unavailable"


def test_a_failure_between_two_pages_leaves_a_stream_without_a_seal(
    shared_app: App, space: str, small_pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for goal in ("a", "b"):
        lived_through(shared_app.admin, space, goal=goal)

    def fails() -> None:
        raise RuntimeError("the disk is gone")

    after_the_first_page(shared_app, monkeypatch, fails)
    reply = shared_app.admin("GET", "/v1/export/decisions", params={"namespace": space})
    lines = [json.loads(line) for line in reply.content.splitlines()]
    assert all("id" in line for line in lines)


# --- isolation ---------------------------------------------------------------------------

PATHS = ("acme", "acme-corp", "ACME", "acme/a", "acme/ab")
PATTERNS = (*PATHS, "acme/**", "**")


@pytest.fixture(scope="module")
def tenants(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Caller]]:
    with ExitStack() as stack:
        data = tmp_path_factory.mktemp("exports") / "data"
        app = start_app(stack, data, database_url=asked_database(request))
        admins = {name: app.admin.with_key("admin", "**", tenant=name) for name in ("one", "two")}
        for name, admin in admins.items():
            for path in PATHS:
                lived_through(admin, path, goal=f"secret of {name} in {path}")
            admin.post("/v1/retrieve", {"query": "everything", "namespaces": list(PATHS)})
        yield admins


@on_both_databases("tenants")
@given(
    grants=st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3, unique=True),
    path=st.sampled_from(PATHS),
    tenant=st.sampled_from(("one", "two")),
    what=st.sampled_from(ROUTES),
)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_only_what_the_grants_reach_leaves_and_all_of_it(
    tenants: dict[str, Caller], grants: list[str], path: str, tenant: str, what: str
) -> None:
    reader = tenants[tenant].with_key("reader", *grants)
    granted = {each for each in PATHS if any(covers(grant, each) for grant in grants)}
    reply = reader("GET", f"/v1/export/{what}", params={"namespace": path})
    if path not in granted:
        assert reply.status_code == 403
        return
    rows = [json.loads(line) for line in reply.content.splitlines()][:-1]
    if what == "vectors":
        decisions = export(reader, "decisions", namespace=path).rows
        assert {row["id"] for row in rows} == {
            candidate["id"] for row in decisions for candidate in row["candidates"]
        }
        return
    texts = [json.dumps(row, ensure_ascii=False) for row in rows]
    secrets = [text for text in texts if "secret of" in text]
    assert len(secrets) == 1
    assert f"secret of {tenant} in {path}" in secrets[0]
    # The one that read all namespaces leaves where all are granted, from the first of them.
    read_all = [row for row in rows if row.get("query") == "everything"]
    assert len(read_all) == int(what == "decisions" and granted == set(PATHS) and path == PATHS[0])
