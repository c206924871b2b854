"""Presets, quotas, neighbours and the rerank of turns, over HTTP and all that is behind it."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memserver.services.retrieval.presets import PRESETS
from tests.fakes.encoder import HashEncoder
from tests.integration.conftest import App, start_app

TALK = [
    ("Ben", "Did you finally buy a boat, or are you still saving for it?"),
    ("Ana", "I bought one at the harbour in June, a red one with two masts."),
    ("Ben", "How lovely."),
    ("Ana", "We sail around the island whenever it is warm."),
    ("Ben", "And what became of the old caravan?"),
    ("Ana", "My cousin in Bergen has it."),
]
THINGS = ["cello", "kayak", "loom", "telescope", "violin", "sledge", "piano", "tent"]


class CountingEncoder(HashEncoder):
    """Counts how often a query is encoded."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[str] = []

    def encode_query(self, text: str) -> Any:
        self.queries.append(text)
        return super().encode_query(text)


@pytest.fixture(scope="module")
def encoder() -> CountingEncoder:
    return CountingEncoder()


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory, encoder: CountingEncoder) -> Iterator[App]:
    with ExitStack() as stack:
        data: Path = tmp_path_factory.mktemp("presets") / "data"
        app = start_app(stack, data, encoder=encoder)
        tell(app, "boats", TALK)
        yield app


def tell(app: App, namespace: str, talk: list[tuple[str, str]]) -> list[str]:
    """Stores the messages as one session's turns; their version ids in order."""
    told = app.admin.post(
        "/v1/remember",
        {
            "namespace": namespace,
            "session": str(uuid4()),
            "at": "2026-06-09T12:00:00Z",
            "messages": [{"speaker": speaker, "text": text} for speaker, text in talk],
        },
    )
    turns = {row["message"]: row["version"] for row in told["written"] if row["kind"] == "note"}
    return [turns[number] for number in range(len(talk))]


