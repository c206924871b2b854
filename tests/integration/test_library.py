"""The library over HTTP: what its skills are worth, which agent is to have a task, and how it
evolves while it is served."""

from typing import Any

import pytest

from tests.integration.conftest import App, wait_for


def skill(app: App, namespace: str, goal: str, *actions: str) -> dict[str, Any]:
    body = {"when": goal, "goal": goal, "steps": [{"action": action} for action in actions]}
    return dict(app.admin.post("/v1/skills", {"namespace": namespace, "title": goal, "body": body}))


def run(
    app: App,
    namespace: str,
    goal: str,
    *,
    used: list[dict[str, Any]] | None = None,
    score: float = 1.0,
    agent: str = "agent",
    type: str | None = None,
    cost: float | None = None,
    actions: tuple[str, ...] = ("look",),
) -> dict[str, Any]:
    return dict(
        app.admin.post(
            "/v1/trajectories",
            {
                "namespace": namespace,
                "agent": agent,
                "task": {"goal": goal, "type": type},
                "steps": [{"observation": "", "action": action} for action in actions],
                "outcome": {"score": score, "success": score >= 0.5, "cost": cost},
                "used": None if used is None else [one["version_id"] for one in used],
            },
        )
    )


def test_an_items_worth_is_folded_by_context(shared_app: App) -> None:
    ns = "worth"
    made = skill(shared_app, ns, "heat an egg", "open the microwave")
    for _ in range(3):
        run(shared_app, ns, "heat an egg", used=[made], type="heat")
        run(shared_app, ns, "cool an egg", used=[made], type="cool", score=0.0)
    found = shared_app.admin.get(f"/v1/memories/{made['id']}/worth")

    contexts = {one["context"]: one for one in found["contexts"]}
    assert (found["overall"]["outcomes"], found["overall"]["mean"]) == (6, 0.5)
    assert contexts["heat"]["mean"] == pytest.approx(4 / 5)
    assert contexts["heat"]["utility"] == pytest.approx(1 - 0.5 * 0.95**3)
    assert contexts["cool"]["utility"] == pytest.approx(0.5 * 0.95**3)
    assert (contexts["heat"]["offered"], contexts["cool"]["offered"]) == (True, False)

    def offered(task_type: str) -> list[str]:
        asked = {"query": "heat an egg", "namespace": ns, "task_type": task_type}
        return [one["id"] for one in shared_app.admin.post("/v1/retrieve", asked)["items"]]

    assert made["id"] in offered("heat")
    assert made["id"] not in offered("cool")


def test_a_run_credits_the_order_that_it_was_offered(shared_app: App) -> None:
    ns = "credited"
    good, bad = (skill(shared_app, ns, f"wash the {what}", "go") for what in ("mug", "cup"))
    for _ in range(2):
        run(shared_app, ns, "wash the mug", used=[good])
        run(shared_app, ns, "wash the cup", used=[bad], score=0.0)
    run_id = "01890000-0000-7000-8000-000000000001"
    asked = {"query": "wash the mug", "namespace": ns, "trajectory_id": run_id}
    given = shared_app.admin.post("/v1/retrieve", asked)
    assert given["items"][0]["id"] == good["id"]
    path = f"/v1/trajectories/{run_id}/credit"
    sent = {"namespace": ns, "id": run_id, "task": {"goal": "wash the mug"}}
    shared_app.admin.post("/v1/trajectories", sent)
    assert shared_app.admin.get(path)["distilled"] is None
    shared_app.admin.post("/v1/feedback", {"trajectory_id": run_id, "score": 1.0})

    found = shared_app.admin.get(path)
    assert found["distilled"] == pytest.approx(1 - (1 - 0.5 * 0.95**2))
    assert found["rankings"] == [{"retrieval_id": given["retrieval_id"], "reward": 1.0}]


def test_the_maths_agent_gets_maths_and_the_coder_gets_code(shared_app: App) -> None:
    ns = "agents"
    maths = skill(shared_app, ns, "solve the integral equation", "integrate both sides")
    code = skill(shared_app, ns, "write a parser in python", "write the grammar first")
    for _ in range(3):
        for agent, best, other in (("euler", maths, code), ("ada", code, maths)):
            run(shared_app, ns, "solve", used=[best], agent=agent, cost=1.0)
            run(shared_app, ns, "write", used=[other], agent=agent, score=0.0, cost=1.0)

    def routed(**asked: Any) -> dict[str, Any]:
        return dict(shared_app.admin.post("/v1/route", {"namespace": ns, **asked}))

    assert routed(goal="solve this integral equation")["agent"] == "euler"
    by_goal = routed(goal="write a python parser")
    assert by_goal["agent"] == "ada"
    assert by_goal["retrieval_id"] is not None
    one = routed(skills=[maths["id"]], agents=["newcomer", "ada"])
    assert one["agent"] == "newcomer"
    newcomer, ada = (one["agents"][place]["skills"][0] for place in (0, 1))
    assert (newcomer["outcomes"], newcomer["prior_from"]) == (0, "the skill's mean over agents")
    assert newcomer["competence"] == pytest.approx((3 + 1) / (6 + 2))
    assert 0 < ada["competence"] < newcomer["competence"]


