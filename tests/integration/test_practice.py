"""Practice over HTTP: goals are proposed, runs of them judged, and only what is believed enters
memory; a frozen library stays as it is."""

from typing import Any
from uuid import uuid4

import pytest

from tests.integration.conftest import App, Caller, wait_for

THINGS, PLACES = ("mug", "apple", "book"), ("shelf", "desk", "cart")


def steps(thing: str, place: str) -> list[dict[str, str]]:
    return [
        {"observation": "a room", "action": f"go to {thing} 1"},
        {"observation": f"{thing} 1 is here", "action": f"take {thing} 1"},
        {"observation": f"you hold {thing} 1", "action": f"go to {place} 2"},
        {"observation": f"you are at {place} 2", "action": f"leave {thing} 1 at {place} 2"},
    ]


def kitchen(app: App, namespace: str, things: tuple[str, ...] = THINGS) -> None:
    runs = [
        {
            "task": {"goal": f"put the {thing} on the {place}", "type": "put"},
            "steps": steps(thing, place),
            "outcome": {"score": 1.0, "success": True},
        }
        for thing, place in zip(things, PLACES, strict=True)
    ]
    app.admin.post("/v1/trajectories/batch", {"namespace": namespace, "trajectories": runs})


def proposed(app: App, namespace: str, k: int = 3) -> list[dict[str, Any]]:
    found = app.admin.post("/v1/practice/propose", {"namespace": namespace, "k": k})
    return list(found["proposals"])


def tried(goal: dict[str, Any], *, success: bool = True, **changes: Any) -> dict[str, Any]:
    values = goal["values"]
    return {
        "task": goal["task"],
        "steps": steps(values["object"], values["place"]),
        "outcome": {"score": float(success), "success": success},
        **changes,
    }


def sent(caller: Caller, namespace: str, goal: dict[str, Any], run: dict[str, Any]) -> Any:
    body = {"namespace": namespace, "proposal": goal["id"], "run": run}
    return caller("POST", "/v1/practice/validate", json=body)


def test_what_is_let_in_is_learnt_from_and_what_is_not_informs_the_proposer_only(
    shared_app: App,
) -> None:
    ns, admin = "practice/loop", shared_app.admin
    kitchen(shared_app, ns)
    before = proposed(shared_app, ns)
    assert len(before) == 3
    good, bad, impossible = before
    why = good["why"]
    assert why["score"] == pytest.approx(why["novelty"] * why["learnability"] * why["feasibility"])

    run_id = str(uuid4())
    accepted = sent(admin, ns, good, tried(good, id=run_id)).json()
    assert (accepted["accepted"], accepted["proposal"]["trajectory_id"]) == (True, run_id)
    assert accepted["searchable"]
    stored = admin.get(f"/v1/trajectories/{run_id}")
    assert stored["metadata"]["practice"] == good["id"]

    failed = sent(admin, ns, bad, tried(bad, success=False)).json()
    nowhere = tried(impossible, success=False, steps=[{"observation": "a room", "action": "look"}])
    infeasible = sent(admin, ns, impossible, nowhere).json()
    assert (failed["accepted"], failed["proposal"]["refusal"]) == (False, "failed")
    assert (infeasible["accepted"], infeasible["proposal"]["refusal"]) == (False, "infeasible")

    runs = admin.rows("/v1/trajectories", namespace=ns)
    assert [one["task"]["goal"] for one in runs][3:] == [good["goal"]]
    for goal in (bad, impossible):
        asked = {"query": goal["goal"], "namespace": ns, "kinds": ["trajectory", "skill", "case"]}
        found = admin.post("/v1/retrieve", asked)["items"]
        assert goal["goal"] not in str(found)

    admin.post("/v1/distill", {"namespace": ns, "methods": ["workflows"]})
    after = proposed(shared_app, ns, k=50)
    assert not {one["goal"] for one in after} & {one["goal"] for one in before}
    assert after[0]["why"]["p"] < 1
    listed = admin.rows("/v1/practice", namespace=ns, limit=2)
    assert [one["id"] for one in listed[:3]] == [one["id"] for one in before]
    rejected = admin.rows("/v1/practice", namespace=ns, state="rejected")
    assert {one["id"] for one in rejected} == {bad["id"], impossible["id"]}
    assert all(one["reason"] and one["decided_at"] for one in rejected)


