"""What each command asks of the server, and what it prints of the answer."""

import json
from datetime import UTC, datetime

import httpx
import pytest

ID = "01890000-0000-7000-8000-0000000000aa"
HIT = {
    "id": ID,
    "version_id": ID,
    "namespace": "demo",
    "kind": "skill",
    "title": "Put [red]things[/red] on carts",
    "text": "…",
    "score": 0.75,
    "why": "It says what to do.",
    "arms": {"dense": {"rank": 1, "score": 0.6}},
    "memory": "experiential",
    "belief": {"mean": 0.8, "lower_bound": 0.5, "outcomes": 4},
    "sources": [],
    "valid_from": "2026-01-31T00:00:00Z",
    "valid_to": None,
    "recorded_at": "2026-02-01T00:00:00Z",
    "tokens": 12,
}
FOUND = {
    "retrieval_id": ID,
    "items": [HIT],
    "text": "…",
    "tokens": 12,
    "token_counter": "words",
    "budget_tokens": 500,
    "policy": "fixed",
    "left_out": {},
}


# --- remember ----------------------------------------------------------------------------

WRITTEN = {
    "operation": "UPDATE",
    "kind": "fact",
    "item": ID,
    "version": ID,
    "target": ID,
    "decision": ID,
    "reason": "new value",
    "by": "rules",
}
REMEMBERED = {
    "change_id": ID,
    "position": 3,
    "written": [WRITTEN],
    "added": 0,
    "updated": 1,
    "deleted": 0,
    "unchanged": 0,
}


def test_remember_tells_a_text_and_shows_what_became_of_it(run, server):
    server.answers = {"POST /v1/remember": REMEMBERED}

    result = run(
        "remember", "Ana's office is C14.", "-n", "demo", "--subject", "ana", "--at",
        "2026-01-31T10:00:00+01:00", "--time-zone", "Europe/Oslo",
    )  # fmt: skip

    assert result.exit_code == 0
    assert server.body() == {
        "namespace": "demo",
        "text": "Ana's office is C14.",
        "subject": "ana",
        "at": "2026-01-31T09:00:00+00:00",
        "time_zone": "Europe/Oslo",
    }
    for shown in ("UPDATE", "fact", "new value", "rules", ID):
        assert shown in result.stdout
    assert "0 added, 1 updated, 0 ended, 0 unchanged" in result.stderr


def test_remember_refuses_a_time_that_is_none(run, server):
    refused = run("remember", "x", "-n", "demo", "--at", "yesterday")
    assert refused.exit_code == 2
    assert server.requests == []


# --- retrieve ----------------------------------------------------------------------------


def test_retrieve_shows_what_was_found_and_why(run, server):
    server.answers = {"POST /v1/retrieve": FOUND}

    result = run("retrieve", "put towel on cart", "-n", "demo", "--k", "3", "--kind", "skill")

    assert result.exit_code == 0
    assert server.body() == {
        "query": "put towel on cart",
        "namespace": "demo",
        "k": 3,
        "kinds": ["skill"],
    }
    for shown in ("skill", "Put [red]things[/red] on carts", "0.750", "0.80 of 4", "It says what"):
        assert shown in result.stdout
    assert ID in result.stderr


def test_retrieve_takes_several_namespaces_a_budget_and_a_type(run, server):
    server.answers = {"POST /v1/retrieve": FOUND}

    run("retrieve", "q", "-n", "a", "-n", "b/**", "--budget-tokens", "500", "--task-type", "t")

    asked = server.body()
    assert asked["namespaces"] == ["a", "b/**"]
    assert (asked["budget_tokens"], asked["task_type"]) == (500, "t")


def test_retrieve_asks_about_other_times_and_refuses_one_without_an_offset(run, server):
    server.answers = {"POST /v1/retrieve": FOUND}
    times = ("--as-of", "2026-01-31T01:00:00+01:00", "--known-at", "2026-02-01T00:00:00Z")

    run("retrieve", "q", "-n", "a", *times)
    refused = run("retrieve", "q", "-n", "a", "--as-of", "2026-01-31T00:00:00")

    asked = server.body()
    assert datetime.fromisoformat(asked["as_of"]) == datetime(2026, 1, 31, tzinfo=UTC)
    assert datetime.fromisoformat(asked["known_at"]) == datetime(2026, 2, 1, tzinfo=UTC)
    assert refused.exit_code == 2
    assert len(server.requests) == 1