def test_a_route_needs_a_known_skill_an_agent_and_a_grant(shared_app: App) -> None:
    ns = "agents/none"
    made = skill(shared_app, ns, "peel a potato", "peel")
    asked = {"namespace": ns, "skills": [made["id"]]}
    nobody = shared_app.admin("POST", "/v1/route", json=asked)
    assert (nobody.status_code, nobody.json()["code"]) == (422, "no_agents")
    both = shared_app.admin("POST", "/v1/route", json={**asked, "goal": "peel", "agents": ["a"]})
    assert both.status_code == 422
    unknown = {**asked, "skills": ["01890000-0000-7000-8000-00000000dead"], "agents": ["a"]}
    assert shared_app.admin("POST", "/v1/route", json=unknown).status_code == 404
    stranger = shared_app.admin.with_key("reader", "agents/other")
    assert stranger("POST", "/v1/route", json={**asked, "agents": ["a"]}).status_code == 403
    elsewhere = {**asked, "namespace": "agents/other", "agents": ["a"]}
    shared_app.admin.post("/v1/memories", {"namespace": "agents/other", "body": {"text": "x"}})
    assert stranger("POST", "/v1/route", json=elsewhere).status_code == 404


def evolved(app: App, namespace: str, **asked: Any) -> dict[str, Any]:
    begun = app.admin.post("/v1/skills/evolve", {"namespace": namespace, **asked})
    return wait_for(app.admin, begun)


def distilled(app: App, namespace: str, method: str) -> None:
    asked = {"namespace": namespace, "methods": [method]}
    assert wait_for(app.admin, app.admin.post("/v1/distill", asked))["state"] == "succeeded"


def offered(app: App, namespace: str, query: str) -> list[str]:
    found = app.admin.post("/v1/retrieve", {"query": query, "namespace": namespace})
    return [one["title"] for one in found["items"]]


def test_a_plan_changes_nothing_and_an_applied_one_is_served_and_undone(shared_app: App) -> None:
    ns = "evolving"
    made = skill(shared_app, ns, "wash the mug", "take mug", "clean mug in sink")
    for _ in range(2):
        right = ("take mug", "open tap", "clean mug in sink")
        run(shared_app, ns, "wash the mug", used=[made], actions=right)
        wrong = ("take mug", "wipe mug")
        run(shared_app, ns, "wash the mug", used=[made], score=0.0, actions=wrong)
    path = f"/v1/skills/{made['id']}"
    before = shared_app.admin.get(path)

    plan = evolved(shared_app, ns)
    assert [act["act"] for act in plan["report"]["acts"]] == ["refine"]
    assert shared_app.admin.get(path) == before

    done = evolved(shared_app, ns, apply=True)
    (change,) = done["report"]["changes"]
    after = shared_app.admin.get(path)
    steps = [step["action"] for step in after["version"]["body"]["steps"]]
    assert steps == ["take mug", "open tap", "clean mug in sink"]
    assert after["version"]["method"] == "evolve/refine"
    detail = shared_app.admin.get(f"/v1/changes/{change}")["change"]
    assert (detail["verb"], "successes did “open tap” first" in detail["reason"]) == (
        "evolve",
        True,
    )
    found = shared_app.admin.post("/v1/retrieve", {"query": "wash the mug", "namespace": ns})
    assert "open tap" in found["text"]

    shared_app.admin.post(f"/v1/changes/{change}/undo", {})
    assert shared_app.admin.get(path) == before


def test_what_says_the_same_becomes_one_with_the_statistics_of_both(shared_app: App) -> None:
    ns = "evolving/merged"
    steps = ("take plate", "clean plate in sink", "put plate on shelf")
    one, two = (
        shared_app.admin.post(
            "/v1/skills",
            {
                "namespace": ns,
                "title": title,
                "body": {"when": "To wash a plate", "steps": [{"action": step} for step in steps]},
            },
        )
        for title in ("Wash a plate", "Wash a plate.")
    )
    run(shared_app, ns, "wash", used=[one])
    run(shared_app, ns, "wash", used=[two], score=0.0)
    done = evolved(shared_app, ns, apply=True)
    assert len(done["report"]["merges"]) >= 1
    (left,) = shared_app.admin.rows("/v1/skills", namespace=ns)
    worth = shared_app.admin.get(f"/v1/memories/{left['id']}/worth")["overall"]
    assert (worth["outcomes"], worth["mean"]) == (2, 0.5)
    (gone, *_) = shared_app.admin.rows("/v1/skills", namespace=ns, status="merged")
    assert shared_app.admin.get(f"/v1/skills/{gone['id']}/history")["versions"]


