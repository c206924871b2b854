"""Distilling principles, a skill bank, reflections, strategies and rubrics through the API: what is
written, from what, that it is found at once, and that the same runs teach nothing twice. By rules,
and in a chat model's words."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import pytest

from tests.fakes.chat_endpoint import ChatEndpoint, Reply
from tests.integration.conftest import App, start_app, wait_for

METHODS = ["principles", "skillbank", "reflections", "strategies", "rubrics"]


def in_its_words(asked: dict[str, Any]) -> Reply:
    """What is shown, with another title."""
    shown = json.loads(asked["messages"][-1]["content"])
    return Reply(json.dumps({**shown, "title": f"In short: {shown['title']}"}))


class Kitchen:
    """A namespace of its own with runs of two types: `put` is solved, `heat` mostly not."""

    def __init__(self, app: App, endpoint: ChatEndpoint) -> None:
        self.app = app
        self.endpoint = endpoint
        endpoint.asked.clear()
        self.namespace = f"n-{uuid4().hex[:12]}"
        for thing, place in [("mug", "cart"), ("pen", "sofa"), ("book", "bed")]:
            self.run(f"put some {thing} on {place}.", _put(thing, place), kind="put")
        heated = "heat some egg and put it in bowl."
        self.run(heated, [*_put("egg", "oven"), "heat egg with oven"], kind="heat")
        for thing in ("egg", "pan", "cup"):
            goal = f"heat some {thing} and put it in bowl."
            told = f"sang of the {thing} by the shelf"
            self.run(goal, ["go to shelf", "sing loudly"], kind="heat", success=False, told=told)

    def run(
        self, goal: str, actions: Sequence[str], *, kind: str, success: bool = True, told: str = ""
    ) -> None:
        self.app.admin.post(
            "/v1/trajectories",
            {
                "namespace": self.namespace,
                "task": {"goal": goal, "type": kind},
                "steps": [{"action": action} for action in actions],
                "outcome": {"score": float(success), "success": success},
                "mistakes": [told] if told else [],
            },
        )

    def distilled(self, *methods: str, **how: Any) -> dict[str, Any]:
        body = {"namespace": self.namespace, "methods": methods or METHODS, **how}
        done = wait_for(self.app.admin, self.app.admin.post("/v1/distill", body))
        assert done["state"] == "succeeded", done["error"]
        report: dict[str, Any] = done["report"]
        return report

    def items(self) -> dict[str, dict[str, Any]]:
        rows = self.app.admin.rows("/v1/memories", namespace=self.namespace, limit=100)
        return {row["id"]: row for row in rows}

    def versions(self) -> set[str]:
        return {row["version"]["id"] for row in self.items().values()}


def _put(thing: str, place: str) -> list[str]:
    return [
        "go to shelf",
        f"take {thing} from shelf",
        f"go to {place}",
        f"move {thing} to {place}",
    ]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, ChatEndpoint]]:
    with ExitStack() as stack:
        endpoint = stack.enter_context(ChatEndpoint(in_its_words))
        data = tmp_path_factory.mktemp("skills") / "data"
        settings: dict[str, Any] = {"chat_url": endpoint.url, "chat_model": "m"}
        yield start_app(stack, data, chat_tokens_a_day=100_000_000, **settings), endpoint


@pytest.fixture
def kitchen(opened: tuple[App, ChatEndpoint]) -> Kitchen:
    return Kitchen(*opened)


def test_each_item_names_its_method_and_its_source_steps_and_nothing_is_written_twice(
    kitchen: Kitchen,
) -> None:
    report = kitchen.distilled()

    assert all(report[method]["written"] == report[method]["proposed"] > 0 for method in METHODS)
    runs = {
        run["id"]: run
        for run in kitchen.app.admin.rows("/v1/trajectories", namespace=kitchen.namespace)
    }
    items = kitchen.items()
    assert {row["version"]["method"] for row in items.values()} == {
        f"distill/{method}" for method in METHODS
    }
    for row in items.values():
        sources = row["version"]["sources"]
        assert sources
        for source in sources:
            count = len(runs[source["trajectory_id"]]["steps"])
            assert all(0 <= step < count for step in source["steps"])
    assert any(source["steps"] for row in items.values() for source in row["version"]["sources"])

    before = kitchen.versions()
    again = kitchen.distilled()

    assert [again[method]["written"] for method in METHODS] == [0] * len(METHODS)
    assert "changes" not in again
    assert kitchen.versions() == before
    assert kitchen.endpoint.asked == []


def test_what_a_weak_type_has_learned_is_found_at_once_and_a_strong_one_learns_nothing(
    kitchen: Kitchen,
) -> None:
    kitchen.distilled("skillbank")
    before = set(kitchen.items())
    kitchen.run("put some cup on cart.", ["go to sofa", "dance"], kind="put", success=False)
    for _ in range(2):
        kitchen.run("heat some jar and put it in bowl.", ["jump high"], kind="heat", success=False)

    assert kitchen.distilled("skillbank")["skillbank"]["written"] > 0

    items = kitchen.items()
    new = [items[name]["version"] for name in set(items) - before]
    assert {version["task_type"] for version in new} == {"heat"}
    ids = [row["version"]["metadata"]["skill_id"] for row in items.values()]
    assert len(set(ids)) == len(ids)
    found = kitchen.app.admin.post(
        "/v1/retrieve",
        {"namespace": kitchen.namespace, "query": "heat some jar, jump high", "k": 50},
    )
    assert {version["item_id"] for version in new} <= {item["id"] for item in found["items"]}


def test_a_principle_that_was_taken_away_is_not_written_again(kitchen: Kitchen) -> None:
    kitchen.distilled("principles")
    [warning] = [row for row in kitchen.items().values() if "sing loudly" in row["title"]]
    kitchen.app.admin.delete(f"/v1/memories/{warning['id']}")

    assert kitchen.distilled("principles")["principles"]["written"] == 0
    assert warning["id"] not in kitchen.items()


def test_a_models_words_are_kept_and_the_same_runs_are_not_asked_about_again(
    kitchen: Kitchen,
) -> None:
    first = kitchen.distilled("rubrics", words="model")["rubrics"]

    assert first["reworded"] == first["proposed"] == first["written"] > 0
    assert (first["refused"], first["left"]) == (0, 0)
    assert len(kitchen.endpoint.asked) == first["proposed"]
    items = kitchen.items().values()
    assert all(row["title"].startswith("In short: ") for row in items)
    assert all(row["version"]["metadata"]["worded_from"] for row in items)

    versions = kitchen.versions()
    for words in ("model", "rules"):
        assert kitchen.distilled("rubrics", words=words)["rubrics"]["written"] == 0
    assert kitchen.versions() == versions
    assert len(kitchen.endpoint.asked) == first["proposed"]


def test_words_of_another_kind_are_refused(kitchen: Kitchen) -> None:
    sent = {"namespace": kitchen.namespace, "words": "mine"}

    assert kitchen.app.admin("POST", "/v1/distill", json=sent).status_code == 422
