"""Consolidation over HTTP: a redundant bank shrinks and says the same, facts keep their past, what
cannot be merged stays and says why, and undo puts everything back."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from memserver.domain.items import Body, HintBody, RuleBody, SkillBody
from memserver.domain.ports import Writer
from memserver.services.remembering import Content
from memserver_skills.steps_score import score_steps, step_lines
from tests.integration.conftest import App, Finish

NS = "demo/redundant"
COPIES = 7
SAID = (
    "Open the upper left drawer of the tall kitchen cabinet first, look at each thing in it "
    "without moving any of them, shut it again before another one is opened, and go on with the "
    "drawers below it in their order from the top to the bottom, the broad one as the last."
)


def everything(app: App) -> str:
    """A hash over all items, whatever their status, as anyone may get them."""
    held = []
    for status in ("active", "archived", "merged", "quarantined"):
        for row in app.admin.rows("/v1/memories", namespace=NS, status=status, limit=200):
            held.append(app.admin.get(f"/v1/memories/{row['id']}"))
    text = json.dumps(sorted(held, key=lambda item: str(item["id"])), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def consolidated(app: App, finished: Finish) -> dict[str, Any]:
    done: dict[str, Any] = finished(
        app.admin.post("/v1/consolidate", {"namespace": NS, "apply": True})
    )
    assert done["state"] == "succeeded", done["error"]
    return done


def remember(app: App, kind: str, body: dict[str, Any], **more: Any) -> dict[str, Any]:
    sent = {"namespace": NS, "body": body, **more}
    if kind == "skill":
        return dict(app.admin.post("/v1/skills", sent))
    return dict(app.admin.post("/v1/memories", {**sent, "kind": kind}))


def reworded(text: str, number: int) -> str:
    """The text in other words, by rule: the same sentences for the same number."""
    rules = (
        (r"\btake\b", "pick up"),
        (r"\bgo to\b", "navigate to"),
        (r"\bopen\b", "Open"),
        (r"\bmove\b", "Move"),
        (r"\.$", ""),
        (r"\bfind\b", "locate"),
    )
    for place, (pattern, said) in enumerate(rules):
        if number >> (place % 3) & 1:
            text = re.sub(pattern, said, text)
    return text


def in_other_words(body: Body, number: int) -> Body:
    def said(text: str) -> str:
        return reworded(text, number)

    match body:
        case SkillBody(steps=steps):
            worded = tuple(replace(step, action=said(step.action)) for step in steps)
            return replace(body, steps=worded)
        case HintBody(do=do, avoid=avoid):
            return replace(body, do=said(do), avoid=said(avoid))
        case RuleBody(text=text):
            return replace(body, text=said(text))
        case _:
            raise AssertionError(body)


def redundant_bank(app: App, finished: Finish, runs: Path) -> int:
    """The skills distilled from real runs, and copies of each in other words."""
    stored = app.admin(
        "POST",
        "/v1/trajectories/import",
        params={"namespace": NS, "format": "alfworld-condensed"},
        content=runs.read_bytes(),
    )
    assert stored.status_code == 201
    finished(app.admin.post("/v1/distill", {"namespace": NS}))
    originals = app.admin.rows("/v1/memories", namespace=NS, limit=200)
    services = app.server.services
    scope = services.access.authenticate(app.admin.key or "")
    namespace = services.access.writable(scope, NS)

    def copy_all(tx: Writer) -> None:
        for number in range(1, COPIES):
            for item in originals:
                entry = tx.item(scope, UUID(item["id"]))
                assert entry is not None
                version = entry.version
                content = Content(
                    f"{version.title}{' ' * number}",
                    in_other_words(version.body, number),
                    task_type=version.task_type,
                )
                services.remembering.remember(tx, scope, namespace, entry.item.kind, content)

    services.store.write(copy_all)
    services.indexer.catch_up()
    return len(app.admin.rows("/v1/memories", namespace=NS, limit=200))


def f1(app: App, held_out: list[dict[str, Any]]) -> float:
    """How well the best skill that is retrieved tells what the good run of each goal did."""
    found = []
    for run in held_out:
        body = {"query": run["goal"], "namespace": NS, "kinds": ["skill"], "k": 1}
        text = app.admin.post("/v1/retrieve", body)["text"]
        found.append(score_steps(step_lines(text), run["actions"]).f1)
    return sum(found) / len(found)


def goals(runs: Path, count: int) -> list[dict[str, Any]]:
    found = []
    for run in json.loads(runs.read_text()):
        told = (run["content"]["refined_trajectory"] or {}).get("refined_trajectory") or []
        actions = [step["action"] for step in told if step["step_index"] >= 0]
        if len(actions) > 2:
            found.append({"goal": run["content"]["task_meta"]["original_goal"], "actions": actions})
    return found[:: max(1, len(found) // count)]


def test_a_redundant_bank_shrinks_sixfold_answers_as_well_and_comes_back_bit_for_bit(
    app: App, finished: Finish, alfworld_runs: Path
) -> None:
    count = redundant_bank(app, finished, alfworld_runs)
    assert count >= 300
    asked = goals(alfworld_runs, 40)
    before, as_it_was = f1(app, asked), everything(app)

    done = consolidated(app, finished)
    report = done["report"]

    left = app.admin.rows("/v1/memories", namespace=NS, limit=200)
    assert len(left) == report["after"]
    assert report["before"] == count >= 6 * report["after"]
    assert f1(app, asked) >= before
    looks = report["inspections"]
    assert 0 < looks["inspect"] + looks["search"] + looks["trace"] <= looks["budget"]
    # Done again it finds nothing: no near-duplicates are left, and the bank does not grow.
    assert consolidated(app, finished)["report"]["applied"] == 0

    app.admin.post(f"/v1/changes/{done['change_id']}/undo")
    assert everything(app) == as_it_was
    assert app.audit()["orphans"] == app.audit()["missing"] == 0


def test_what_contradicts_stays_and_the_report_says_what_would_have_been_lost(
    app: App, finished: Finish
) -> None:
    kept = "when the drawer is closed open it first and then look for the mug inside of it"
    for text in (kept, kept.replace("open it", "do not open it")):
        remember(app, "note", {"text": text}, title="drawers")

    report = consolidated(app, finished)["report"]

    assert report["applied"] == 0
    [refusal] = report["refused"]
    assert "do not open it" in refusal["reasons"][0]
    assert len(app.admin.rows("/v1/memories", namespace=NS)) == 2


def test_one_region_that_is_refused_keeps_no_other_from_being_done(
    app: App, finished: Finish
) -> None:
    kept = "when the drawer is closed open it first and then look for the mug inside of it"
    for text in (kept, kept.replace("open it", "do not open it")):
        remember(app, "note", {"text": text}, title="drawers")
    for text in ("Shut the tap.", "shut the tap!"):
        remember(app, "note", {"text": text})

    report = consolidated(app, finished)["report"]

    assert (len(report["refused"]), report["applied"]) == (1, 1)


def test_skills_that_differ_in_a_thing_become_one_with_a_slot_and_its_values(
    app: App, finished: Finish
) -> None:
    for thing in ("mug", "plate", "towel"):
        steps = ["go to shelf", f"take {thing} from shelf", f"put {thing} in box"]
        body = {
            "when": f"to put a {thing} away",
            "goal": f"put {thing} in box",
            "steps": [{"action": step} for step in steps],
        }
        remember(app, "skill", body, title=f"put {thing} in box")

    done = consolidated(app, finished)

    [skill] = app.admin.rows("/v1/skills", namespace=NS)
    assert skill["version"]["body"]["goal"] == "put {object} in box"
    assert skill["version"]["metadata"]["slot_values"] == {"object": ["mug", "plate", "towel"]}
    assert skill["version"]["method"] == "consolidate/abstracted"
    found = app.admin.post("/v1/retrieve", {"query": "put plate in box", "namespace": NS})
    assert "take plate from shelf" in found["text"]
    merged = {action["item"] for action in done["report"]["actions"]}
    assert merged == set(skill["version"]["metadata"]["replaces"])


def test_a_text_that_says_more_is_joined_and_keeps_sources_and_metadata(
    app: App, finished: Finish
) -> None:
    more = "The key hangs there."
    remember(app, "note", {"text": SAID}, title="drawers", metadata={"by": "ada"})
    remember(app, "note", {"text": f"{SAID} {more}"}, title="drawers", metadata={"room": "kitchen"})
    remember(app, "note", {"text": f"{SAID} Mind the cat."}, title="drawers")

    done = consolidated(app, finished)

    [note] = app.admin.rows("/v1/memories", namespace=NS)
    text = note["version"]["body"]["text"]
    assert text.count(SAID) == 1
    assert more in text
    assert "Mind the cat." in text
    assert {"by", "room", "replaces"} <= note["version"]["metadata"].keys()
    assert done["report"]["after"] == 1


def test_the_belief_of_what_is_replaced_counts_for_what_replaces_it(
    app: App, finished: Finish
) -> None:
    remember(app, "note", {"text": f"{SAID} The key hangs there."}, title="drawers")
    found = app.admin.post("/v1/retrieve", {"query": "drawer", "namespace": NS, "k": 1})
    app.admin.post(
        "/v1/feedback", {"retrieval_id": found["retrieval_id"], "score": 1.0, "source": "judge"}
    )
    remember(app, "note", {"text": f"{SAID} Mind the cat."}, title="drawers")

    consolidated(app, finished)

    [note] = app.admin.rows("/v1/memories", namespace=NS)
    assert note["version"]["method"] == "consolidate/joined"
    assert note["version"]["belief"]["outcomes"] == 1


@pytest.mark.parametrize("apply", [True, False])
def test_facts_of_other_spellings_stay_one_and_what_was_valid_is_never_archived(
    app: App, finished: Finish, apply: bool
) -> None:
    remember(
        app,
        "fact",
        {"entity": "Ada", "key": "city", "value": "Paris"},
        valid_from="2024-01-01T00:00:00Z",
    )
    remember(
        app,
        "fact",
        {"entity": "Ada", "key": "city", "value": "Rome"},
        valid_from="2025-01-01T00:00:00Z",
    )
    finished(app.admin.post("/v1/consolidate", {"namespace": NS, "apply": apply}))

    [fact] = app.admin.rows("/v1/memories", namespace=NS)
    then = app.admin.get(f"/v1/memories/{fact['id']}", as_of="2024-06-01T00:00:00Z")
    assert then["version"]["body"]["value"] == "Paris"
    assert fact["version"]["body"]["value"] == "Rome"
