"""`memserver session`: what is asked of the server, and what is shown."""

import json
from typing import Any

ID = "01890000-0000-7000-8000-0000000000aa"
STATE = {
    "id": ID,
    "namespace": "shop",
    "events": 9,
    "text": 'State of the task:\norder = "A7" [bold]',
    "tokens": 9,
    "token_counter": "words",
    "budget_tokens": 50,
    "left_out": {"turns": 3},
    "cut": [],
    "state": None,
}
ROW = {
    "id": ID,
    "namespace": "shop",
    "agent": "clerk",
    "subject": None,
    "events": 9,
    "summary": None,
    "created_at": "2026-03-01T12:00:00Z",
    "updated_at": "2026-03-01T12:00:00Z",
    "ended_at": None,
}


def test_a_state_is_shown_as_its_agent_reads_it(run: Any, server: Any) -> None:
    server.answers[f"GET /v1/sessions/{ID}/state"] = STATE
    shown = run("session", "state", ID, "--budget-tokens", "50")

    assert shown.exit_code == 0
    assert 'order = "A7" [bold]' in shown.stdout
    assert "9 of 50 tokens (words); left out: turns 3" in shown.stderr
    assert server.params() == {"budget_tokens": "50", "format": "text"}


def test_for_machines_a_state_has_its_values(run: Any, server: Any) -> None:
    server.answers[f"GET /v1/sessions/{ID}/state"] = STATE
    shown = run("session", "state", ID, "--json")

    assert json.loads(shown.stdout)["left_out"] == {"turns": 3}
    assert server.params()["format"] == "json"


def test_sessions_are_listed(run: Any, server: Any) -> None:
    server.answers["GET /v1/sessions"] = {"rows": [ROW], "next_cursor": None}
    shown = run("session", "list", "--namespace", "shop")

    assert shown.exit_code == 0
    assert ID in shown.stdout
    assert "clerk" in shown.stdout