# --- grep --------------------------------------------------------------------------------

LINE = {
    "id": ID,
    "version_id": None,
    "namespace": "demo",
    "kind": "trajectory",
    "part": "observation",
    "step": 3,
    "line_number": 2,
    "line": "a red light ERR-4471-B\x1b[2J",
    "match_start": 12,
    "match_end": 22,
    "cut": False,
    "before": ["it hums"],
    "after": ["it beeps"],
    "at": "2026-01-31T00:00:00Z",
}


def test_grep_shows_each_line_with_where_it_stands(run, server):
    server.answers = {"POST /v1/grep": {"rows": [LINE], "next_cursor": None}}
    flags = (
        "-F",
        "-i",
        "-B",
        "1",
        "-A",
        "2",
        "--kind",
        "trajectory",
        "--until",
        "2026-02-01T00:00Z",
    )

    result = run("grep", "err-4471-b", "-n", "demo", *flags)

    assert result.exit_code == 0
    asked = server.body()
    assert (asked["pattern"], asked["literal"], asked["ignore_case"]) == ("err-4471-b", True, True)
    assert (asked["before"], asked["after"], asked["kinds"]) == (1, 2, ["trajectory"])
    assert asked["to"].startswith("2026-02-01")
    shown = result.stdout.splitlines()
    assert shown[0] == f"demo trajectory {ID} observation 3, line 2:"
    assert [line.strip() for line in shown[1:4]][::2] == ["it hums", "it beeps"]
    assert "ERR-4471-B" in shown[2]
    assert "\x1b" not in result.stdout


def test_grep_goes_on_where_time_ran_out_and_stops_at_its_limit(run, server):
    pages = [
        {"rows": [LINE], "next_cursor": "one", "truncated": True},
        {"rows": [], "next_cursor": "two", "truncated": True},
        {"rows": [LINE], "next_cursor": "three"},
    ]
    server.answers = {"POST /v1/grep": pages}

    result = run("grep", "ERR", "-n", "demo", "--limit", "2", "--json")

    assert len(json.loads(result.stdout)["rows"]) == 2
    assert [server.body(n).get("cursor") for n in range(3)] == [None, "one", "two"]
    assert [server.body(n)["limit"] for n in range(3)] == [2, 1, 1]
    assert len(server.requests) == 3


def test_json_is_one_object_and_nothing_else_on_stdout(run, server):
    server.answers = {"POST /v1/retrieve": FOUND}

    result = run("retrieve", "q", "-n", "demo", "--json")

    assert result.stdout.count("\n") == 1
    assert json.loads(result.stdout)["items"][0]["why"] == "It says what to do."


def test_finding_nothing_is_said(run, server):
    server.answers = {"POST /v1/retrieve": {**FOUND, "items": []}}
    assert "Nothing was found" in run("retrieve", "q", "-n", "demo").stdout


def test_stored_text_cannot_steer_the_terminal(run, server):
    evil = {**HIT, "title": "a\x1b[2Jb\x07c", "why": "x\u202ey"}
    server.answers = {"POST /v1/retrieve": {**FOUND, "items": [evil]}}

    shown = run("retrieve", "q", "-n", "demo").stdout
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert "[2Jb" in shown


# --- distill, consolidate, undo ----------------------------------------------------------


def test_distill_waits_and_prints_the_report(run, server, operation):
    done = operation("succeeded", report={"skills_added": 7, "by_method": {"hints": 2}})
    server.answers = {
        "POST /v1/distill": operation("pending"),
        f"GET /v1/operations/{ID}": [operation("running"), done],
    }

    result = run("distill", "--namespace", "demo", "--method", "workflows")

    assert result.exit_code == 0
    assert server.body(0) == {"namespace": "demo", "methods": ["workflows"]}
    assert "succeeded" in result.stdout
    assert "skills added" in result.stdout
    assert "hints 2" in result.stdout