def test_a_goal_is_decided_once_and_the_same_run_again_is_no_second_one(shared_app: App) -> None:
    ns, admin = "practice/once", shared_app.admin
    kitchen(shared_app, ns)
    good, bad = proposed(shared_app, ns, k=2)
    for goal, success in ((good, True), (bad, False)):
        run = tried(goal, success=success)
        first = sent(admin, ns, goal, run).json()
        again = sent(admin, ns, goal, run).json()
        assert again["existing"]
        assert again["proposal"] == first["proposal"]
        other = sent(admin, ns, goal, {**run, "agent": "another"})
        assert (other.status_code, other.json()["code"]) == (409, "wrong_state")
    assert len(admin.rows("/v1/trajectories", namespace=ns)) == 4


def test_goals_are_proposed_and_judged_by_those_alone_who_may_write_there(shared_app: App) -> None:
    ns, admin = "practice/scopes", shared_app.admin
    kitchen(shared_app, ns)
    (goal,) = proposed(shared_app, ns, k=1)
    reader = admin.with_key("reader", ns)
    asked = {"namespace": ns, "k": 1}
    assert reader("POST", "/v1/practice/propose", json=asked).status_code == 403
    assert sent(reader, ns, goal, tried(goal)).status_code == 403
    assert reader.rows("/v1/practice", namespace=ns) == [goal]

    writer = admin.with_key("writer", "practice/**")
    elsewhere = sent(writer, "practice/scopes2", goal, tried(goal))
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (404, "practice_goal_not_found")
    stranger = admin.with_key("admin", "**", tenant="practice-others")
    assert sent(stranger, ns, goal, tried(goal)).status_code == 404
    assert stranger.rows("/v1/practice", namespace=ns) == []


def test_a_secret_that_runs_still_hold_is_not_said_again_in_a_goal(shared_app: App) -> None:
    ns, admin = "practice/secrets", shared_app.admin
    settings = f"/v1/namespaces/settings?namespace={ns}"
    secret = "AKIA" + "Q7ZX4MPLK2WN8RTB"
    admin("PUT", settings, json={"secrets": False})
    kitchen(shared_app, ns)
    kitchen(shared_app, ns, things=(secret, "apple", "mug"))
    assert secret in str(admin.rows("/v1/trajectories", namespace=ns))

    admin("PUT", settings, json={"secrets": True})
    goals = proposed(shared_app, ns, k=20)
    assert len(goals) > 3
    assert secret not in str(goals)
    assert secret not in str(admin.rows("/v1/practice", namespace=ns))


def test_a_frozen_library_refuses_writes_while_runs_and_feedback_come_in(shared_app: App) -> None:
    ns, admin = "practice/frozen", shared_app.admin
    kitchen(shared_app, ns)
    (goal,) = proposed(shared_app, ns, k=1)
    body = {"when": "x", "goal": "x", "steps": [{"action": "y"}]}
    new = {"namespace": ns, "title": "x", "body": body}
    made = admin.post("/v1/skills", new)
    settings = f"/v1/namespaces/settings?namespace={ns}"
    assert admin("PUT", settings, json={"frozen": True}).json()["settings"]["frozen"]

    again = {"title": "x", "body": {**body, "goal": "z"}}
    refused = [
        admin("POST", "/v1/distill", json={"namespace": ns}),
        admin("POST", "/v1/skills/evolve", json={"namespace": ns, "apply": True}),
        sent(admin, ns, goal, tried(goal)),
        admin("POST", "/v1/skills", json={**new, "title": "another"}),
        admin("POST", f"/v1/skills/{made['id']}/versions", json=again),
        admin("DELETE", f"/v1/skills/{made['id']}"),
        admin("POST", f"/v1/changes/{made['change_id']}/undo"),
    ]
    assert [(one.status_code, one.json()["code"]) for one in refused] == [
        (409, "library_frozen")
    ] * len(refused)
    planned = admin.post("/v1/consolidate", {"namespace": ns, "apply": True})
    assert wait_for(admin, planned)["state"] == "succeeded"

    kitchen(shared_app, ns + "/other")
    admin.post(
        "/v1/memories", {"namespace": ns, "kind": "note", "title": "n", "body": {"text": "n"}}
    )
    run = admin.post(
        "/v1/trajectories",
        {"namespace": ns, "task": {"goal": "g"}, "used": [made["version_id"]]},
    )
    told = admin.post("/v1/feedback", {"trajectory_id": run["id"], "score": 1.0})
    assert told["credited"] == 1
    assert [one["id"] for one in admin.rows("/v1/practice", namespace=ns, state="proposed")] == [
        goal["id"]
    ]

    admin("PUT", settings, json={"frozen": False})
    assert sent(admin, ns, goal, tried(goal)).json()["accepted"]
