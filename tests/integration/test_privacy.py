"""Secrets are taken out of whatever is written, by whatever route, before anything keeps them; and
come back only for a key that may see them and asks."""

import copy
import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from memserver.app.settings import PREFIX
from memserver.domain.errors import MemserverError
from memserver.services.privacy.sealing import UnusableSealingKey, sealing_of
from tests.faults.document import ROUTES, Route, least
from tests.integration.archives import backup, restored
from tests.integration.conftest import App, Caller, asked_database, start_app, wait_for
from tests.integration.test_erasure import everything_in_tables, files_with

NS = "kept"
KEY = Fernet.generate_key().decode()
SECRET = "sk-proj-QuokkaZebra42TapirLemur"
"""What is planted."""
MAIL = "ada.quokka@example.org"
IDS = ("_id", "id")
NAMES = frozenset({"namespace", "path", "tenant", "grants", "subject", "cursor"})
"""Addresses, which are kept as they are: what is in them finds things again."""
TYPED = frozenset({"sources", "used", "time_zone", "methods", "body", "events", "arguments"})
"""What takes only what the server knows, or has a shape of its own: filled in by hand, below."""
SAID = f"x {SECRET} y"
BODIES: dict[str, dict[str, Any]] = {
    "/v1/memories": {"body": {"text": SAID}},
    "/v1/skills": {"body": {"when": SAID, "goal": SAID, "steps": [{"action": SAID}]}},
    "/v1/skills/{item_id}/versions": {"body": {"when": f"again {SAID}"}},
    "/v1/memories/{item_id}/versions": {"body": {"when": f"once more {SAID}"}},
    "/v1/sessions/{session_id}/events": {
        "events": [
            {"kind": "message", "speaker": SAID, "text": SAID},
            {"kind": "call", "name": SAID, "arguments": {"password": "hunter2quokka", "q": [SAID]}},
            {"kind": "ledger", "set": {"note": SAID}},
        ]
    },
    "/v1/tools/call": {"name": "memory_store", "arguments": {"text": SAID}},
}


@pytest.fixture
def sealed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[App]:
    with ExitStack() as stack:
        yield start_app(
            stack, tmp_path / "data", database_url=asked_database(request), sealing_key=KEY
        )


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[App]:
    with ExitStack() as stack:
        yield start_app(stack, tmp_path / "data")


def with_secrets(schema: Any, value: Any, document: dict[str, Any]) -> Any:
    """The value with the secret wherever its schema takes any text."""
    schema = _resolved(schema, document)
    if "anyOf" in schema:
        texts = [_resolved(one, document) for one in schema["anyOf"]]
        fitting = [one for one in texts if one.get("type") != "null"]
        return with_secrets(fitting[0], value, document) if fitting else value
    match schema.get("type"):
        case "object":
            made = {**least(schema, NS), **(value if isinstance(value, dict) else {})}
            for name, inner in schema.get("properties", {}).items():
                if name in NAMES | TYPED or name.endswith(IDS):
                    continue
                made[name] = with_secrets(inner, made.get(name), document)
            if schema.get("additionalProperties") is True:
                made["note"] = f"the key is {SECRET}"
            return {name: part for name, part in made.items() if part is not None}
        case "array":
            inner = _resolved(schema["items"], document)
            if inner.get("format") == "uuid" or inner.get("type") in ("integer", "number"):
                return value
            return [with_secrets(inner, least(inner, NS), document)]
        case "string" if not set(schema) & {"format", "enum", "pattern", "const"}:
            return SAID
        case _:
            return value


