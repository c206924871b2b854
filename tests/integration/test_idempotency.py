"""A write that is sent twice is done once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.integration.conftest import App, on_both_databases

NS = "once"
NOTE = {"namespace": NS, "kind": "note", "body": {"text": "the lamp is broken"}}


def keyed(key: str) -> dict[str, Any]:
    return {"headers": {"Idempotency-Key": key}}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/trajectories", {"namespace": NS, "task": {"goal": "x"}}),
        ("/v1/trajectories/batch", {"namespace": NS, "trajectories": [{"task": {"goal": "x"}}]}),
        ("/v1/memories", NOTE),
        ("/v1/skills", {"namespace": NS, "body": {"when": "always"}}),
        ("/v1/distill", {"namespace": NS}),
        ("/v1/consolidate", {"namespace": NS}),
    ],
)
def test_the_same_key_gives_the_same_reply_and_one_write(
    app: App, path: str, body: dict[str, Any]
) -> None:
    first = app.admin("POST", path, json=body, **keyed("k1"))
    changes = len(app.admin.rows("/v1/changes", namespace=NS))
    again = app.admin("POST", path, json=body, **keyed("k1"))

    assert first.status_code == again.status_code
    assert first.json() == again.json()
    assert len(app.admin.rows("/v1/changes", namespace=NS)) == changes
    assert len(app.admin.rows("/v1/operations")) <= 1


def test_the_same_key_with_another_body_is_409_and_stores_nothing(app: App) -> None:
    app.admin.post("/v1/memories", NOTE, **keyed("k1"))
    other = {**NOTE, "body": {"text": "another"}}
    refused = app.admin("POST", "/v1/memories", json=other, **keyed("k1"))

    assert (refused.status_code, refused.json()["code"]) == (409, "idempotency_conflict")
    assert len(app.admin.rows("/v1/memories", namespace=NS)) == 1


def test_keys_of_different_callers_and_routes_do_not_meet(app: App) -> None:
    other = app.admin.with_key("writer", "**")
    app.admin.post("/v1/memories", NOTE, **keyed("k1"))
    elsewhere = {**NOTE, "body": {"text": "mine"}}

    assert other.post("/v1/memories", elsewhere, **keyed("k1"))["existing"] is False
    run = {"namespace": NS, "task": {"goal": "x"}}
    assert app.admin("POST", "/v1/trajectories", json=run, **keyed("k1")).status_code == 201


def test_a_refused_write_may_be_mended_under_the_same_key(app: App) -> None:
    run = {
        "namespace": NS,
        "task": {"goal": "x"},
        "outcome": {"score": 1, "success": True},
        "used": ["00000000-0000-7000-8000-000000000000"],
    }
    assert app.admin("POST", "/v1/trajectories", json=run, **keyed("k1")).status_code == 404
    mended = {**run, "used": []}
    assert app.admin("POST", "/v1/trajectories", json=mended, **keyed("k1")).status_code == 201


def test_a_key_that_is_created_twice_is_one_and_its_secret_is_not_kept(app: App) -> None:
    wanted = {"role": "reader", "grants": ["a/**"]}
    first = app.admin.post("/v1/keys", wanted, **keyed("k1"))
    again = app.admin.post("/v1/keys", wanted, **keyed("k1"))

    assert first["key"].startswith("ms_")
    assert again == {**first, "key": None}
    assert len(app.admin.rows("/v1/keys")) == 2


@on_both_databases("app")
def test_many_at_once_under_one_key_write_once(app: App) -> None:
    def send(_: int) -> Any:
        return app.admin("POST", "/v1/memories", json=NOTE, **keyed("k1")).json()

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(send, range(16)))

    assert len({reply["id"] for reply in replies}) == 1
    assert len(app.admin.rows("/v1/changes", namespace=NS)) == 1


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 201])
def test_a_key_that_is_none_is_refused(app: App, key: str) -> None:
    reply = app.admin(
        "POST", "/v1/memories", json=NOTE, headers={"Idempotency-Key": key.encode("latin-1")}
    )
    assert (reply.status_code, reply.json()["code"]) == (422, "invalid_idempotency_key")