def test_a_long_report_is_cut_to_what_a_person_reads(run, server, operation):
    actions = [{"kind": "merge", "item": f"i{n}", "reason": f"because {n}"} for n in range(3)]
    told = {"kept": [f"k{n}" for n in range(70)], "heads": {"a": "b"}, "actions": actions}
    server.answers = {f"GET /v1/operations/{ID}": operation("succeeded", report=told)}

    shown = run("operations", "show", ID).stdout

    assert "70 (listed by --json)" in shown
    assert "k5" not in shown
    assert "a b" in shown
    assert "because 2" in shown
    assert json.loads(run("operations", "show", ID, "--json").stdout)["report"] == told


def test_each_change_of_an_operation_can_be_taken_back_the_newest_first(run, server, operation):
    done = operation("succeeded", report={"changes": ["c1", "c2"]}, change_id=ID)
    server.answers = {f"GET /v1/operations/{ID}": done}

    said = run("operations", "show", ID).stderr
    assert said.index("memserver undo c2") < said.index("memserver undo c1")


def test_without_wait_the_operation_is_shown_as_it_started(run, server, operation):
    server.answers = {"POST /v1/distill": operation("pending")}

    result = run("distill", "-n", "demo", "--no-wait", "--json")

    assert json.loads(result.stdout)["state"] == "pending"
    assert len(server.requests) == 1


def test_an_operation_that_fails_ends_the_command_with_its_reason(run, server, operation):
    server.answers = {
        "POST /v1/distill": operation("pending"),
        f"GET /v1/operations/{ID}": operation("failed", error="the disk\nis full"),
    }

    result = run("distill", "-n", "demo")

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("operation_failed: ")
    assert "the disk is full" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_plan_says_how_to_apply_it(run, server, operation):
    plan = operation("succeeded", verb="consolidate", report={"merges": []})
    server.answers = {
        "POST /v1/consolidate": operation("pending"),
        f"GET /v1/operations/{ID}": plan,
    }

    result = run("consolidate", "-n", "demo")

    assert server.body(0) == {"namespace": "demo", "apply": False}
    assert f"memserver consolidate --namespace demo --apply --plan {ID}" in result.stderr


def test_applying_a_plan_says_how_to_take_it_back(run, server, operation):
    server.answers = {
        "POST /v1/consolidate": operation("pending"),
        f"GET /v1/operations/{ID}": operation("succeeded", change_id=ID),
    }

    result = run("consolidate", "-n", "demo", "--apply", "--plan", ID)

    assert server.body(0) == {"namespace": "demo", "apply": True, "plan": ID}
    assert f"memserver undo {ID}" in result.stderr


def test_a_plan_without_apply_is_a_misuse(run, server):
    result = run("consolidate", "-n", "demo", "--plan", ID)

    assert result.exit_code == 2
    assert server.requests == []


def test_undo_tells_what_it_did(run, server):
    server.answers = {f"POST /v1/changes/{ID}/undo": {"undoes": ID, "rows": 4, "change_id": ID}}

    assert "4 rows" in run("undo", ID, "--reason", "a mistake").stdout
    assert server.params()["reason"] == "a mistake"


# --- operations and keys -----------------------------------------------------------------


def test_operations_are_listed_over_all_pages(run, server, operation):
    server.answers = {
        "GET /v1/operations": [
            {"rows": [operation("running")], "next_cursor": "more"},
            {"rows": [operation("failed", error="no")], "next_cursor": None},
        ]
    }

    result = run("operations", "list", "--state", "running", "--json")

    assert [json.loads(line)["state"] for line in result.stdout.splitlines()] == [
        "running",
        "failed",
    ]
    assert server.params() == {"state": "running", "cursor": "more"}