def _resolved(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        *_, name = schema["$ref"].split("/")
        schema = document["components"]["schemas"][name]
    return schema


def plant(app: App, route: Route, known: dict[str, str]) -> int:
    """Sends the secret by this route, in its body and in what its query takes."""
    from tests.faults.document import DOCUMENT

    path = route.path
    for name, value in known.items():
        path = path.replace("{" + name + "}", value)
    body = None
    if route.body is not None:
        body = with_secrets(route.body, copy.deepcopy(least(route.body, NS)), DOCUMENT)
        body = _with_names(route, body, known)
    query = {
        one["name"]: SAID if one["name"] == "reason" else NS
        for one in route.parameters("query")
        if one["name"] in ("reason", "namespace")
    }
    reply = app.admin(
        route.method,
        path,
        json=body,
        params=query,
        headers={"Idempotency-Key": str(route).replace(" ", ":")},
    )
    assert reply.status_code != 500, (str(route), reply.text)
    return int(reply.status_code)


def _with_names(route: Route, body: Any, known: dict[str, str]) -> Any:
    if isinstance(body, dict):
        from tests.faults.document import properties

        names = properties(route.body or {})
        if "namespace" in names:
            body["namespace"] = NS
        if route.path == "/v1/retrieve":
            for name in ("namespaces", "vector", "filters", "kinds", "preset", "quotas", "between"):
                body.pop(name, None)
        if route.path in ("/v1/remember", "/v1/grep"):
            for name in ("messages", "facts", "namespaces", "fields"):
                body.pop(name, None)
        if route.path.endswith("/events"):
            body.pop("agent", None)
        body |= BODIES.get(route.path, {})
        if route.path == "/v1/feedback":
            body = {"trajectory_id": known["trajectory_id"], "score": 1.0}
    return body


def furnish(app: App) -> dict[str, str]:
    """Rows to name in paths, all written with the secret in them."""
    admin = app.admin
    said = f"use {SECRET} there"
    item = admin.post(
        "/v1/skills", {"namespace": NS, "body": {"when": said, "steps": [{"action": said}]}}
    )
    run = admin.post(
        "/v1/trajectories",
        {
            "namespace": NS,
            "task": {"goal": said, "type": f"t {SECRET}", "environment": said},
            "agent": said,
            "steps": [{"observation": said, "action": said, "metadata": {said: [said]}}],
            "mistakes": [said],
            "metadata": {"password": "hunter2quokka", "deep": [{"a": said}]},
            "outcome": {"score": 1.0, "success": True},
        },
        headers={"Idempotency-Key": "k"},
    )
    line = {"task": {"goal": f"import {said}"}, "mistakes": [said]}
    admin._body(
        admin(
            "POST",
            "/v1/trajectories/import",
            params={"namespace": NS},
            content=json.dumps(line).encode(),
        )
    )
    session = "0190a000-0000-7000-8000-000000000018"
    admin.post(
        f"/v1/sessions/{session}/events",
        {"namespace": NS, "events": [{"kind": "message", "speaker": "me", "text": said}]},
    )
    found = admin.post("/v1/retrieve", {"namespace": NS, "query": said})
    done = wait_for(admin, admin.post("/v1/distill", {"namespace": NS}))
    return {
        "item_id": item["id"],
        "trajectory_id": run["id"],
        "change_id": item["change_id"],
        "decision_id": found["retrieval_id"],
        "operation_id": done["id"],
        "session_id": session,
    }


def test_a_planted_secret_reaches_no_table_no_file_no_log_and_no_reader(
    sealed: App, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    known = furnish(sealed)
    writes = [
        route
        for route in ROUTES
        if route.method in ("POST", "PUT", "PATCH")
        and route.path not in ("/v1/restore", "/v1/policies", "/v1/trajectories/import")
        and not route.path.endswith("/undo")
    ]
    statuses = {str(route): plant(sealed, route, known) for route in writes}
    accepted = {route for route, status in statuses.items() if status < 300}
    assert {
        "POST /v1/memories",
        "POST /v1/skills",
        "POST /v1/trajectories",
        "POST /v1/trajectories/batch",
        "POST /v1/skills/{item_id}/versions",
        "POST /v1/retrieve",
        "POST /v1/remember",
        "POST /v1/sessions/{session_id}/events",
        "POST /v1/tools/call",
        "POST /v1/keys",
    } <= accepted, statuses
    last = sealed.admin.post("/v1/memories", {"namespace": NS, "body": {"text": f"undone {SAID}"}})
    undone = sealed.admin(
        "POST", f"/v1/changes/{last['change_id']}/undo", params={"reason": SECRET}
    )
    assert undone.status_code == 200
    sealed.server.services.indexer.catch_up()
    sealed.server.services.store.write(lambda tx: None)

    needle = SECRET.removeprefix("sk-proj-")
    assert needle not in everything_in_tables(sealed)
    assert "hunter2quokka" not in everything_in_tables(sealed)
    assert files_with(tmp_path / "data", needle) == []
    # The test's own client logs the addresses that it asks for.
    logged = [record for record in caplog.records if record.name.startswith("memserver")]
    assert logged
    assert not any(needle in record.getMessage() for record in logged)
    reader = sealed.admin.with_key("reader", "**")
    for route in ROUTES:
        if route.method == "GET" and route.path not in ("/v1/backup",):
            assert needle not in answer(reader, route, known), str(route)
    for kind in ("decisions", "trajectories", "items"):
        params: dict[str, Any] = {"namespace": NS}
        if kind != "decisions":
            params["redact"] = False
        exported = reader("GET", f"/v1/export/{kind}", params=params)
        assert exported.status_code == 200
        assert needle not in exported.text, kind


def answer(reader: Caller, route: Route, known: dict[str, str]) -> str:
    path = route.path
    for name, value in known.items():
        path = path.replace("{" + name + "}", value)
    params: dict[str, Any] = {
        one["name"]: NS for one in route.parameters("query") if one["name"] == "namespace"
    }
    if "events" in path and "operations" in path:
        params["seconds"] = 0.1
    return str(reader("GET", path, params=params).text)


def test_the_same_secret_has_the_same_placeholder_so_that_it_is_stored_once_and_found(
    sealed: App,
) -> None:
    text = f"the deploy key is {SECRET}"
    first = sealed.admin.post("/v1/memories", {"namespace": NS, "body": {"text": text}})
    again = sealed.admin.post("/v1/memories", {"namespace": NS, "body": {"text": text}})
    assert (again["id"], again["existing"]) == (first["id"], True)
    stored = sealed.admin.get(f"/v1/memories/{first['id']}")["version"]["text"]
    assert stored.startswith("the deploy key is [SECRET:key:")
    found = sealed.admin.post("/v1/retrieve", {"namespace": NS, "query": text})
    assert found["items"][0]["arms"]["dense"]["score"] == pytest.approx(1.0, abs=1e-3)
    theirs = sealed.admin.with_key("admin", "**", tenant="other")
    other = theirs.post("/v1/memories", {"namespace": NS, "body": {"text": text}})
    assert theirs.get(f"/v1/memories/{other['id']}")["version"]["text"] != stored


def test_a_run_that_is_sent_again_is_known_and_one_with_another_secret_is_not(sealed: App) -> None:
    run = {
        "id": "0190a000-0000-7000-8000-000000000001",
        "namespace": NS,
        "task": {"goal": "log in"},
        "steps": [{"action": f"type {SECRET}"}],
    }
    assert sealed.admin.post("/v1/trajectories", run)["existing"] is False
    assert sealed.admin.post("/v1/trajectories", run)["existing"] is True
    other = {**run, "steps": [{"action": f"type {SECRET}x"}]}
    assert sealed.admin("POST", "/v1/trajectories", json=other).status_code == 409


def test_originals_come_back_for_a_key_that_unseals_and_asks_and_for_nobody_else(
    sealed: App, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    text = f"the deploy key is {SECRET}"
    kept = sealed.admin.post("/v1/memories", {"namespace": NS, "body": {"text": text}})
    run = sealed.admin.post("/v1/trajectories", {"namespace": NS, "task": {"goal": text}})
    made = sealed.admin.post("/v1/keys", {"role": "reader", "grants": [NS], "unseals": True})
    may = Caller(sealed.admin.http, made["key"])
    may_not = sealed.admin.with_key("reader", NS)
    for path in (f"/v1/memories/{kept['id']}", f"/v1/trajectories/{run['id']}", "/v1/memories"):
        params: dict[str, Any] = {"namespace": NS} if path == "/v1/memories" else {}
        assert SECRET not in may("GET", path, params=params).text
        assert SECRET in may("GET", path, params={**params, "unseal": True}).text
        refused = may_not("GET", path, params={**params, "unseal": True})
        assert (refused.status_code, refused.json()["code"]) == (403, "unseal_forbidden")
    asked = {"namespace": NS, "query": text, "unseal": True}
    found = may.post("/v1/retrieve", asked)
    assert SECRET in found["items"][0]["text"]
    assert SECRET in found["text"]
    assert may_not("POST", "/v1/retrieve", json=asked).json()["code"] == "unseal_forbidden"
    assert "unsealed 1 of 1 placeholders" in caplog.text
    assert SECRET not in caplog.text


def test_a_title_that_is_cut_shows_no_half_of_a_secret(plain: App) -> None:
    password = "hunter2quokka"
    before = "https://user:" + password
    text = "x" * (119 - len(before)) + f" {before}@host.example/path and more"
    call = {"namespace": NS, "name": "memory_store", "arguments": {"text": f"{text} by tool"}}
    plain.admin.post("/v1/memories", {"namespace": NS, "body": {"text": text}})
    plain.admin.post("/v1/remember", {"namespace": NS, "text": f"{text} remembered"})
    plain.admin.post("/v1/tools/call", call)
    assert len(plain.admin.rows("/v1/memories", namespace=NS)) == 3
    assert password not in everything_in_tables(plain)


def test_no_original_of_a_person_outlives_their_erasure(sealed: App) -> None:
    admin = sealed.admin
    whose = {"namespace": NS, "subject": "p-17"}
    secrets = (f"{SECRET}{number}" for number in range(20))
    kept = admin.post("/v1/memories", {**whose, "body": {"text": f"one {next(secrets)}"}})
    admin.post(f"/v1/memories/{kept['id']}/versions", {"body": {"text": f"two {next(secrets)}"}})
    fact = {"entity": "Ada", "key": "way in"}
    told = {"value": next(secrets), "valid_from": "2024-01-01T00:00:00Z"}
    admin.post("/v1/remember", {**whose, "facts": [{**fact, **told}]})
    told = {"value": next(secrets), "valid_from": "2023-01-01T00:00:00Z"}
    admin.post("/v1/remember", {**whose, "facts": [{**fact, **told}]})
    run = {"task": {"goal": f"use {next(secrets)}"}, "outcome": {"score": 1, "success": True}}
    run_id = admin.post("/v1/trajectories", {**whose, **run})["id"]
    asked = {"namespace": NS, "query": f"why {next(secrets)}", "trajectory_id": run_id}
    admin.post("/v1/retrieve", asked)
    session = "0190a000-0000-7000-8000-000000000018"
    said = {"kind": "message", "speaker": "user", "text": f"I have {next(secrets)}"}
    admin.post(
        f"/v1/sessions/{session}/events", {**whose, "agent": next(secrets), "events": [said]}
    )
    call = {"name": "memory_store", "arguments": {"text": f"keep {next(secrets)}"}}
    admin.post("/v1/tools/call", {"namespace": NS, "session": session, **call})
    admin.post(f"/v1/sessions/{session}/end", {})
    for way in (
        {"text": f"I wrote {next(secrets)} down."},
        {"messages": [{"speaker": "user", "text": f"I wrote {next(secrets)} down."}]},
    ):
        admin.post("/v1/remember", {**whose, **way})
    assert wait_for(admin, admin.post("/v1/distill", {"namespace": NS}))["state"] == "succeeded"

    erased = wait_for(admin, admin.post("/v1/erasures", {"subject": "p-17"}))

    assert erased["report"]["counts"]["sealed"] >= 9
    with sealed.server.services.store.reading() as reader:
        left = [sealing_of(KEY).open(data) for _, data in reader.sealed_data(None, 100)]
    assert left == []


def test_a_placeholder_that_was_copied_to_another_namespace_gives_nothing_away(
    sealed: App,
) -> None:
    kept = sealed.admin.post("/v1/memories", {"namespace": NS, "body": {"text": SECRET}})
    placeholder = sealed.admin.get(f"/v1/memories/{kept['id']}")["version"]["text"]
    copied = sealed.admin.post("/v1/memories", {"namespace": "b", "body": {"text": placeholder}})
    claimed = sealed.admin.post(
        "/v1/memories",
        {
            "namespace": "b",
            "body": {"text": "another"},
            "metadata": {"namespace": NS, "note": placeholder},
        },
    )
    made = sealed.admin.post("/v1/keys", {"role": "reader", "grants": ["**"], "unseals": True})
    may = Caller(sealed.admin.http, made["key"])
    shown = may.get(f"/v1/memories/{copied['id']}", unseal=True)
    assert shown["version"]["text"] == placeholder
    assert SECRET not in str(may.get(f"/v1/memories/{claimed['id']}", unseal=True))
    assert may.get(f"/v1/memories/{kept['id']}", unseal=True)["version"]["text"] == SECRET


def test_without_a_sealing_key_placeholders_lead_nowhere(plain: App) -> None:
    kept = plain.admin.post("/v1/memories", {"namespace": NS, "body": {"text": SECRET}})
    made = plain.admin.post("/v1/keys", {"role": "reader", "grants": ["**"], "unseals": True})
    shown = Caller(plain.admin.http, made["key"]).get(f"/v1/memories/{kept['id']}", unseal=True)
    assert shown["version"]["text"].startswith("[SECRET:key:")


def test_personal_data_is_taken_out_where_the_namespace_wants_it(sealed: App) -> None:
    told = {"namespace": NS, "body": {"text": f"write to {MAIL}"}}
    kept = sealed.admin.post("/v1/memories", told)
    assert MAIL in sealed.admin.get(f"/v1/memories/{kept['id']}")["version"]["text"]
    sealed.admin._body(
        sealed.admin(
            "PUT",
            "/v1/namespaces/settings",
            params={"namespace": "strict"},
            json={"personal_data": True, "secrets": False},
        )
    )
    strict = sealed.admin.post(
        "/v1/memories", {"namespace": "strict", "body": {"text": f"write to {MAIL}, {SECRET}"}}
    )
    text = sealed.admin.get(f"/v1/memories/{strict['id']}")["version"]["text"]
    assert text.startswith("write to [PERSONAL:email:")
    assert SECRET in text


def test_keys_can_be_rotated_and_placeholders_stay_the_same(tmp_path: Path) -> None:
    new = Fernet.generate_key().decode()
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data", sealing_key=KEY)
        kept = app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": SECRET}})
        key = app.admin.key
        before = app.admin.get(f"/v1/memories/{kept['id']}")["version"]["text"]
        made = app.admin.post("/v1/keys", {"role": "reader", "grants": ["**"], "unseals": True})
    with ExitStack() as stack:
        start_app(stack, tmp_path / "data", key=key, sealing_key=f"{new},{KEY}")
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data", key=key, sealing_key=new)
        again = app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": SECRET}})
        assert again["existing"] is True
        may = Caller(app.admin.http, made["key"])
        assert may.get(f"/v1/memories/{kept['id']}")["version"]["text"] == before
        assert may.get(f"/v1/memories/{kept['id']}", unseal=True)["version"]["text"] == SECRET
    with ExitStack() as stack, pytest.raises(UnusableSealingKey):
        start_app(stack, tmp_path / "data", key=key, sealing_key=KEY)


def test_what_is_no_key_is_refused_and_not_told(tmp_path: Path) -> None:
    with ExitStack() as stack, pytest.raises(MemserverError) as refused:
        start_app(stack, tmp_path / "data", sealing_key="swordfish")
    assert "swordfish" not in str(refused.value)
    assert f"{PREFIX}SEALING_KEY" in str(refused.value)


def test_a_backup_of_a_server_with_another_sealing_key_is_refused_and_nothing_changes(
    sealed: App, tmp_path: Path
) -> None:
    sealed.admin.post("/v1/memories", {"namespace": NS, "body": {"text": SECRET}})
    archive = backup(sealed)
    restored(sealed, archive, replace=True)
    with ExitStack() as stack:
        other = start_app(stack, tmp_path / "other", sealing_key=Fernet.generate_key().decode())
        kept = other.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "mine"}})
        reply = other.admin("POST", "/v1/restore", content=archive, params={"replace": True})
        assert (reply.status_code, reply.json()["code"]) == (422, "backup_mismatch"), reply.text
        assert other.admin.get(f"/v1/memories/{kept['id']}")["version"]["text"] == "mine"
