"""What attackers and careless users do to the skill library."""

import base64
import json
from typing import Any

import pytest

from memserver_skills.agent_skills.archive import write_zip
from tests.integration.conftest import App
from tests.integration.test_skills_in_and_out import (
    KEY,
    exported,
    offered,
    only,
    promote,
    send,
    skill_md,
    space,
    taken,
)


def front(more: str, name: str = "fry-an-egg") -> bytes:
    return f"---\nname: {name}\n{more}\n---\nHeat the pan.\n".encode()


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def line(**body: Any) -> bytes:
    told = {"title": "Fry", "body": {"when": "hungry", **body}}
    return json.dumps(told).encode()


def test_who_deletes_what_is_in_quarantine_and_brings_it_back_has_not_promoted_it(
    shared_app: App,
) -> None:
    caller, where = shared_app.admin, space()
    skill = only(caller, where, skill_md())
    for _ in range(2):
        caller.delete(f"/v1/skills/{skill}")
        caller.post(f"/v1/memories/{skill}/restore", {})
    assert caller.get(f"/v1/skills/{skill}")["status"] == "quarantined"

    promote(caller, skill)
    caller.delete(f"/v1/skills/{skill}")
    caller.post(f"/v1/memories/{skill}/restore", {})
    assert offered(caller, where) == [skill]


@pytest.mark.parametrize(
    ("code", "content", "kind"),
    [
        ("front_matter_yaml", front('description: "\\UFFFFFFFF"'), "markdown"),
        ("front_matter_yaml", front('description: "\\U00110000"'), "markdown"),
        ("front_matter_characters", front('description: "\\uD800"'), "markdown"),
        ("front_matter_characters", front('description: "a\\0b"'), "markdown"),
        ("front_matter_characters", front('metadata:\n  "\\uDC00": b'), "markdown"),
        ("path_traversal", line(files=[{"path": "../../evil", "content": "x"}]), "jsonl"),
        ("path_twice", line(files=[{"path": "a", "content": "x"}] * 2), "jsonl"),
        ("file_encoding", line(files=[{"path": "a", "content": "x", "encoding": "x"}]), "jsonl"),
        ("form_unknown", line(form="nonsense"), "jsonl"),
        ("slot_name", line(slots=[{"name": "a}{b"}]), "jsonl"),
        ("body_empty", line(when=""), "jsonl"),
        ("too_many_steps", line(steps=[{"action": "a"}] * 1_001), "jsonl"),
        ("too_many_skills", (line() + b"\n") * 5_001, "jsonl"),
        ("body_empty", b'{"kind": "rule", "title": "r", "body": {"text": ""}}', "jsonl"),
    ],
)
def test_what_no_request_could_say_is_refused_in_a_file_as_well(
    shared_app: App, code: str, content: bytes, kind: str
) -> None:
    reply = send(shared_app.admin, space(), content, kind)

    assert (reply.status_code, reply.json()["code"]) == (422, "skills_refused")
    assert code in [one["code"] for one in reply.json()["extra"]["refused"]]


def test_a_file_that_would_lie_outside_its_skill_is_refused_over_http_too(shared_app: App) -> None:
    body = {"when": "x", "text": "y", "files": [{"path": "../x", "content": "z"}]}
    reply = shared_app.admin("POST", "/v1/skills", json={"namespace": space(), "body": body})

    assert (reply.status_code, reply.json()["code"]) == (422, "invalid_body")


@pytest.mark.parametrize(
    "metadata",
    [
        {"skillrl": {"empty": [["a"]], "entry": {"description": 5}, "place": True}},
        {"skillrl": {"empty": 5, "entry": {"title": "a", "principle": 5}, "bank": 3}},
        {"skillrl": {"bank": {"general_skills": ["mine alone"]}}, "skill_id": {"a": 1}},
    ],
)
def test_metadata_of_one_skill_neither_break_nor_replace_the_bank_of_all(
    shared_app: App, metadata: dict[str, Any]
) -> None:
    caller, where = shared_app.admin, space()
    for title, kept in (("Own", {}), ("Odd", metadata)):
        body = {"when": "hungry", "text": title}
        caller.post(
            "/v1/skills", {"namespace": where, "title": title, "body": body, "metadata": kept}
        )
    bank = exported(caller, "/v1/skills/export", namespace=where).json()

    assert sorted(one["title"] for one in bank["general_skills"]) == ["Odd", "Own"]