def test_a_shortened_list_says_so(run, server, operation):
    server.answers = {
        "GET /v1/operations": {"rows": [operation("running")] * 3, "next_cursor": None}
    }
    assert "raise --limit" in run("operations", "list", "--limit", "2").stderr
    assert "raise --limit" not in run("operations", "list", "--limit", "3").stderr


@pytest.mark.parametrize(
    ("verb", "request_line"),
    [
        ("show", f"GET /v1/operations/{ID}"),
        ("cancel", f"POST /v1/operations/{ID}/cancel"),
        ("retry", f"POST /v1/operations/{ID}/retry"),
    ],
)
def test_one_operation_is_shown_stopped_or_started_again(
    run, server, operation, verb, request_line
):
    server.answers = {request_line: operation("cancelling")}

    result = run("operations", verb, ID)

    assert result.exit_code == 0
    assert "cancelling, 1 of 3" in result.stdout
    assert len(server.requests) == 1


def test_a_new_keys_secret_alone_is_on_stdout(run, server):
    server.answers = {
        "POST /v1/keys": {
            "id": ID,
            "key": "ms_secret",
            "role": "reader",
            "grants": ["a", "b/**"],
            "tenant": "t",
            "label": "ci",
        }
    }

    result = run(
        "keys", "create", "--role", "reader", "--grant", "a", "--grant", "b/**", "--label", "ci"
    )

    assert result.stdout == "ms_secret\n"
    assert ID in result.stderr
    assert server.body() == {
        "role": "reader",
        "grants": ["a", "b/**"],
        "label": "ci",
        "unseals": False,
    }


def test_keys_are_listed_and_revoked(run, server):
    key = {
        "id": ID,
        "role": "admin",
        "grants": ["**"],
        "label": "first",
        "created_at": "2026-01-01T00:00:00Z",
        "revoked_at": None,
    }
    server.answers = {
        "GET /v1/keys": {"rows": [key]},
        f"DELETE /v1/keys/{ID}": {**key, "revoked_at": "2026-01-02T00:00:00Z"},
    }

    assert "first" in run("keys", "list").stdout
    assert run("keys", "revoke", ID, "--json").stdout.endswith("\n")
    assert server.requests[-1].method == "DELETE"


# --- refusals ----------------------------------------------------------------------------


def test_a_refusal_is_one_line_with_its_code_and_exit_status_one(run, server, problem):
    server.answers = {"POST /v1/retrieve": problem(403, "namespace_forbidden", "Not\nyours.")}

    result = run("retrieve", "q", "-n", "demo", "--json")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "namespace_forbidden: Not yours.\n"


def test_a_server_that_is_not_there_is_named(run, server):
    def refuse(request):
        raise httpx.ConnectError("refused")

    server.answers = {"POST /v1/retrieve": refuse}
    result = run("retrieve", "q", "-n", "demo")

    assert result.exit_code == 1
    assert result.stderr.startswith("connection_failed: No answer from http://memory.test")


@pytest.mark.parametrize("missing", ["MEMSERVER_URL", "MEMSERVER_API_KEY"])
def test_a_missing_address_or_key_is_a_misuse(run, missing):
    env = {"MEMSERVER_URL": "http://memory.test", "MEMSERVER_API_KEY": "k"}
    del env[missing]

    result = run("keys", "list", env=env)

    assert result.exit_code == 2
    assert missing in result.stderr


def test_url_and_key_may_be_given(run, server):
    server.answers = {"GET /v1/keys": {"rows": []}}
    run("keys", "list", "--url", "http://other.test", "--api-key", "mine", env={})

    assert server.requests[0].url.host == "other.test"
    assert server.requests[0].headers["Authorization"] == "Bearer mine"


@pytest.mark.parametrize(
    "arguments",
    [
        ["retrieve", "q"],
        ["retrieve", "q", "-n", "a", "--k", "0"],
        ["operations", "list", "--state", "bored"],
        ["keys", "create", "--grant", "a", "--role", "king"],
        ["dance"],
    ],
    ids=" ".join,
)
def test_a_misuse_is_exit_status_two(run, server, arguments):
    assert run(*arguments).exit_code == 2
    assert server.requests == []
