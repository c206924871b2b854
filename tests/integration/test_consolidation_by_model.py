"""Consolidation with a chat model, over real HTTP on both sides: what it words is taken where the
verifier lets it pass; whatever else it says, the bank is as the rules leave it, and the report
says why."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.fakes.chat_endpoint import Answer, ChatEndpoint, Reply
from tests.integration.conftest import App, start_app, wait_for

SLOWLY = "Open the drawer of the desk slowly and take the mug that is in it."
BLUE = "Open the drawer of the desk and take the blue mug that is in it."
BOTH = "Open the drawer of the desk slowly. Take the blue mug that is in it."
SAME = "The lift in the hall is loud."


class Bank:
    """A namespace of its own with two notes of which each says something more, and two that are
    the same: the rules join these, and leave those."""

    def __init__(self, app: App, endpoint: ChatEndpoint) -> None:
        self.app = app
        self.endpoint = endpoint
        self.namespace = f"n-{uuid4().hex[:12]}"
        for text in (SLOWLY, BLUE, SAME, SAME.lower()):
            self.remember("memories", {"text": text}, kind="note", title="house")

    def remember(self, route: str, body: dict[str, Any], **more: Any) -> None:
        sent = {"namespace": self.namespace, "body": body, **more}
        self.app.admin.post(f"/v1/{route}", sent)

    def says(self, *script: Reply | Answer) -> "Bank":
        self.endpoint.script = list(script)
        self.endpoint.asked.clear()
        return self

    def consolidated(self, **how: Any) -> dict[str, Any]:
        body = {"namespace": self.namespace, "apply": True, **how}
        done = wait_for(self.app.admin, self.app.admin.post("/v1/consolidate", body))
        assert done["state"] == "succeeded", done["error"]
        return done

    def texts(self) -> set[str]:
        rows = self.app.admin.rows("/v1/memories", namespace=self.namespace)
        return {row["version"]["body"]["text"] for row in rows}


def worded(text: str, **more: Any) -> Reply:
    said = {"replaces": [1, 2], "kind": "note", "text": text, **more}
    return Reply(json.dumps({"items": [said]}))


@contextmanager
def opened(data: Path, **settings: Any) -> Iterator[tuple[App, ChatEndpoint]]:
    with ExitStack() as stack:
        endpoint = stack.enter_context(ChatEndpoint(Reply("")))
        yield start_app(stack, data, chat_url=endpoint.url, chat_model="m", **settings), endpoint


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, ChatEndpoint]]:
    data = tmp_path_factory.mktemp("worded") / "data"
    with opened(data, chat_tokens_a_day=100_000_000) as both:
        yield both


@pytest.fixture
def bank(shared: tuple[App, ChatEndpoint]) -> Bank:
    return Bank(*shared)


def test_what_a_model_words_replaces_what_the_rules_left_and_comes_back_by_undo(
    bank: Bank,
) -> None:
    before = bank.texts()

    done = bank.says(worded(BOTH)).consolidated()

    report = done["report"]
    assert len(bank.texts()) == report["after"] == 2
    assert BOTH in bank.texts()
    [told] = report["offered"]
    assert (told["by"], told["reasons"], len(told["items"])) == ("model", [], 2)
    [row] = [
        row
        for row in bank.app.admin.rows("/v1/memories", namespace=bank.namespace)
        if row["version"]["body"]["text"] == BOTH
    ]
    assert row["version"]["method"] == "consolidate/worded"
    assert set(row["version"]["metadata"]["replaces"]) == set(told["items"])
    found = bank.app.admin.post(
        "/v1/retrieve", {"namespace": bank.namespace, "query": "the blue mug of the desk", "k": 1}
    )
    assert BOTH in found["text"]

    bank.app.admin.post(f"/v1/changes/{done['change_id']}/undo")
    assert bank.texts() == before


def test_a_plan_that_a_model_worded_is_carried_out_as_it_was_read(bank: Bank) -> None:
    plan = bank.says(worded(BOTH)).consolidated(apply=False)
    assert len(bank.texts()) == 4

    bank.says(worded("something else")).consolidated(apply=False, plan=plan["id"])

    assert BOTH in bank.texts()
    assert bank.endpoint.asked == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{BOTH} The key is under the mat.", "invented: replacement: The key is under the mat."),
        (BOTH.replace("Take", "Never take"), "invented"),
        ("Open the drawer of the desk slowly.", "omitted"),
    ],
)
def test_a_model_that_makes_up_or_loses_something_is_refused_and_the_report_says_what(
    bank: Bank, text: str, reason: str
) -> None:
    report = bank.says(worded(text)).consolidated()["report"]

    assert bank.texts() >= {SLOWLY, BLUE}
    assert report["after"] == 3
    [told] = report["offered"]
    assert told["by"] == "rules"
    assert any(one.startswith(reason) for one in told["reasons"])
    # The rules' own work is done.
    assert {action["rule"] for action in report["actions"]} <= {
        "near_duplicate",
        "exact_duplicate",
    }


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Reply("I would rather not."), "model: unfit"),
        (Reply('{"items": [{"replaces": "all"}]}'), "model: unfit"),
        (Reply('{"items": [{"repl', finish="length"), "model: unfit"),
        (Reply(body=b"<html>"), "model: unavailable"),
        (Reply(status=401), "model: unavailable"),
        (Reply('{"items": []}'), "model: left as they are"),
        (worded(BOTH, replaces=[7, -1]), "it replaces what is not in the region"),
    ],
)
def test_an_answer_that_cannot_be_used_leaves_the_rules_result(
    bank: Bank, said: Reply, reason: str
) -> None:
    report = bank.says(said).consolidated()["report"]

    assert bank.texts() >= {SLOWLY, BLUE}
    assert (report["before"], report["after"]) == (4, 3)
    [told] = report["offered"]
    assert told["by"] == "rules"
    assert told["reasons"][0].startswith(reason)


def test_what_came_to_nothing_is_not_paid_for_again(bank: Bank) -> None:
    bank.says(Reply('{"items": []}')).consolidated()
    asked = len(bank.endpoint.asked)

    report = bank.consolidated()["report"]

    assert asked == len(bank.endpoint.asked) == 1
    assert report["offered"] == []


def test_a_spent_budget_leaves_the_rules_result_and_says_so(tmp_path: Path) -> None:
    with opened(tmp_path / "data", chat_tokens_a_day=100) as (app, endpoint):
        bank = Bank(app, endpoint)
        report = bank.says(worded(BOTH)).consolidated()["report"]

        assert endpoint.asked == []
        assert (report["before"], report["after"]) == (4, 3)
        assert [(one["by"], one["reasons"]) for one in report["offered"]] == [
            ("rules", ["model: budget spent"])
        ]


def test_looks_of_a_model_are_in_the_report(bank: Bank) -> None:
    look = Reply(
        '{"looks": [{"tool": "search", "text": "lift"}, {"tool": "inspect", "number": 1}]}'
    )
    first = bank.says(Reply('{"items": []}')).consolidated(apply=False)["report"]["inspections"]
    other = Bank(bank.app, bank.endpoint)

    report = other.says(look, worded(BOTH)).consolidated(apply=False)["report"]

    assert report["inspections"]["search"] == first["search"] + 1
    assert report["inspections"]["inspect"] == first["inspect"] + 1
    assert "The lift" in other.endpoint.questions()[1] or "house" in other.endpoint.questions()[1]
    assert [one["by"] for one in report["offered"]] == ["model"]


def test_skills_that_differ_in_things_of_several_words_become_one_that_fits_each(
    bank: Bank,
) -> None:
    for thing in ("mug", "bar soap"):
        steps = ["go to shelf", f"take {thing} from shelf", f"put {thing} in box"]
        goal = f"put {thing} in box"
        body = {"when": goal, "goal": goal, "steps": [{"action": step} for step in steps]}
        bank.remember("skills", body, title=goal)
    said = {
        "replaces": [1, 2],
        "kind": "skill",
        "goal": "put {object} in box",
        "steps": ["go to shelf", "take {object} from shelf", "put {object} in box"],
    }
    bank.says(Reply('{"items": []}'), Reply(json.dumps({"items": [said]})))

    report = bank.consolidated()["report"]

    [skill] = bank.app.admin.rows("/v1/skills", namespace=bank.namespace)
    assert skill["version"]["metadata"]["slot_values"] == {"object": ["bar soap", "mug"]}
    assert [one["by"] for one in report["offered"]] == ["rules", "model"]
    for thing in ("mug", "bar soap"):
        query = {"namespace": bank.namespace, "query": f"put {thing} in box", "kinds": ["skill"]}
        assert f"take {thing} from shelf" in bank.app.admin.post("/v1/retrieve", query)["text"]