def test_a_retired_skill_is_not_served_its_history_stays_and_it_can_be_restored(
    shared_app: App,
) -> None:
    ns = "evolving/retired"
    made = skill(shared_app, ns, "juggle eggs", "throw eggs")
    for _ in range(12):
        run(shared_app, ns, "juggle", used=[made], score=0.0, actions=("throw eggs",))
    evolved(shared_app, ns, apply=True)
    assert offered(shared_app, ns, "juggle eggs") == []
    history = shared_app.admin.get(f"/v1/skills/{made['id']}/history")
    assert history["versions"][0]["belief"]["outcomes"] == 12
    shared_app.admin.post(f"/v1/memories/{made['id']}/restore", {})
    assert len(shared_app.admin.rows("/v1/skills", namespace=ns)) == 1


def test_a_hypothesis_is_not_served_before_a_success_has_shown_it(shared_app: App) -> None:
    ns = "evolving/hypotheses"
    actions = ("go to safe", "turn dial", "open safe")
    for last in ("leave", "wait"):
        run(shared_app, ns, "open the safe", score=0.0, actions=(*actions, last))
    distilled(shared_app, ns, "subgoals")
    (guess,) = shared_app.admin.rows("/v1/skills", namespace=ns, status="quarantined")
    assert shared_app.admin.get(f"/v1/memories/{guess['id']}/worth")["awaits"] == "verification"
    assert offered(shared_app, ns, "open the safe") == []
    assert evolved(shared_app, ns, apply=True)["report"]["acts"] == []

    run(shared_app, ns, "open the safe", actions=(*actions, "take ring"))
    assert evolved(shared_app, ns, apply=True)["report"]["acts"][0]["rule"] == "verified"
    assert offered(shared_app, ns, "open the safe") == [guess["title"]]


def test_what_is_distilled_waits_for_held_out_runs_or_is_on_trial(shared_app: App) -> None:
    def admission(ns: str, way: str) -> None:
        sent = {"admission": way}
        path = f"/v1/namespaces/settings?namespace={ns}"
        assert shared_app.admin("PUT", path, json=sent).json()["settings"]["admission"] == way

    steps = ("take mug 1", "clean mug 1 in sink")
    waiting, trial = "evolving/held-out", "evolving/trial"
    for ns, way in ((waiting, "held_out"), (trial, "first_uses")):
        admission(ns, way)
        run(shared_app, ns, "wash the mug", actions=steps)
        distilled(shared_app, ns, "workflows")
    (newcomer,) = shared_app.admin.rows("/v1/skills", namespace=trial)
    assert shared_app.admin.get(f"/v1/memories/{newcomer['id']}/worth")["on_trial"] is True
    assert offered(shared_app, trial, "wash the mug") == [newcomer["title"]]

    assert offered(shared_app, waiting, "wash the mug") == []
    assert evolved(shared_app, waiting, apply=True)["report"]["acts"] == []
    run(shared_app, waiting, "wash the mug", actions=steps)
    assert evolved(shared_app, waiting, apply=True)["report"]["acts"][0]["rule"] == "held_out"
    assert len(offered(shared_app, waiting, "wash the mug")) == 1


def test_a_library_converges_as_its_stream_repeats(shared_app: App) -> None:
    ns = "evolving/converging"
    for round in range(3):
        for what in ("mug", "plate"):
            run(shared_app, ns, f"wash the {what}", actions=(f"take {what}", f"clean {what}"))
        if round == 0:
            distilled(shared_app, ns, "workflows")
    found = shared_app.admin.get("/v1/skills/convergence", namespace=ns, window=2)
    shares = [window["share"] for window in found["windows"]]
    assert shares[0] > shares[1] == shares[2] == found["share"] == 0.0
    stranger = shared_app.admin.with_key("reader", "elsewhere")
    asked = stranger("GET", "/v1/skills/convergence", params={"namespace": ns})
    assert asked.status_code == 403
    refused = stranger("POST", "/v1/skills/evolve", json={"namespace": ns})
    assert refused.status_code == 403


def test_a_portfolio_names_what_each_skill_covers_and_whom_a_goal_is_for(shared_app: App) -> None:
    ns = "portfolio"
    names = ("washing", "heating", "washing mugs")
    washing, heating, mugs = (skill(shared_app, ns, name, name) for name in names)
    for goal, used in (
        ("wash the mug", [washing, mugs]),
        ("Wash the plate.", [washing]),
        ("heat the egg", [heating]),
    ):
        run(shared_app, ns, goal, used=used, cost=2.0)
    run(shared_app, ns, "wash the bowl", used=[heating], score=0.0, cost=2.0)
    asked = {"namespace": ns, "k": 5, "goal": "heat the soup"}
    found = shared_app.admin.post("/v1/skills/portfolio", asked)

    covers = [(one["title"], one["covers"], one["adds"]) for one in found["members"]]
    assert covers == [
        ("washing", ["Wash the plate.", "wash the mug"], 2),
        ("heating", ["heat the egg"], 1),
    ]
    assert found["dominated"] == [mugs["id"]]
    assert (found["covered"], found["solved"]) == (3, 3)
    assert found["matches"][0]["skill"] == heating["id"]
    assert found["members"][0]["cost"] == 2.0