def test_what_a_bank_says_beside_its_entries_is_kept_once(shared_app: App) -> None:
    caller, where = shared_app.admin, space()
    entry = {"title": "t", "principle": "p"}
    bank = {
        "general_skills": [{**entry, "skill_id": f"g{n}", "title": f"t{n}"} for n in range(20)],
        "task_specific_skills": {"empty": []},
        "common_mistakes": [],
        "about": "x" * 50_000,
    }
    taken(caller, where, json.dumps(bank).encode(), "skillrl")
    rows = caller.rows("/v1/skills", namespace=where, status="quarantined")

    assert sum(len(json.dumps(row)) for row in rows) < 100_000
    assert exported(caller, "/v1/skills/export", namespace=where, status="any").json() == bank


ESCAPED = KEY.replace("s", "\\x73", 1).replace("B", "\\u0042")


@pytest.mark.parametrize(
    "content",
    [
        front(f'description: "{ESCAPED}"'),
        front(f'description: "{KEY[:20]}\\\n  {KEY[20:]}"'),
        front(f'description: d\nmetadata:\n  k: "{KEY[:20]}\\\n  {KEY[20:]}"'),
        skill_md(body=f"{'z' * 10} {KEY}\u2066 x"),
        skill_md(more=f"allowed-tools: Bash({KEY})\n"),
    ],
)
def test_no_part_or_spelling_of_a_secret_is_kept_or_answered(
    shared_app: App, content: bytes
) -> None:
    caller, where = shared_app.admin, space()
    report = taken(caller, where, content)
    [skill] = report["ids"]
    shown = json.dumps([report, caller.get(f"/v1/skills/{skill}/card")])

    assert not any(part in shown for part in (KEY, KEY[20:44], "x73k-proj"))
    assert exported(caller, f"/v1/skills/{skill}/export").status_code == 200


def test_the_reply_that_is_kept_for_a_repetition_holds_no_secret_either(shared_app: App) -> None:
    files = {f"{KEY}/b/SKILL.md": skill_md("b"), f"{KEY}.txt": b"x"}
    reply = shared_app.admin(
        "POST",
        "/v1/skills/import",
        params={"namespace": space()},
        content=write_zip(files),
        headers={"Content-Type": "application/zip", "Idempotency-Key": "once"},
    )

    assert (reply.status_code, KEY in reply.text) == (201, False)
    [held] = {one["where"] for one in reply.json()["skills"]}
    assert held.startswith("[SECRET:")


@pytest.mark.parametrize(
    "files",
    [
        {"a/SKILL.md": skill_md("a"), f"a/{KEY}.txt": b"x"},
        {"a/SKILL.md": front(f"description: {encoded(KEY)}", "a")},
        {"a/SKILL.md": skill_md("a", more=f"metadata:\n  k: {encoded(KEY)}\n")},
        {"a/SKILL.md": skill_md("a", body=encoded(encoded(KEY)))},
    ],
)
def test_a_skill_is_refused_that_hides_a_secret_where_it_cannot_be_taken_out(
    shared_app: App, files: dict[str, bytes]
) -> None:
    reply = send(shared_app.admin, space(), write_zip(files), "zip")

    assert [one["code"] for one in reply.json()["extra"]["refused"]] == ["hidden_secret"]
    assert KEY not in reply.text


def test_what_reads_as_several_tools_is_covered_by_the_name_of_none(shared_app: App) -> None:
    caller, where = shared_app.admin, space()
    caller(
        "PUT",
        "/v1/namespaces/settings",
        params={"namespace": where},
        json={"allowed_tools": ["Bash"]},
    )
    body = {"when": "x", "text": "y", "tools": ["Bash(ls) Write"]}
    reply = caller("POST", "/v1/skills", json={"namespace": where, "body": body})

    assert (reply.status_code, reply.json()["code"]) == (422, "tool_not_allowed")


def test_a_task_is_routed_by_skills_that_are_in_use_alone(shared_app: App) -> None:
    caller, where = shared_app.admin, space()
    waiting, gone = only(caller, where, skill_md()), only(caller, where, skill_md("gone"))
    caller.delete(f"/v1/skills/{gone}")
    note = {"namespace": where, "kind": "note", "body": {"text": "not for routing"}}
    for item in (waiting, gone, caller.post("/v1/memories", note)["id"]):
        asked = {"namespace": where, "skills": [item], "agents": ["ann"]}
        assert caller("POST", "/v1/route", json=asked).status_code == 404

    assert caller("GET", f"/v1/memories/{gone}/worth").status_code == 404