def ask(app: App, query: str, namespace: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = app.admin.post(
        "/v1/retrieve", {"query": query, "namespace": namespace, **more}
    )
    return found


def remember(app: App, namespace: str, kind: str, body: Any) -> dict[str, Any]:
    body = {"text": body} if isinstance(body, str) else body
    made: dict[str, Any] = app.admin.post(
        "/v1/memories", {"namespace": namespace, "kind": kind, "body": body}
    )
    return made


def logged(app: App, retrieval_id: str) -> dict[str, Any]:
    """The decision, which is stored without keeping the reply waiting."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        reply = app.admin("GET", f"/v1/decisions/{retrieval_id}")
        if reply.status_code == 200:
            decision: dict[str, Any] = reply.json()
            return decision
        time.sleep(0.01)
    raise AssertionError("the decision was never logged")


def test_an_answer_is_found_by_what_was_asked(talked: App) -> None:
    found = ask(talked, "Who has the caravan?", "boats", kinds=["note"])

    _, answer = found["items"][:2]
    assert answer["text"].endswith("My cousin in Bergen has it.")
    assert answer["arms"].keys() == {"dense", "context_dense", "context_sparse"}
    assert answer["turn"]["ordinal"] == 5
    assert (answer["turn"]["speaker"], answer["memory"]) == ("Ana", "episodic")
    assert "among turns for" in answer["why"]
    assert "the words around it" in answer["why"]


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_each_preset_answers_by_its_own_searches_and_is_named(talked: App, name: str) -> None:
    found = ask(talked, "the boat at the harbour", "boats", preset=name)

    assert found["preset"] == name
    assert found["items"]
    used = {arm for item in found["items"] for arm in item["arms"]}
    assert used <= PRESETS[name].arms
    if name in ("dense", "bm25"):
        assert len(used) == 1


def test_an_unknown_preset_is_refused_by_its_name(talked: App) -> None:
    body = {"query": "boat", "namespace": "boats", "preset": "defualt"}
    refused = talked.admin("POST", "/v1/retrieve", json=body)

    assert refused.status_code == 422
    assert refused.json()["code"] == "unknown_preset"
    assert "'defualt'" in refused.json()["detail"]


def test_neighbours_come_with_a_turn_once_and_count_in_the_budget(talked: App) -> None:
    alone = ask(talked, "a red one with two masts", "boats", kinds=["note"], k=1)
    found = ask(talked, "a red one with two masts", "boats", kinds=["note"], k=1, neighbours=1)

    (hit,) = found["items"]
    assert hit["text"] == alone["items"][0]["text"]
    assert [one["offset"] for one in hit["neighbours"]] == [-1, 1]
    assert [one["turn"]["ordinal"] for one in hit["neighbours"]] == [0, 2]
    before, after = (one["text"] for one in hit["neighbours"])
    assert found["text"] == "\n".join([before, hit["text"], after])
    assert found["tokens"] > alone["tokens"]
    tight = {"k": 1, "neighbours": 1, "kinds": ["note"], "budget_tokens": alone["tokens"]}
    cut = ask(talked, "a red one with two masts", "boats", **tight)
    assert cut["tokens"] <= alone["tokens"]
    assert cut["items"][0]["neighbours"] == []


def test_a_hit_is_no_neighbour_and_no_turn_is_given_twice(talked: App) -> None:
    found = ask(talked, "boat", "boats", kinds=["note"], k=3, neighbours=2)

    given = [item["version_id"] for item in found["items"]]
    given += [one["version_id"] for item in found["items"] for one in item["neighbours"]]
    assert len(given) == len(set(given)) > 3


def test_a_neighbour_that_was_deleted_is_not_shown(talked: App) -> None:
    tell(talked, "short", [("Ana", "I have a red sledge."), ("Ana", "And a secret.")])
    secret = ask(talked, "secret", "short", kinds=["note"], k=1)["items"][0]
    talked.admin.delete(f"/v1/memories/{secret['id']}")

    found = ask(talked, "red sledge", "short", kinds=["note"], k=1, neighbours=3)

    assert found["items"][0]["neighbours"] == []
    assert "secret" not in found["text"]


def test_quotas_bound_the_kinds_that_they_name(talked: App) -> None:
    for number in range(4):
        remember(talked, "quotas", "rule", f"wash cup number {number}")
        remember(talked, "quotas", "preference", f"likes cup number {number}")

    found = ask(talked, "cup number", "quotas", quotas={"rule": 1})

    kinds = [item["kind"] for item in found["items"]]
    assert (kinds.count("rule"), kinds.count("preference")) == (1, 4)
    assert found["left_out"] == {"quota": 3}


def test_the_mix_takes_so_many_of_each_class_and_each_hit_says_of_which_it_is(
    talked: App,
) -> None:
    talk = [("Ana", f"We washed cup number {n} by hand.") for n in range(14)]
    tell(talked, "mixed", talk)
    for number in range(5):
        remember(talked, "mixed", "rule", f"Always wash cup number {number}.")
        body = {"entity": "cup", "key": f"colour {number}", "value": "red"}
        remember(talked, "mixed", "fact", body)

    found = ask(talked, "which cup was washed?", "mixed", preset="mixed")

    classes = [item["memory"] for item in found["items"]]
    assert {name: classes.count(name) for name in set(classes)} == {
        "episodic": 10,
        "semantic": 3,
        "experiential": 3,
    }
    assert {item["kind"] for item in found["items"]} == {"note", "fact", "rule"}


def test_of_what_matches_alike_the_newest_comes_first_where_that_is_asked_for(
    talked: App,
) -> None:
    cups = [remember(talked, "recent", "rule", f"wash cup number {n}")["id"] for n in range(9)]

    usual = ask(talked, "wash cup number", "recent", k=9)
    recent = ask(talked, "wash cup number", "recent", preset="recent", k=9)

    assert not any("recency" in item["arms"] for item in usual["items"])
    ranks = {item["id"]: item["arms"]["recency"]["rank"] for item in recent["items"]}
    assert [ranks[cup] for cup in cups] == list(range(9, 0, -1))
    places = {item["id"]: place for place, item in enumerate(recent["items"])}
    before = {item["id"]: place for place, item in enumerate(usual["items"])}
    assert places[cups[-1]] <= before[cups[-1]]
    assert sum(places[cup] for cup in cups[6:]) < sum(before[cup] for cup in cups[6:])


def test_what_is_known_of_whom_the_question_names_is_found_by_name(talked: App) -> None:
    for number in range(40):
        remember(talked, "people", "rule", f"call the office number {number} by telephone")
    ana = {"entity": "Ana Lund", "key": "mobile", "value": "555 0199"}
    known = remember(talked, "people", "fact", ana)

    found = ask(talked, "By which number do I call ANA LUND's office by telephone?", "people")

    (fact,) = (item for item in found["items"] if item["id"] == known["id"])
    assert fact["arms"]["entity"]["rank"] == 1


def test_filters_hold_for_what_was_found_in_sql(talked: App) -> None:
    remember(talked, "filtered", "rule", "oil the hinges")

    filters = {"created_at": {"lt": "2001-01-01T00:00:00Z"}}
    found = ask(talked, "cup", "filtered", preset="recent", filters=filters)
    by_kind = ask(talked, "cup", "filtered", preset="recent", kinds=["hint"])
    by_type = ask(
        talked, "cup", "filtered", preset="recent", filters={"task_type": {"eq": "kitchen"}}
    )

    assert [found["items"], by_kind["items"], by_type["items"]] == [[], [], []]


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_decision_by_any_preset_replays(talked: App, name: str) -> None:
    found = ask(talked, "Who has the boat with two masts?", "boats", preset=name, neighbours=1)

    decision = logged(talked, found["retrieval_id"])

    assert decision["replays"] is True
    places = {one["id"]: one["rank"] for one in decision["candidates"] if one["packed"]}
    assert [places[item["version_id"]] for item in found["items"]] == list(
        range(1, len(found["items"]) + 1)
    )


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_retrieve_encodes_its_query_once_and_nothing_else(
    talked: App, encoder: CountingEncoder, name: str
) -> None:
    for namespace in ("boats", "mixed", "people"):
        documents, queries = len(encoder.encoded), len(encoder.queries)
        ask(talked, "Who has a boat?", namespace, preset=name, neighbours=2)
        assert len(encoder.queries) == queries + 1
        assert len(encoder.encoded) == documents


def test_the_rerank_gives_more_answers_than_the_order_of_recall_in_the_same_budget(
    talked: App,
) -> None:
    answers = {}
    for number, thing in enumerate(THINGS):
        talk = [
            ("Ben", f"Ana, when did you buy the {thing}? I forgot when you bought that {thing}."),
            ("Ana", f"We found it in a shop, {number + 2} years ago, in spring."),
            ("Ben", f"I would like to buy a {thing} too. When is a {thing} cheap?"),
            ("Ana", "Ask in the shop."),
        ]
        answers[thing] = tell(talked, "things", talk)[1]

    def answered(preset: str) -> int:
        """Of one question a thing, how many have the answer among what fits into 40 words."""
        return sum(
            answer
            in {
                item["version_id"]
                for item in ask(
                    talked,
                    f"When did Ana buy the {thing}?",
                    "things",
                    kinds=["note"],
                    preset=preset,
                    budget_tokens=40,
                )["items"]
            }
            for thing, answer in answers.items()
        )

    assert answered("default") == len(THINGS)
    assert answered("recall") < len(THINGS) / 2
