"""Wrong updates: what is told twice, told anew, taken back or sent back leaves one true item, with
its history, its metadata and nothing that was never said."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from memserver.ids import uuid7
from memserver.services.writing.rules import rule
from tests.integration.conftest import App, Caller, on_both_databases, start_app
from tests.unit.writing.told import NOW, a_fact, neighbour_of

KINDS = ["fact", "note", "preference", "hint", "rule", "principle", "skill", "case", "summary"]


@dataclass(frozen=True)
class Place:
    """A namespace of one test in an app of all."""

    within: App
    namespace: str

    @property
    def admin(self) -> Caller:
        return self.within.admin


_numbers = itertools.count()


@pytest.fixture
def app(module_app: App) -> Place:
    return Place(module_app, f"truth-{next(_numbers)}")


def told(app: Place, **what: Any) -> dict[str, Any]:
    answer: dict[str, Any] = app.admin.post("/v1/remember", {"namespace": app.namespace, **what})
    return answer


def operations(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["operation"], one["reason"]) for one in answer["written"]]


def items(app: Place) -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in app.admin.rows("/v1/memories", namespace=app.namespace)}


def found(app: Place, text: str, **more: Any) -> list[dict[str, Any]]:
    ask = {"query": text, "namespace": app.namespace, "k": 50, **more}
    hits: list[dict[str, Any]] = app.admin.post("/v1/retrieve", ask)["items"]
    return hits


def values(app: Place, item: str) -> list[str]:
    """All that a fact was ever said to be, newest first."""
    versions = app.admin.get(f"/v1/memories/{item}/history")["versions"]
    return [version["body"]["value"] for version in versions]


# --- re-adding an identical memory deletes it --------------------------------------------------

SAID: list[dict[str, Any]] = [
    {"text": "Ana's office is B12."},
    {"text": "The kettle in the kitchen leaks when it is full."},
    {"facts": [{"entity": "oven", "key": "minutes", "value": "10"}]},
    {"messages": [{"speaker": "Ana", "text": "We leave for Bergen in June."}]},
]


@on_both_databases("module_app")
def test_what_is_told_again_stays_and_is_counted_and_never_deleted(app: Place) -> None:
    first = [told(app, **what, **_session(what)) for what in SAID]
    before = items(app)
    for _ in range(3):
        for what in SAID:
            again = told(app, **what, **_session(what))
            assert {one["operation"] for one in again["written"]} == {"NOOP"}
            assert again["searchable"] is True

    assert items(app).keys() == before.keys()
    for answer in first:
        for written in answer["written"]:
            item = app.admin.get(f"/v1/memories/{written['item']}")
            assert item["status"] == "active"
            assert item["version"]["valid_to"] is None
            assert item["version"]["id"] == written["version"], "no version was made of it"
    assert {hit["id"] for hit in found(app, "Ana office kettle oven Bergen", kinds=KINDS)} == set(
        before
    )


@pytest.mark.parametrize("kind", ["note", "preference", "principle", "rule", "fact"])
def test_typed_content_that_is_told_again_is_the_same_item(app: Place, kind: str) -> None:
    body = {"entity": "pot", "key": "size", "value": "2 l"} if kind == "fact" else {"text": "x y"}
    sent = {"namespace": app.namespace, "kind": kind, "body": body}
    ids = {app.admin.post("/v1/memories", sent)["id"] for _ in range(3)}

    assert ids == set(items(app))


def test_no_policy_makes_a_deletion_of_a_restatement() -> None:
    """Whatever a policy would like: the rules admit nothing but to leave it."""
    known = neighbour_of(a_fact("Ana", "office", "B12"))
    ruling = rule(a_fact("ana", "Office", " b12 ", at=NOW), [known])

    assert ruling.binds
    assert ruling.choice.operation == "NOOP"


# --- a contradiction deletes the old fact and never stores the new one, or is never resolved ----


@on_both_databases("module_app")
def test_a_contradiction_leaves_the_new_value_live_and_the_old_one_in_history(app: Place) -> None:
    (first,) = told(app, text="Ana's office is B12.")["written"]
    (second,) = told(app, text="Ana's office is C14.")["written"]
    (third,) = told(app, facts=[{"entity": "ANA", "key": "Office", "value": "D16"}])["written"]

    assert (second["operation"], third["operation"]) == ("UPDATE", "UPDATE")
    assert {first["item"]} == {second["item"], third["item"]} == set(items(app))
    assert values(app, first["item"]) == ["D16", "C14", "B12"]
    history = app.admin.get(f"/v1/memories/{first['item']}/history")["versions"]
    ends = [version["valid_to"] for version in history]
    assert ends[0] is None
    assert ends[1:] == [history[0]["valid_from"], history[1]["valid_from"]]
    hits = [hit["text"] for hit in found(app, "Ana office", kinds=["fact"])]
    assert len(hits) == 1
    assert "D16" in hits[0]


def test_contradictions_within_one_call_are_resolved_in_the_order_said(app: Place) -> None:
    said = [("Ana", "B12"), ("Bo", "A1"), ("Ana", "C14"), ("ANA", "B12")]
    answer = told(
        app, facts=[{"entity": who, "key": "office", "value": which} for who, which in said]
    )

    assert [one["operation"] for one in answer["written"]] == ["ADD", "ADD", "UPDATE", "UPDATE"]
    ana, bo = (answer["written"][n]["item"] for n in (0, 1))
    assert set(items(app)) == {ana, bo}
    assert values(app, ana) == ["B12", "C14", "B12"]
    undone = app.admin.post(f"/v1/changes/{answer['change_id']}/undo")
    assert undone["searchable"] is True
    assert items(app) == {}


@on_both_databases("module_app")
def test_writers_who_contradict_one_another_at_once_leave_one_item_with_all_values(
    app: Place,
) -> None:
    def say(number: int) -> dict[str, Any]:
        return told(app, facts=[{"entity": "Ana", "key": "office", "value": f"R{number}"}])

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(say, range(24)))

    (item,) = items(app)
    assert {one["item"] for answer in answers for one in answer["written"]} == {item}
    assert sorted(values(app, item)) == sorted(f"R{number}" for number in range(24))
    history = app.admin.get(f"/v1/memories/{item}/history")["versions"]
    assert [version["valid_to"] for version in history].count(None) == 1


def test_an_earlier_value_told_late_does_not_hide_the_present_one(app: Place) -> None:
    now = datetime.now(UTC)
    (new,) = told(app, text="Ana's office is C14.", at=now.isoformat())["written"]
    earlier = (now - timedelta(days=30)).isoformat()
    told(app, text="Ana's office is B12.", at=earlier)

    assert app.admin.get(f"/v1/memories/{new['item']}")["version"]["body"]["value"] == "C14"
    assert sorted(values(app, new["item"])) == ["B12", "C14"]


# --- an update drops custom metadata ------------------------------------------------------------


def test_no_update_drops_metadata_that_it_does_not_name(app: Place) -> None:
    office = {"entity": "Ana", "key": "office"}
    (first,) = told(app, facts=[{**office, "value": "B12"}], metadata={"by": "desk", "n": 1})[
        "written"
    ]

    def metadata() -> dict[str, Any]:
        version = app.admin.get(f"/v1/memories/{first['item']}")["version"]
        kept: dict[str, Any] = version["metadata"]
        return kept

    told(app, text="Ana's office is C14.")
    assert metadata() == {"by": "desk", "n": 1}
    told(app, facts=[{**office, "value": "D16"}], metadata={"n": 2, "seen": True})
    assert metadata() == {"by": "desk", "n": 2, "seen": True}
    fact = {"kind": "fact", "body": {**office, "value": "E18"}, "namespace": app.namespace}
    app.admin.post("/v1/memories", fact)
    assert metadata() == {"by": "desk", "n": 2, "seen": True}
    path = f"/v1/memories/{first['item']}/versions"
    app.admin.post(path, {"body": {**office, "value": "F20"}})
    assert metadata() == {"by": "desk", "n": 2, "seen": True}
    app.admin.post(path, {"body": {**office, "value": "G22"}, "metadata": {}})
    assert metadata() == {}


# --- the same episode twice is stored twice -----------------------------------------------------

TALK = [
    {"speaker": "Ana", "text": "Where did we put the ladder?"},
    {"speaker": "Bo", "text": "Behind the shed, I think."},
    {"speaker": "Ana", "text": "Ana's office is B12."},
    {"speaker": "Bo", "text": "ok"},
]


@on_both_databases("module_app")
def test_the_same_episode_is_stored_once_however_it_is_sent_again(app: Place) -> None:
    session = str(uuid7())
    first = told(app, session=session, messages=TALK)
    before, history = items(app), _mentions(app)

    whole = told(app, session=session, messages=TALK)
    assert {reason for _, reason in operations(whole)} == {"same episode"}
    middle = told(app, session=session, messages=TALK[1:3])
    assert {reason for _, reason in operations(middle)} == {"same episode"}
    longer = told(
        app, session=session, messages=[*TALK, {"speaker": "Ana", "text": "Found it, thanks!"}]
    )
    new = [one for one in longer["written"] if one["operation"] == "ADD"]
    assert [one["message"] for one in new] == [4]

    assert set(items(app)) == {*before, new[0]["item"]}
    assert _mentions(app) == {**history, new[0]["item"]: 0}, "what is sent again is not said again"
    assert first["session"] == session


def test_a_retry_under_one_idempotency_key_tells_nothing_twice(app: Place) -> None:
    sent = {"namespace": app.namespace, "messages": TALK}
    headers = {"Idempotency-Key": "once"}
    answers = [
        app.admin("POST", "/v1/remember", json=sent, headers=headers).json() for _ in range(3)
    ]

    assert answers[0] == answers[1] == answers[2]
    assert len(items(app)) == len(TALK) + 1


def test_what_is_said_twice_in_a_conversation_is_two_turns(app: Place) -> None:
    session = str(uuid7())
    for text in ("Shall we go?", "ok", "And then to the lake?", "ok"):
        told(app, session=session, messages=[{"speaker": "Ana", "text": text}])

    assert len(items(app)) == 4


def test_writers_who_send_one_conversation_at_once_store_it_once(app: Place) -> None:
    session = str(uuid7())
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: told(app, session=session, messages=TALK), range(12)))

    assert len(items(app)) == len(TALK) + 1


# --- dedupe by vector misses exact names --------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann Smith keeps bees at the mill.", "Anna Smith keeps bees at the mill."),
        ("Part QX-1001 fits the small pump.", "Part QX-1010 fits the small pump."),
        ("Bo may open the vault on Sundays.", "Bo may not open the vault on Sundays."),
        ("The night train runs from Oslo to Bergen.", "The night train runs from Bergen to Oslo."),
        ("The tank behind the house holds 120 l.", "The tank behind the house holds 12 l."),
    ],
)
def test_texts_that_differ_in_a_name_a_number_or_a_not_are_both_kept(
    app: Place, one: str, other: str
) -> None:
    assert [operation for operation, _ in operations(told(app, text=one))] == ["ADD"]
    assert [operation for operation, _ in operations(told(app, text=other))] == ["ADD"]

    texts = {hit["text"] for hit in found(app, one)}
    assert texts == {one, other}


def test_one_name_in_two_spellings_is_one_fact_on_every_way_in(app: Place) -> None:
    ids = set()
    spellings = (
        ("Ana Lee", "Office"),
        ("ana  lee", "office"),
        ("ANA LEE", "OFFICE"),
        ("\u200bAna Lee\ufeff", "\u202aoffice\u202c"),
    )
    for entity, key in spellings:
        fact = {"entity": entity, "key": key, "value": "B12"}
        ids.add(told(app, facts=[fact])["written"][0]["item"])
        typed = {"namespace": app.namespace, "kind": "fact", "body": fact}
        ids.add(app.admin.post("/v1/memories", typed)["id"])

    assert ids == set(items(app))
    assert values(app, ids.pop()) == ["B12"]


# --- near-duplicates grow the count -------------------------------------------------------------


def test_the_same_in_other_small_words_is_not_kept_beside_itself(app: Place) -> None:
    told(app, text="The spare key of the boat house hangs behind the green door in the kitchen.")
    answer = told(
        app, text="A spare key of the boat house hangs behind the green door in the kitchen!"
    )

    assert operations(answer) == [("NOOP", "near duplicate")]
    assert len(items(app)) == 1


# --- recalled text is stored again as new memory ------------------------------------------------


def test_what_was_recalled_and_is_sent_back_is_neither_stored_nor_counted(tmp_path: Path) -> None:
    with ExitStack() as stack:
        app = Place(start_app(stack, tmp_path / "data"), "truth")
        key = app.admin.key
        _furnish(app)
        before, mentions = items(app), _mentions(app)
        for _ in range(5):
            found_now = app.admin.post(
                "/v1/retrieve",
                {
                    "query": "Ana office kettle ladder",
                    "namespace": app.namespace,
                    "k": 20,
                    "kinds": KINDS,
                },
            )
            assert len(found_now["items"]) == len(before)
            _send_back(app, found_now)
            assert items(app).keys() == before.keys()
        assert _mentions(app) == mentions
    with ExitStack() as stack:
        # Nobody remembers any more what was handed out, and structure alone gives it away.
        app = Place(start_app(stack, tmp_path / "data", key=key), "truth")
        _send_back(app, found_now)
        assert items(app).keys() == before.keys()


def test_what_is_said_beside_recalled_text_is_kept_alone(app: Place) -> None:
    _furnish(app)
    block = found(app, "Ana office", kinds=["fact"])[0]["text"]
    answer = told(app, text=f"{block}\n\nThe lift in her building is out of order.")

    assert operations(answer) == [("NOOP", "recalled"), ("ADD", "new")]
    kept = app.admin.get(f"/v1/memories/{answer['written'][1]['item']}")
    assert kept["version"]["text"] == "The lift in her building is out of order."


def test_a_key_learns_nothing_from_what_another_key_was_handed(app: Place) -> None:
    secret = "the vault opens with a turquoise feather"
    app.admin.post("/v1/memories", {"namespace": "hidden", "body": {"text": secret}})
    app.admin.post("/v1/retrieve", {"query": secret, "namespace": "hidden"})
    other = app.admin.with_key("writer", "open")

    answer = other.post("/v1/remember", {"namespace": "open", "text": secret})
    assert operations(answer) == [("ADD", "new")]


# --- forgotten items are still recalled ---------------------------------------------------------


@on_both_databases("module_app")
def test_what_was_taken_back_is_not_recalled_and_comes_back_only_when_said_anew(app: Place) -> None:
    (fact,) = told(app, text="Ana's office is B12.")["written"]
    note = told(app, text="The ladder is behind the shed.")["written"][0]
    (gone,) = told(app, text="Forget Ana's office.")["written"]
    app.admin.delete(f"/v1/memories/{note['item']}")

    assert (gone["operation"], gone["item"]) == ("DELETE", fact["item"])
    assert found(app, "Ana office B12 ladder shed", kinds=KINDS) == []
    kept = app.admin.get(f"/v1/memories/{fact['item']}")
    assert kept["status"] == "active", "a retraction ends a value and changes no status"
    assert kept["version"]["valid_to"] is not None

    (again,) = told(app, text="Ana's office is B12.")["written"]
    assert (again["operation"], again["item"]) == ("UPDATE", fact["item"])
    assert [hit["id"] for hit in found(app, "Ana office B12", kinds=KINDS)] == [fact["item"]]


def test_a_retraction_ends_no_more_than_it_names(app: Place) -> None:
    told(app, text="Ana's office is C14. Ana's phone is 555. Bo's office is A1.")
    other = told(app, text="Ana's office is no longer B12.")
    nothing = told(app, text="Forget Cy's office.")

    assert {operation for operation, _ in operations(other) + operations(nothing)} <= {
        "NOOP",
        "ADD",
    }
    live = [one for one in items(app).values() if one["version"]["valid_to"] is None]
    assert len([one for one in live if one["kind"] == "fact"]) == 3


# --- undone ---------------------------------------------------------------------------------------


@on_both_databases("module_app")
def test_what_a_call_told_is_one_change_and_its_undo_puts_all_back(app: Place) -> None:
    told(
        app,
        text="Ana's office is B12. Bo's phone is 555. Dan's desk is D1.",
        metadata={"by": "desk"},
    )
    before, mentions = items(app), _mentions(app)
    answer = told(
        app,
        text="Ana's office is C14. Cy's dog is Rex. Dan's desk is D1. Forget Bo's phone. "
        "The lift in the hall is out of order.",
    )
    assert {operation for operation, _ in operations(answer)} == {
        "ADD",
        "UPDATE",
        "DELETE",
        "NOOP",
    }

    undo = app.admin.post(f"/v1/changes/{answer['change_id']}/undo")
    with app.within.server.services.store.reading() as reader:
        made, undone = (
            reader.change(_system(app), UUID(one["change_id"])) for one in (answer, undo)
        )

    assert made is not None
    assert undone is not None
    assert (undone.before_hash, undone.after_hash) == (made.after_hash, made.before_hash)
    assert items(app) == before
    assert _mentions(app) == mentions


# ---


def _session(what: dict[str, Any]) -> dict[str, Any]:
    talk = "0192e0a0-0000-7000-8000-000000000001"
    return {"session": talk} if "messages" in what else {}


def _mentions(app: Place) -> dict[str, int]:
    """How often each item was said again."""
    with app.within.server.services.store.reading() as reader:
        scope = _system(app)
        counts = {}
        for item_id, item in items(app).items():
            beliefs = reader.beliefs(scope, [UUID(item["version"]["id"])])
            counts[item_id] = sum(b.mentions for some in beliefs.values() for b in some)
        return counts


def _system(app: Place) -> Any:
    assert app.admin.key is not None
    return app.within.server.services.access.authenticate(app.admin.key)


def _furnish(app: Place) -> None:
    told(app, text="Ana's office is B12. Bo's phone is 555.")
    told(app, text="The kettle in the kitchen leaks when it is full.")
    told(app, messages=[{"speaker": "Ana", "text": "The ladder is behind the shed by the lake."}])
    for kind, body in (
        ("hint", {"when": "the ladder is gone", "do": "look behind the shed"}),
        ("rule", {"text": "Never fill the kettle.", "when": "it leaks"}),
        ("case", {"goal": "find the office of Ana", "steps": ["ask Bo", "go to B12"], "score": 1}),
    ):
        app.admin.post("/v1/memories", {"namespace": app.namespace, "kind": kind, "body": body})
    app.admin.post(
        "/v1/skills",
        {
            "namespace": app.namespace,
            "title": "Make tea",
            "body": {"when": "Ana wants tea", "steps": [{"action": "fill the kettle"}]},
        },
    )


def _send_back(app: Place, recalled: dict[str, Any]) -> None:
    """The block as it is, each item's text alone, and both as what an agent says."""
    ways: list[dict[str, Any]] = [{"text": recalled["text"]}]
    ways += [{"text": hit["text"]} for hit in recalled["items"]]
    ways += [
        {"messages": [{"role": role, "text": recalled["text"]}]} for role in ("assistant", "user")
    ]
    for way in ways:
        answer = told(app, **way)
        assert {one["operation"] for one in answer["written"]} <= {"NOOP"}, (way, answer)
