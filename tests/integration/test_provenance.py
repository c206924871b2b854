"""Every item reaches the steps it was drawn from, and says again what it said before."""

from typing import Any
from uuid import uuid4

from tests.integration.conftest import App, Caller, Finish


def note(caller: Caller, namespace: str, text: str, **more: Any) -> str:
    stored = caller.post(
        "/v1/memories", {"namespace": namespace, "kind": "note", "body": {"text": text}, **more}
    )
    return str(stored["id"])


def run(caller: Caller, namespace: str, *actions: str) -> str:
    stored = caller.post(
        "/v1/trajectories",
        {
            "namespace": namespace,
            "task": {"goal": "heat the soup"},
            "agent": "cook",
            "steps": [{"observation": f"before {action}", "action": action} for action in actions],
            "outcome": {"score": 1.0, "success": True},
        },
    )
    return str(stored["id"])


def test_an_item_reaches_the_very_steps_it_was_drawn_from(app: App) -> None:
    where = f"trace-{uuid4().hex[:8]}"
    source = run(app.admin, where, "open oven", "put soup in oven", "wait")
    item = note(
        app.admin, where, "Soup goes in.", sources=[{"trajectory_id": source, "steps": [1]}]
    )
    [origin] = app.admin.get(f"/v1/memories/{item}/provenance")["own"]
    [found] = origin["runs"]
    assert (found["trajectory_id"], found["goal"], found["whole"]) == (
        source,
        "heat the soup",
        False,
    )
    assert found["steps"] == [
        {"number": 1, "observation": "before put soup in oven", "action": "put soup in oven"}
    ]


def test_a_consolidated_item_reaches_what_was_merged_into_it(app: App, finished: Finish) -> None:
    where = f"trace-{uuid4().hex[:8]}"
    runs = [run(app.admin, where, "open oven"), run(app.admin, where, "close oven")]
    kept = note(
        app.admin,
        where,
        "Open the oven before you put the soup in it.",
        sources=[{"trajectory_id": runs[0]}],
    )
    twin = note(
        app.admin,
        where,
        "Open the oven before you put the soup in it!",
        sources=[{"trajectory_id": runs[1]}],
    )
    finished(app.admin.post("/v1/consolidate", {"namespace": where, "apply": True}))
    trace = app.admin.get(f"/v1/memories/{kept}/provenance")
    reached = {
        r["trajectory_id"] for part in ("own", "merged") for o in trace[part] for r in o["runs"]
    }
    assert reached == set(runs)
    assert {origin["item_id"] for origin in trace["merged"]} == {twin}
    assert all(r["whole"] and r["steps"] for o in trace["merged"] for r in o["runs"])


def test_what_the_key_may_not_read_is_counted_and_not_shown(app: App) -> None:
    where, secret = f"trace-{uuid4().hex[:8]}", f"secret-{uuid4().hex[:8]}"
    source = run(app.admin, secret, "read the diary")
    item = note(app.admin, where, "A note.", sources=[{"trajectory_id": source}])
    reader = app.admin.with_key("reader", where)
    reply = reader("GET", f"/v1/memories/{item}/provenance")
    [origin] = reply.json()["own"]
    assert (origin["runs"], origin["out_of_reach"]) == ([], 1)
    assert "diary" not in reply.text
    stranger = app.admin.with_key("reader", "elsewhere")
    assert stranger("GET", f"/v1/memories/{item}/provenance").status_code == 404


def test_an_earlier_version_is_brought_back_as_a_new_one(app: App) -> None:
    where = f"trace-{uuid4().hex[:8]}"
    item = note(app.admin, where, "the first wording")
    first = app.admin.get(f"/v1/memories/{item}")["version"]["id"]
    app.admin.post(f"/v1/memories/{item}/versions", {"body": {"text": "the second wording"}})
    app.admin.post(f"/v1/memories/{item}/restore", {"version_id": first})
    present = app.admin.get(f"/v1/memories/{item}")["version"]
    assert (present["body"], present["number"], present["method"]) == (
        {"text": "the first wording"},
        3,
        "restore",
    )
    again = app.admin.post(f"/v1/memories/{item}/restore", {"version_id": present["id"]})
    assert again["change_id"] is None
    assert len(app.admin.get(f"/v1/memories/{item}/history")["versions"]) == 3


def test_a_deleted_item_is_brought_back_and_found(app: App) -> None:
    where = f"trace-{uuid4().hex[:8]}"
    item = note(app.admin, where, "the violet kettle whistles")
    app.admin.delete(f"/v1/memories/{item}")
    back = app.admin.post(f"/v1/memories/{item}/restore", {})
    assert back["searchable"]
    found = app.admin.post("/v1/retrieve", {"namespace": where, "query": "violet kettle"})
    assert [one["id"] for one in found["items"]] == [item]
    app.admin.post(f"/v1/changes/{back['change_id']}/undo", {})
    assert app.admin("GET", f"/v1/memories/{item}").status_code == 404


def test_a_version_of_another_item_is_not_brought_back(app: App) -> None:
    where = f"trace-{uuid4().hex[:8]}"
    one, other = note(app.admin, where, "one"), note(app.admin, where, "other")
    foreign = app.admin.get(f"/v1/memories/{other}")["version"]["id"]
    reply = app.admin("POST", f"/v1/memories/{one}/restore", json={"version_id": foreign})
    assert (reply.status_code, reply.json()["code"]) == (404, "version_not_found")
    reader = app.admin.with_key("reader", where)
    assert reader("POST", f"/v1/memories/{one}/restore", json={}).status_code == 403
