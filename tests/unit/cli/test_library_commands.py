"""`memserver evolve` and `route`, the server's answers scripted."""

ID = "01890000-0000-7000-8000-0000000000aa"
AT = "2026-01-31T10:00:00Z"
PLANNED = {
    "id": ID,
    "namespace": "demo",
    "verb": "evolve",
    "state": "succeeded",
    "progress": {"done": 1, "total": 1, "doing": ""},
    "params": {"apply": False},
    "report": {"acts": [{"act": "retire", "item": ID, "reason": "5 outcomes"}]},
    "error": None,
    "change_id": None,
    "created_at": AT,
    "updated_at": AT,
    "attempt": 1,
}
SKILL = {
    "skill": ID,
    "title": "Wash a mug",
    "weight": 1.0,
    "competence": 0.8,
    "outcomes": 3,
    "prior": 0.5,
    "prior_from": "nothing known",
    "cost": 2.0,
}


def scored(agent: str, score: float) -> dict[str, object]:
    return {"agent": agent, "score": score, "competence": 0.8, "cost": 2.0, "skills": [SKILL]}


def test_evolve_plans_and_says_how_to_do_it(run, server):
    server.answers = {"POST /v1/skills/evolve": PLANNED, f"GET /v1/operations/{ID}": PLANNED}

    result = run("evolve", "-n", "demo", "--cap", "20")

    assert result.exit_code == 0
    assert server.body(0) == {"namespace": "demo", "apply": False, "cap": 20}
    assert "retire" in result.stdout
    assert "memserver evolve --namespace demo --apply" in result.stderr


def test_evolve_names_the_changes_to_take_back_the_last_one_first(run, server):
    done = {**PLANNED, "report": {"changes": ["first", "last"]}}
    server.answers = {"POST /v1/skills/evolve": done, f"GET /v1/operations/{ID}": done}

    result = run("evolve", "-n", "demo", "--apply")

    assert server.body(0)["apply"] is True
    assert result.stderr.index("undo last") < result.stderr.index("undo first")


def test_route_prints_every_agent_and_the_best_one_last(run, server):
    agents = [scored("ada", 0.6), scored("euler", 0.2)]
    server.answers = {
        "POST /v1/route": {"agent": "ada", "agents": agents, "retrieval_id": None},
    }

    result = run("route", "wash it", "-n", "demo", "--agent", "ada", "--cost-weight", "0.1")

    assert result.exit_code == 0
    asked = server.body()
    assert (asked["goal"], asked["agents"], asked["cost_weight"]) == ("wash it", ["ada"], 0.1)
    assert "euler" in result.stdout
    assert result.stdout.strip().splitlines()[-1] == "ada"
    assert "Wash a mug: 0.80 by 3 outcomes" in result.stderr
