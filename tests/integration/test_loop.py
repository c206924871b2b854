"""The main job over HTTP, on real runs: import, distill, retrieve, feedback, consolidate, undo."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memserver.ids import uuid7
from tests.integration.conftest import App, Finish, on_both_databases

NS = "demo/alfworld"


@pytest.fixture
def imported(app: App, alfworld_runs: Path) -> App:
    stored = app.admin(
        "POST",
        "/v1/trajectories/import",
        params={"namespace": NS, "format": "alfworld-condensed"},
        content=alfworld_runs.read_bytes(),
    )
    assert stored.status_code == 201
    assert stored.json()["stored"] == 223
    assert stored.json()["searchable"] is True
    return app


def state(app: App) -> dict[str, Any]:
    """All items as anyone sees them."""
    return {item["id"]: item for item in app.admin.rows("/v1/memories", namespace=NS, limit=50)}


def retrieve(app: App, query: str, **asked: Any) -> dict[str, Any]:
    found: dict[str, Any] = app.admin.post(
        "/v1/retrieve", {"query": query, "namespace": NS, **asked}
    )
    return found


def test_importing_the_same_file_again_stores_nothing(imported: App, alfworld_runs: Path) -> None:
    again = imported.admin.post(
        f"/v1/trajectories/import?namespace={NS}&format=alfworld-condensed",
        content=alfworld_runs.read_bytes(),
    )

    assert (again["stored"], again["existing"], again["change_id"]) == (0, 223, None)
    assert len(imported.admin.rows("/v1/trajectories", namespace=NS, limit=100)) == 223


@on_both_databases("app")
def test_the_loop_closes_and_can_be_taken_back(imported: App, finished: Finish) -> None:
    app = imported
    report = finished(app.admin.post("/v1/distill", {"namespace": NS}))["report"]
    assert report["workflows"]["written"] >= 4
    assert report["mistakes"]["written"] >= 10

    found = retrieve(app, "put some towel on cart", k=5, budget_tokens=300, kinds=["skill"])
    first = found["items"][0]
    assert first["grounded"] is True
    assert "take towel" in first["text"]
    assert "dense #" in first["why"]
    assert first["sources"]
    assert found["tokens"] <= 300
    assert first["belief"]["outcomes"] == 0

    told = app.admin.post(
        "/v1/feedback", {"retrieval_id": found["retrieval_id"], "score": 1.0, "source": "judge"}
    )
    assert told["credited"] == len(found["items"])
    again = app.admin.get(f"/v1/skills/{first['id']}")
    assert again["version"]["belief"]["outcomes"] == 1
    assert again["version"]["belief"]["mean"] > 0.5

    # The same lesson, told by someone else in the same words and in almost the same words.
    mistake = app.admin.rows("/v1/memories", namespace=NS, kind="rule")[0]["version"]
    app.admin.post(
        "/v1/memories",
        {
            "namespace": NS,
            "kind": "rule",
            "title": mistake["title"],
            "body": {**mistake["body"], "when": mistake["body"]["when"] + " "},
        },
    )
    before = state(app)
    plan = finished(app.admin.post("/v1/consolidate", {"namespace": NS}))
    assert plan["change_id"] is None
    assert state(app) == before
    assert plan["report"]["after"] < plan["report"]["before"] == len(before)
    assert all(action["reason"] for action in plan["report"]["actions"])

    done = finished(app.admin.post("/v1/consolidate", {"namespace": NS, "plan": plan["id"]}))
    assert done["state"] == "succeeded"
    assert len(state(app)) == plan["report"]["after"]
    assert app.audit()["orphans"] == 0

    undone = app.admin.post(f"/v1/changes/{done['change_id']}/undo")
    assert undone["searchable"] is True
    assert state(app) == before
    assert app.audit() == {**app.audit(), "orphans": 0, "missing": 0}
    log = app.admin.get("/v1/changes", namespace=NS)["rows"]
    assert log[0]["after_hash"] == log[1]["before_hash"]


def test_distilling_twice_changes_nothing(imported: App, finished: Finish) -> None:
    finished(imported.admin.post("/v1/distill", {"namespace": NS}))
    before = state(imported)
    again = finished(imported.admin.post("/v1/distill", {"namespace": NS}))

    assert again["change_id"] is None
    assert state(imported) == before


def test_what_was_deleted_does_not_come_back_by_distilling(imported: App, finished: Finish) -> None:
    finished(imported.admin.post("/v1/distill", {"namespace": NS}))
    gone = imported.admin.rows("/v1/skills", namespace=NS)[0]
    imported.admin.delete(f"/v1/skills/{gone['id']}")
    finished(imported.admin.post("/v1/distill", {"namespace": NS}))

    assert gone["id"] not in state(imported)


def test_what_people_rewrote_stays_as_they_wrote_it(imported: App, finished: Finish) -> None:
    finished(imported.admin.post("/v1/distill", {"namespace": NS}))
    mine = imported.admin.rows("/v1/skills", namespace=NS)[0]["id"]
    body = {"when": "the kitchen is dark", "steps": [{"action": "switch on the light"}]}
    told = imported.admin.post(f"/v1/skills/{mine}/versions", {"body": body})
    finished(imported.admin.post("/v1/distill", {"namespace": NS}))

    assert imported.admin.get(f"/v1/skills/{mine}")["version"]["id"] == told["version_id"]


def test_telling_the_same_again_brings_back_what_was_consolidated_away(
    app: App, finished: Finish
) -> None:
    for text in ("Shut the tap.", "shut the tap!"):
        app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": text}})
    done = finished(app.admin.post("/v1/consolidate", {"namespace": NS, "apply": True}))
    away = app.admin.get(f"/v1/memories/{done['report']['actions'][0]['item']}")
    assert away["status"] != "active"
    same = {"title": away["title"], "body": away["version"]["body"]}
    told = app.admin.post(f"/v1/memories/{away['id']}/versions", same)

    assert told["existing"] is False
    assert app.admin.get(f"/v1/memories/{away['id']}")["status"] == "active"


def test_a_plan_that_no_longer_fits_is_not_applied(app: App, finished: Finish) -> None:
    other = app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "Feed the cat."}})
    for text in ("Shut the tap.", "shut the tap!"):
        app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": text}})
    plan = finished(app.admin.post("/v1/consolidate", {"namespace": NS}))
    (action,) = plan["report"]["actions"]
    touched = action["item"]
    assert plan["report"]["heads"].keys() == {touched, *plan["report"]["kept"]} - {other["id"]}
    app.admin.post(f"/v1/memories/{touched}/versions", {"body": {"text": "Leave it running."}})
    done = finished(app.admin.post("/v1/consolidate", {"namespace": NS, "plan": plan["id"]}))

    assert done["state"] == "failed"
    assert "plan_outdated" in done["error"]
    assert len(state(app)) == 3


def test_an_undo_in_the_way_of_later_changes_names_them(app: App) -> None:
    first = app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "one"}})
    later = app.admin.delete(f"/v1/memories/{first['id']}")
    refused = app.admin("POST", f"/v1/changes/{first['change_id']}/undo")

    assert refused.status_code == 409
    assert refused.json()["code"] == "undo_conflict"
    assert refused.json()["extra"]["later"] == [later["change_id"]]


def test_an_outcome_credits_what_was_used_and_later_feedback_replaces_it(app: App) -> None:
    made = app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "use the sink"}})
    run = {
        "id": str(uuid7()),
        "namespace": NS,
        "task": {"goal": "clean a cup", "type": "clean"},
        "steps": [{"observation": "a cup", "action": "use the sink"}],
        "outcome": {"score": 0.0, "success": False, "cost": 3.5},
        "used": [made["version_id"]],
    }
    stored = app.admin.post("/v1/trajectories", run)
    assert stored["credited"] == 1
    belief = app.admin.get(f"/v1/memories/{made['id']}")["version"]["belief"]
    assert belief["mean"] == pytest.approx(1 / 3)

    app.admin.post(
        "/v1/feedback",
        {"trajectory_id": run["id"], "score": 1.0, "source": "environment"},
    )
    belief = app.admin.get(f"/v1/memories/{made['id']}")["version"]["belief"]
    assert (belief["outcomes"], belief["mean"]) == (1, pytest.approx(2 / 3))
    outcome = app.admin.get(f"/v1/trajectories/{run['id']}")["outcome"]
    assert (outcome["score"], outcome["cost"]) == (1.0, 3.5)
    # The run itself can still be sent again: the feedback is no other content.
    assert app.admin.post("/v1/trajectories", run)["existing"] is True


def test_an_outcome_is_shared_by_what_was_offered_where_use_is_not_told(app: App) -> None:
    for text in ("cups are in the sink", "cups break", "cups are round"):
        app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": text}})
    run_id = str(uuid7())
    offered = retrieve(app, "cups", trajectory_id=run_id)["items"]
    app.admin.post(
        "/v1/trajectories",
        {
            "id": run_id,
            "namespace": NS,
            "task": {"goal": "cups"},
            "outcome": {"score": 1.0, "success": True},
        },
    )

    assert len(offered) == 3
    for item in offered:
        belief = app.admin.get(f"/v1/memories/{item['id']}")["version"]["belief"]
        assert belief["mean"] == pytest.approx((1 / 3 + 1) / (1 / 3 + 2))


def test_a_run_is_credited_once_whatever_its_retrieves_were_told_before(app: App) -> None:
    run_id = str(uuid7())
    for text in ("cups are in the sink", "plates break"):
        app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": text}})
    asked = [retrieve(app, text, trajectory_id=run_id, k=1) for text in ("cups", "plates")]
    items = [found["items"][0]["id"] for found in asked]
    assert items[0] != items[1]

    def outcomes() -> list[int]:
        found = [app.admin.get(f"/v1/memories/{item}")["version"] for item in items]
        return [version["belief"]["outcomes"] for version in found]

    for found in asked:
        told = {"retrieval_id": found["retrieval_id"], "score": 1.0, "source": "environment"}
        assert app.admin.post("/v1/feedback", told)["replaced"] == 0
    assert outcomes() == [1, 1]

    run = {
        "id": run_id,
        "namespace": NS,
        "task": {"goal": "cups"},
        "outcome": {"score": 0.0, "success": False},
    }
    assert app.admin.post("/v1/trajectories", run)["credited"] == 2
    assert outcomes() == [1, 1]
    app.admin.delete(f"/v1/trajectories/{run_id}")
    app.admin.post("/v1/trajectories", run)
    assert outcomes() == [1, 1]


def test_what_never_helps_is_gated_from_the_third_outcome_on(app: App) -> None:
    made = app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "kick the door"}})
    for n in range(3):
        found = retrieve(app, "open the door")
        assert [item["id"] for item in found["items"]] == [made["id"]], n
        app.admin.post("/v1/feedback", {"retrieval_id": found["retrieval_id"], "score": 0.0})
    found = retrieve(app, "open the door")

    assert found["items"] == []
    assert found["left_out"] == {"lower_bound": 1}


def test_a_run_does_not_see_itself_or_what_came_only_from_it(app: App, finished: Finish) -> None:
    run_id = str(uuid7())
    steps = [{"action": "go to shelf 1"}, {"action": "take cup from shelf 1"}]
    app.admin.post(
        "/v1/trajectories",
        {
            "id": run_id,
            "namespace": NS,
            "task": {"goal": "take a cup from the shelf"},
            "steps": steps,
            "outcome": {"score": 1.0, "success": True},
        },
    )
    finished(app.admin.post("/v1/distill", {"namespace": NS}))
    kinds = ["trajectory", "skill"]
    goal = "take a cup from the shelf"

    assert {i["kind"] for i in retrieve(app, goal, kinds=kinds)["items"]} == set(kinds)
    own = retrieve(app, goal, kinds=kinds, trajectory_id=run_id)
    assert (own["items"], own["left_out"]) == ([], {"own_run": 2})
    excluded = retrieve(app, goal, kinds=kinds, exclude_task="Take a cup from the shelf.")
    assert (excluded["items"], excluded["left_out"]) == ([], {"excluded_task": 2})


def test_a_new_value_of_a_fact_is_a_new_version_and_only_it_is_found(app: App) -> None:
    def tell(value: str) -> dict[str, Any]:
        fact = {"entity": "Ada", "key": "lives in", "value": value}
        told: dict[str, Any] = app.admin.post(
            "/v1/memories", {"namespace": NS, "kind": "fact", "body": fact}
        )
        return told

    paris, rome, again = tell("Paris"), tell("Rome"), tell("Rome")

    assert paris["id"] == rome["id"] == again["id"]
    assert again["existing"] is True
    texts = [item["text"] for item in retrieve(app, "where does Ada live")["items"]]
    assert len(texts) == 1
    assert "Rome" in texts[0]
    versions = app.admin.get(f"/v1/memories/{rome['id']}/history")["versions"]
    assert [v["body"]["value"] for v in versions] == ["Rome", "Paris"]
    assert versions[1]["valid_to"] == versions[0]["valid_from"]
    assert versions[0]["valid_to"] is None


def test_a_fact_does_not_become_another_fact(app: App) -> None:
    fact = {"entity": "Ada", "key": "lives in", "value": "Paris"}
    told = app.admin.post("/v1/memories", {"namespace": NS, "kind": "fact", "body": fact})
    versions = f"/v1/memories/{told['id']}/versions"
    refused = app.admin("POST", versions, json={"body": {**fact, "entity": "Bob"}})

    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_body")
    assert app.admin("POST", versions, json={"body": {**fact, "value": "Rome"}}).status_code == 201


def test_a_fact_told_late_takes_its_place_in_time(app: App) -> None:
    def tell(value: str, month: int) -> dict[str, Any]:
        fact = {"entity": "Ada", "key": "lives in", "value": value}
        since = f"2026-{month:02}-01T00:00:00Z"
        told: dict[str, Any] = app.admin.post(
            "/v1/memories", {"namespace": NS, "kind": "fact", "body": fact, "valid_from": since}
        )
        return told

    fact = tell("Paris", 3)["id"]
    for value, month in (("Rome", 7), ("Oslo", 5), ("Lima", 1)):
        assert tell(value, month)["existing"] is False
    assert tell("Oslo", 6)["existing"] is True

    versions = app.admin.get(f"/v1/memories/{fact}/history")["versions"]
    spans = {
        v["body"]["value"]: (v["valid_from"][5:7], (v["valid_to"] or "")[5:7]) for v in versions
    }
    assert spans == {
        "Lima": ("01", "03"),
        "Paris": ("03", "05"),
        "Oslo": ("05", "07"),
        "Rome": ("07", ""),
    }
    assert "Rome" in retrieve(app, "where does Ada live")["items"][0]["text"]


def test_what_is_stored_is_found_after_a_rebuild_of_the_index(app: App, finished: Finish) -> None:
    app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "the red key"}})
    done = finished(app.admin.post("/v1/reindex"))

    assert done["report"] == {"documents": 1}
    assert len(retrieve(app, "red key")["items"]) == 1


def test_a_run_is_the_same_by_whatever_route_it_comes(app: App) -> None:
    run = {
        "id": str(uuid7()),
        "task": {"goal": "open the door"},
        "steps": [{"observation": "a door", "action": "open", "reward": 1}],
        "outcome": {"score": 1, "success": True},
        "metadata": {"seed": 7},
    }
    first = app.admin.post("/v1/trajectories", {**run, "namespace": NS})
    line = app.admin.post(
        f"/v1/trajectories/import?namespace={NS}", content=json.dumps(run).encode()
    )
    batch = app.admin.post("/v1/trajectories/batch", {"namespace": NS, "trajectories": [run]})

    assert first["existing"] is False
    assert (line["stored"], line["existing"]) == (0, 1)
    assert (batch["stored"], batch["existing"]) == (0, 1)


def test_an_export_can_be_imported_again_here_and_elsewhere(app: App) -> None:
    note = app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "use the sink"}})
    run = {
        "namespace": NS,
        "task": {"goal": "clean a cup"},
        "outcome": {"score": 0.0, "success": False},
        "used": [note["version_id"]],
    }
    stored = app.admin.post("/v1/trajectories", run)
    told = {"trajectory_id": stored["id"], "score": 1.0, "source": "environment"}
    app.admin.post("/v1/feedback", told)
    exported = app.admin.get(f"/v1/trajectories/{stored['id']}")
    line = json.dumps({k: v for k, v in exported.items() if k != "namespace"}).encode()

    here = app.admin.post(f"/v1/trajectories/import?namespace={NS}", content=line)
    assert (here["stored"], here["existing"]) == (0, 1)
    tenant = app.admin.with_key("admin", "**", tenant="elsewhere")
    there = tenant.post(f"/v1/trajectories/import?namespace={NS}", content=line)
    assert (there["stored"], there["credited"]) == (1, 0)
    assert tenant.get(f"/v1/trajectories/{stored['id']}")["used"] == [note["version_id"]]


def test_what_others_retrieved_in_a_runs_name_is_not_credited(app: App) -> None:
    writer = app.admin.with_key("writer", NS)
    reader = app.admin.with_key("reader", "**")
    used = writer.post("/v1/memories", {"namespace": NS, "body": {"text": "cups are in the sink"}})
    other = app.admin.post("/v1/memories", {"namespace": "other", "body": {"text": "cups break"}})
    run_id = str(uuid7())
    ask = {"query": "cups", "trajectory_id": run_id}
    writer.post("/v1/retrieve", {**ask, "namespace": NS})
    reader.post("/v1/retrieve", {**ask, "namespace": "other"})
    writer.post("/v1/trajectories", {"id": run_id, "namespace": NS, "task": {"goal": "cups"}})
    told = app.admin.post("/v1/feedback", {"trajectory_id": run_id, "score": 0.0})

    assert told["credited"] == 1
    outcomes = [
        app.admin.get(f"/v1/memories/{item['id']}")["version"]["belief"]["outcomes"]
        for item in (used, other)
    ]
    assert outcomes == [1, 0]


def test_the_same_file_can_be_imported_into_two_namespaces(app: App) -> None:
    line = b'{"task": {"goal": "open the door"}}'
    stored = [
        app.admin.post(f"/v1/trajectories/import?namespace={namespace}", content=line)["stored"]
        for namespace in ("one", "two", "one")
    ]
    assert stored == [1, 1, 0]


def test_what_holds_only_later_is_refused_and_a_fast_clock_is_forgiven(app: App) -> None:
    now = datetime.now(UTC)
    fact = {"entity": "Ada", "key": "lives in", "value": "Paris"}
    told = {"namespace": NS, "kind": "fact", "body": fact}
    later = {**told, "valid_from": (now + timedelta(days=1)).isoformat()}
    refused = app.admin("POST", "/v1/memories", json=later)
    assert (refused.status_code, refused.json()["code"]) == (422, "not_yet_valid")
    beyond = {**told, "valid_from": "9999-12-31T23:59:59-23:59"}
    assert app.admin("POST", "/v1/memories", json=beyond).status_code == 422

    ahead = {**told, "valid_from": (now + timedelta(seconds=20)).isoformat()}
    app.admin.post("/v1/memories", ahead)
    assert len(retrieve(app, "where does Ada live")["items"]) == 1


def test_a_repeated_write_says_whether_it_can_be_found(app: App) -> None:
    note = {"namespace": NS, "body": {"text": "the red key"}}
    app.admin.post("/v1/memories", note)
    again = app.admin("POST", "/v1/memories", json=note)

    assert (again.status_code, again.json()["existing"]) == (201, True)
    assert again.json()["searchable"] is True
