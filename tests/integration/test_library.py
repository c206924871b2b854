"""The library over HTTP: what its skills are worth, which agent is to have a task, and how it
evolves while it is served."""

from typing import Any

import pytest

from tests.integration.conftest import App


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
