"""`memserver practice`, the server's answers scripted."""

import json

ID = "01890000-0000-7000-8000-0000000000aa"
AT = "2026-01-31T10:00:00Z"
GOAL = {
    "id": ID,
    "namespace": "demo",
    "goal": "put the mug on the desk",
    "task": {"goal": "put the mug on the desk"},
    "template": "put {object} on {place}",
    "values": {"object": "mug", "place": "desk"},
    "why": {
        "score": 0.2,
        "novelty": 0.8,
        "p": 0.5,
        "learnability": 0.25,
        "feasibility": 1.0,
        "redundancy": 0.5,
        "coverage": ["object: mug, place: desk"],
    },
    "state": "proposed",
    "created_at": AT,
}
RUN = {"task": {"goal": "put the mug on the desk"}, "steps": [{"action": "take mug"}]}


def test_propose_prints_the_goals_with_why(run, server):
    server.answers = {"POST /v1/practice/propose": {"namespace": "demo", "proposals": [GOAL]}}
    result = run("practice", "propose", "-n", "demo", "-k", "3", "--seed", "7")
    assert result.exit_code == 0
    assert server.body() == {"namespace": "demo", "k": 3, "seed": 7}
    assert "0.200" in result.stdout
    assert ID in result.stdout.replace("\n", "")


def test_propose_says_what_is_missing_where_there_is_nothing_to_try(run, server):
    server.answers = {"POST /v1/practice/propose": {"namespace": "demo", "proposals": []}}
    assert "nothing new to try" in run("practice", "propose", "-n", "demo").stderr


def test_validate_sends_a_run_a_line_and_says_what_became_of_it(run, server, tmp_path):
    rejected = {**GOAL, "state": "rejected", "refusal": "failed", "reason": "not reached"}
    accepted = {**GOAL, "state": "accepted"}
    server.answers = {
        "POST /v1/practice/validate": [
            {"accepted": True, "proposal": accepted},
            {"accepted": False, "proposal": rejected},
        ]
    }
    file = tmp_path / "runs.jsonl"
    file.write_text("\n\n".join([json.dumps({"proposal": ID, "run": RUN})] * 2))
    result = run("practice", "validate", str(file), "-n", "demo")
    assert result.exit_code == 0
    sent = server.body(0)
    assert (sent["proposal"], sent["run"]["task"]) == (ID, RUN["task"])
    assert sent["run"]["id"] != server.body(1)["run"]["id"]
    assert "accepted: put the mug on the desk\n" in result.stdout
    assert "rejected: put the mug on the desk (not reached)" in result.stdout
    assert "1 of 2 runs are in memory" in result.stderr


def test_validate_names_a_line_that_is_no_run_and_sends_nothing(run, server, tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps({"proposal": ID, "run": RUN}) + "\n[1]\n")
    result = run("practice", "validate", str(file), "-n", "demo")
    assert result.exit_code != 0
    assert "Line 2" in result.stderr.replace("\n", " ")
    assert server.requests == []


def test_list_asks_for_a_state(run, server):
    page = {"rows": [GOAL], "next_cursor": None}
    server.answers = {"GET /v1/practice": page}
    result = run("practice", "list", "-n", "demo", "--state", "proposed", "--json")
    assert server.params()["state"] == "proposed"
    assert json.loads(result.stdout.splitlines()[0])["id"] == ID
