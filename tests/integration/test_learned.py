"""What runs taught, through the API: distilled with its method and its source steps, once; and
asked for by runs under way."""

from typing import Any

import pytest

from tests.integration.conftest import App, Caller, wait_for

# What edits propose is what the bank does not foretell yet, so they come before the others.
METHODS = ["edits", "milestones", "experiences", "demonstrations", "siblings", "code"]
NOTHING = "Nothing happens."


def steps(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"observation": seen, "action": done} for seen, done in pairs]


def put(thing: str, place: str, *, wiped: bool = True) -> dict[str, Any]:
    wipe = [(f"You hold the {thing}.", f"wipe {thing} with cloth")] if wiped else []
    told = steps(
        ("a room", "go to desk"),
        ("You are at the desk.", f"take {thing} from desk"),
        *wipe,
        (f"The {thing} is in your hand.", f"go to {place}"),
        (f"You are at the {place}.", f"move {thing} to {place}"),
        (f"The {thing} lies on the {place}.", ""),
    )
    return {
        "task": {"goal": f"put some {thing} on {place}.", "type": "put"},
        "steps": told,
        "outcome": {"score": float(wiped), "success": wiped},
    }


def stuck() -> dict[str, Any]:
    return {
        "task": {"goal": "put some jar on rack.", "type": "put"},
        "steps": steps(
            ("a room", "lick jar"), (NOTHING, "fly up"), (NOTHING, "sing aloud"), (NOTHING, "")
        ),
        "outcome": {"score": 0.0, "success": False},
    }


@pytest.fixture(scope="module")
def taught(shared_app: App) -> Caller:
    admin = shared_app.admin
    runs = [
        put("mug", "shelf"),
        put("pen", "bed"),
        put("cup", "sofa"),
        put("key", "box"),
        put("book", "cart"),
        put("ring", "safe"),
        put("mug", "shelf", wiped=False),
        stuck(),
    ]
    for run in runs:
        admin.post("/v1/trajectories", {"namespace": "learned", **run})
    return admin


def distilled(caller: Caller) -> dict[str, Any]:
    body = {"namespace": "learned", "methods": METHODS}
    return wait_for(caller, caller.post("/v1/distill", body))


@pytest.fixture(scope="module")
def report(taught: Caller) -> dict[str, Any]:
    ended = distilled(taught)
    assert ended["state"] == "succeeded"
    found: dict[str, Any] = ended["report"]
    return found


def test_items_name_their_method_and_the_steps_that_they_were_drawn_from(
    taught: Caller, report: dict[str, Any]
) -> None:
    assert all(report[method]["written"] >= 1 for method in METHODS)
    items = [
        item
        for item in taught.rows("/v1/memories", namespace="learned")
        if item["version"]["method"].startswith("distill/")
    ]
    runs = {run["id"]: run for run in taught.rows("/v1/trajectories", namespace="learned")}

    assert {item["version"]["method"] for item in items} == {f"distill/{m}" for m in METHODS}
    for item in items:
        sources = item["version"]["sources"]
        assert sources
        assert all(source["steps"] for source in sources)
        assert all(
            max(source["steps"]) < len(runs[source["trajectory_id"]]["steps"]) for source in sources
        )
    assert {item["kind"] for item in items} >= {"skill", "case", "hint"}


def test_distilling_the_same_runs_again_writes_nothing(
    taught: Caller, report: dict[str, Any]
) -> None:
    again = distilled(taught)["report"]

    assert [again[method]["written"] for method in METHODS] == [0] * len(METHODS)
    assert [again[method]["proposed"] for method in METHODS[1:]] == [
        report[method]["proposed"] for method in METHODS[1:]
    ]


def skill(caller: Caller, form: str) -> str:
    [found] = [
        item["id"]
        for item in caller.rows("/v1/skills", namespace="learned")
        if item["version"]["body"]["form"] == form
    ]
    return str(found)


def test_a_run_under_way_is_guided_and_corrected_only_after_a_failed_action(
    taught: Caller, report: dict[str, Any]
) -> None:
    path = f"/v1/skills/{skill(taught, 'milestones')}/guide"
    goal = "put some vase on table."
    going = steps(
        ("a room", "go to desk 2"), ("A desk.", "take vase 1 from desk 2"), ("You have it.", "")
    )
    failing = [*going[:2], *steps(("You have it.", "sing loudly"), (NOTHING, ""))]

    fine = taught.post(path, {"goal": goal, "steps": going})
    failed = taught.post(path, {"goal": goal, "steps": failing})

    assert [one["number"] for one in fine["done"]] == [1]
    assert fine["milestone"]["number"] == 2
    assert fine["gap"] == ["wipe vase with cloth"]
    assert fine["correction"] is None
    assert "wipe vase with cloth" in failed["correction"]
    assert failed["milestone"] == fine["milestone"]


def test_only_milestone_skills_that_fit_guide_and_only_those_who_may_read(
    taught: Caller, report: dict[str, Any]
) -> None:
    path = f"/v1/skills/{skill(taught, 'milestones')}/guide"
    other = f"/v1/skills/{skill(taught, 'demonstration')}/guide"
    stranger = taught.with_key("reader", "elsewhere")
    reader = taught.with_key("reader", "learned")
    question = {"goal": "put some vase on table."}

    refused = taught("POST", path, json={"goal": "write a poem"})
    assert (refused.status_code, refused.json()["code"]) == (422, "skill_gives_no_guide")
    assert taught("POST", other, json=question).json()["code"] == "skill_gives_no_guide"
    assert stranger("POST", path, json=question).status_code == 404
    assert reader.post(path, question)["milestone"]["number"] == 1
    assert taught("POST", path, json={**question, "more": 1}).status_code == 422


def test_the_same_shape_is_found_in_a_domain_that_shares_no_word(taught: Caller) -> None:
    for goal, operations in (
        ("total salary per department", ["query", "filter", "aggregate"]),
        ("average rainfall by coastal river", ["open", "read", "close"]),
    ):
        body = {"goal": goal, "operations": operations, "score": 1.0}
        taught.post("/v1/memories", {"namespace": "shapes", "kind": "case", "body": body})
    question = {
        "namespace": "shapes",
        "goal": "mean temperature of mountain towns",
        "operations": ["query", "filter", "aggregate"],
    }

    [first, second] = taught.post("/v1/cases/similar", question)["cases"]

    assert first["goal"] == "total salary per department"
    assert (first["structural"], second["structural"]) == (1, 0)
    assert first["score"] == pytest.approx((first["semantic"] + 1) / 2)
    assert len(taught.post("/v1/cases/similar", {**question, "k": 1})["cases"]) == 1
    stranger = taught.with_key("reader", "elsewhere")
    assert stranger("POST", "/v1/cases/similar", json=question).status_code == 403
