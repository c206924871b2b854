"""Sessions over HTTP: told, rendered, checked, ended, and nobody else's business."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.fakes.encoder import HashEncoder
from tests.integration.conftest import App, Caller, on_both_databases, start_app

NS = "shop/agent"
NO_TWO_REFUNDS = {
    "kind": "rule",
    "rule": {
        "name": "no_refund_twice",
        "call": "refund",
        "forbid": {"state.refunded": {"eq": True}},
        "because": "the order was refunded already",
    },
}
REFUNDED = {"kind": "ledger", "set": {"refunded": True, "order": "A7"}}


def say(text: str, speaker: str = "ann", **more: Any) -> dict[str, Any]:
    return {"kind": "message", "speaker": speaker, "text": text, **more}


def tell(caller: Caller, session: str, *events: dict[str, Any], **more: Any) -> Any:
    """The reply, whatever its status."""
    body = {"namespace": NS, "events": list(events), **more}
    body = {name: value for name, value in body.items() if value is not None}
    return caller("POST", f"/v1/sessions/{session}/events", json=body)


def told(caller: Caller, *events: dict[str, Any], **more: Any) -> str:
    """The id of a new session with these events."""
    session = str(uuid4())
    reply = tell(caller, session, *events, **more)
    assert reply.status_code == 201, reply.text
    return session


def state(caller: Caller, session: str, **params: Any) -> dict[str, Any]:
    found: dict[str, Any] = caller.get(f"/v1/sessions/{session}/state", **params)
    return found


@on_both_databases("app")
def test_a_session_is_told_read_and_ended(app: App) -> None:
    session = told(
        app.admin,
        say("I want my money back for order A7.", "customer"),
        {"kind": "call", "name": "find_order", "arguments": {"order": "A7"}},
        {"kind": "result", "name": "find_order", "text": "one order, paid by card"},
        {"kind": "report", "section": "plan", "text": "refund the order by card"},
        {"kind": "evidence", "name": "paid", "claim": "A7 was paid by card",
         "links": [{"turn": 3}, {"url": "https://shop.example/A7"}]},
        {"kind": "verification", "evidence": "paid", "verdict": "supported", "by": "the bank"},
        {"kind": "candidate", "name": "voucher", "text": "offer a voucher", "score": 0.2},
        REFUNDED,
        agent="clerk",
        subject="customer-17",
    )  # fmt: skip
    found = app.admin.get(f"/v1/sessions/{session}")
    assert (found["agent"], found["subject"], found["events"]) == ("clerk", "customer-17", 8)
    assert found["ended_at"] is None

    read = state(app.admin, session, budget_tokens=500, format="json")
    assert read["text"].startswith("State of the task:")
    assert "paid: A7 was paid by card [turn 3; url https://shop.example/A7;" in read["text"]
    assert read["left_out"] == {}
    assert read["state"]["ledger"] == {"refunded": True, "order": "A7"}
    assert read["state"]["evidence"][0]["verdict"] == "supported"
    assert [turn["seq"] for turn in read["state"]["turns"]] == [1, 2, 3]
    assert state(app.admin, session)["state"] is None

    kinds = [event["kind"] for event in app.admin.rows(f"/v1/sessions/{session}/events", limit=3)]
    assert kinds == ["message", "call", "result", "report", "evidence", "verification",
                     "candidate", "ledger"]  # fmt: skip

    ended = app.admin.post(f"/v1/sessions/{session}/end", {})
    assert ended["worded_by"] == "rules"
    assert ended["searchable"]
    assert "refund the order by card" in ended["text"]
    after = app.admin.get(f"/v1/sessions/{session}")
    assert after["summary"] == ended["summary"]
    assert after["ended_at"] is not None
    item = app.admin.get(f"/v1/memories/{ended['summary']}")
    assert (item["kind"], item["version"]["method"]) == ("summary", "session/summary")
    assert item["version"]["metadata"]["session"] == session
    found = app.admin.post("/v1/retrieve", {"query": "refund order A7 by card", "namespace": NS})
    assert ended["summary"] in [one["id"] for one in found["items"]]


@on_both_databases("app")
def test_a_rule_of_the_ledger_blocks_the_call_that_breaks_it_and_is_named(app: App) -> None:
    session = told(app.admin, NO_TWO_REFUNDS, say("refund it"))
    refund = {"kind": "call", "name": "refund", "arguments": {"order": "A7"}}
    check = f"/v1/sessions/{session}/check"
    proposed = {"name": "refund", "arguments": {"order": "A7"}}
    assert app.admin.post(check, proposed) == {"allowed": True, "blocked_by": []}
    assert tell(app.admin, session, refund, REFUNDED).status_code == 201

    assert app.admin.post(check, proposed) == {
        "allowed": False,
        "blocked_by": [
            {
                "rule": "no_refund_twice",
                "because": "the order was refunded already",
                "undecided": False,
            }
        ],
    }
    before = app.admin.get(f"/v1/sessions/{session}")["events"]
    refused = tell(app.admin, session, say("once more"), refund)
    assert (refused.status_code, refused.json()["code"]) == (409, "ledger_rule_blocks")
    assert refused.json()["extra"]["blocked_by"] == [
        {"rule": "no_refund_twice", "because": "the order was refunded already"}
    ]
    assert app.admin.get(f"/v1/sessions/{session}")["events"] == before  # all or nothing

    done = tell(app.admin, session, refund | {"override_reason": "the card was charged twice"})
    assert done.status_code == 201
    recorded = app.admin.rows(f"/v1/sessions/{session}/events")[-1]["said"]
    assert recorded["overrode"] == ["no_refund_twice"]
    assert recorded["override_reason"] == "the card was charged twice"


def test_a_batch_is_checked_event_by_event(shared_app: App) -> None:
    refund = {"kind": "call", "name": "refund"}
    reply = tell(shared_app.admin, str(uuid4()), NO_TWO_REFUNDS, REFUNDED, refund)
    assert reply.json()["code"] == "ledger_rule_blocks"
    undone = {"kind": "ledger", "set": {"refunded": False}}
    told(shared_app.admin, NO_TWO_REFUNDS, REFUNDED, undone, refund)


@on_both_databases("app")
def test_events_sent_again_are_stored_once(app: App) -> None:
    session = str(uuid4())
    first, second = say("one", event_id=str(uuid4())), say("two", event_id=str(uuid4()))
    assert tell(app.admin, session, first).json()["seqs"] == [1]
    again = tell(app.admin, session, first, second).json()
    assert (again["seqs"], again["stored"], again["existing"]) == ([1, 2], 1, 1)
    twice = tell(app.admin, session, second, second).json()
    assert (twice["seqs"], twice["existing"], twice["events"]) == ([2, 2], 2, 2)
    other = tell(app.admin, session, first | {"text": "other"})
    assert (other.status_code, other.json()["code"]) == (409, "id_conflict")

    key = {"Idempotency-Key": "the-same"}
    path, body = f"/v1/sessions/{session}/events", {"events": [say("three")]}
    replies = [app.admin("POST", path, json=body, headers=key).json() for _ in range(2)]
    assert replies[0] == replies[1]
    assert app.admin.get(f"/v1/sessions/{session}")["events"] == 3

    app.admin.post(f"/v1/sessions/{session}/end", {"summarise": False})
    assert tell(app.admin, session, first, second).status_code == 201
    late = tell(app.admin, session, say("four"))
    assert (late.status_code, late.json()["code"]) == (409, "wrong_state")
    ended = app.admin.post(f"/v1/sessions/{session}/end", {})
    assert (ended["existing"], ended["summary"]) == (True, None)


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "thought", "text": "hm"},
        say("hello", mood="good"),
        {"kind": "message", "speaker": "ann"},
        {"kind": "evidence", "name": "e", "claim": "c", "links": [{"turn": 1, "url": "u"}]},
        {"kind": "evidence", "name": "e", "claim": "c", "links": [{"file": "x"}]},
        {"kind": "ledger", "set": {"a b": 1}},
        {"kind": "ledger", "set": {"a": {"deep": 1}}},
        {"kind": "ledger"},
        {"kind": "rule", "rule": {"name": "r", "because": "b"}},
        {"kind": "rule", "rule": {"name": "r", "because": "b", "forbid": {"state.a": {"re": 1}}}},
        {"kind": "rule"},
        {"kind": "verification", "evidence": "none", "verdict": "supported", "by": "ann"},
        say("naive", at="2026-03-01T12:00:00"),
    ],
)
def test_what_no_session_knows_is_refused_and_begins_none(
    shared_app: App, event: dict[str, Any]
) -> None:
    session = str(uuid4())
    assert tell(shared_app.admin, session, event).status_code == 422
    assert shared_app.admin("GET", f"/v1/sessions/{session}").status_code == 404


def test_a_session_begins_in_a_namespace_and_stays_there(shared_app: App) -> None:
    nowhere = tell(shared_app.admin, str(uuid4()), say("hello"), namespace=None)
    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "session_not_found")
    session = told(shared_app.admin, say("hello"), agent="clerk")
    assert tell(shared_app.admin, session, say("on"), namespace=None).status_code == 201
    for other in ({"namespace": "elsewhere"}, {"agent": "cook"}, {"subject": "bob"}):
        reply = tell(shared_app.admin, session, say("on"), **other)
        assert (reply.status_code, reply.json()["code"]) == (409, "id_conflict")


def test_nobody_else_sees_or_changes_a_session(shared_app: App) -> None:
    session = told(shared_app.admin, say("a secret"))
    strangers = {
        "another namespace": shared_app.admin.with_key("admin", "shop/other"),
        "a prefix": shared_app.admin.with_key("admin", "shop/agent2", "shop/agen"),
        "another tenant": shared_app.admin.with_key("admin", "**", tenant="stranger"),
    }
    here = f"/v1/sessions/{session}"
    for who, stranger in strangers.items():
        asked = [
            stranger("GET", here),
            stranger("GET", f"{here}/events"),
            stranger("GET", f"{here}/state", params={"budget_tokens": 50}),
            stranger("POST", f"{here}/check", json={"name": "refund"}),
            stranger("POST", f"{here}/events", json={"events": [say("hello")]}),
            stranger("POST", f"{here}/end", json={}),
            stranger("DELETE", here),
        ]
        assert [(r.status_code, r.json()["code"]) for r in asked] == [
            (404, "session_not_found")
        ] * len(asked), who
        assert stranger.rows("/v1/sessions", namespace="**") == []
    assert shared_app.admin.get(here)["events"] == 1

    # The same id begins another session in another tenant.
    assert tell(strangers["another tenant"], session, say("mine")).status_code == 201
    assert state(shared_app.admin, session)["text"] == "Recent turns:\n[1] ann: a secret"


def test_a_reader_reads_and_writes_nothing(shared_app: App) -> None:
    session = told(shared_app.admin, say("hello"))
    reader = shared_app.admin.with_key("reader", NS)
    here = f"/v1/sessions/{session}"
    assert state(reader, session)["text"]
    assert reader.post(f"{here}/check", {"name": "refund"})["allowed"]
    for reply in (
        tell(reader, session, say("hello")),
        tell(reader, session, say("hello"), namespace=None),
        tell(reader, str(uuid4()), say("hello")),
        reader("POST", f"{here}/end", json={}),
        reader("DELETE", here),
    ):
        assert (reply.status_code, reply.json()["code"]) == (403, "namespace_forbidden")


def test_a_session_is_listed_and_removed_and_its_summary_stays(shared_app: App) -> None:
    ns = f"listed/{uuid4().hex}"
    made = [told(shared_app.admin, say(f"hello {n}"), namespace=ns) for n in range(5)]
    ended = shared_app.admin.post(f"/v1/sessions/{made[0]}/end", {})
    listed = [one["id"] for one in shared_app.admin.rows("/v1/sessions", namespace=ns, limit=2)]
    assert listed == made
    open_ones = shared_app.admin.rows("/v1/sessions", namespace="listed/**", ended=False)
    assert [one["id"] for one in open_ones] == made[1:]

    assert shared_app.admin.delete(f"/v1/sessions/{made[0]}") == {"id": made[0], "events": 1}
    assert shared_app.admin("GET", f"/v1/sessions/{made[0]}").status_code == 404
    assert shared_app.admin("DELETE", f"/v1/sessions/{made[0]}").status_code == 404
    assert shared_app.admin.get(f"/v1/memories/{ended['summary']}")["status"] == "active"


def test_a_session_and_an_event_have_their_limits(tmp_path: Path) -> None:
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data", session_events=3, session_event_bytes=300)
        session = told(app.admin, say("one"), say("two"))
        full = tell(app.admin, session, say("three"), say("four"))
        assert (full.status_code, full.json()["code"]) == (409, "session_full")
        long = tell(app.admin, session, say("ü" * 150))
        assert (long.status_code, long.json()["code"]) == (413, "too_large")
        assert tell(app.admin, session, say("three")).status_code == 201


class CountingEncoder(HashEncoder):
    """Counts what it is asked to encode."""

    asked = 0

    def encode(self, texts: Any) -> Any:
        self.asked += len(texts)
        return super().encode(texts)

    def encode_query(self, text: str) -> Any:
        self.asked += 1
        return super().encode_query(text)


def test_what_a_session_is_told_and_asked_is_never_encoded(tmp_path: Path) -> None:
    encoder = CountingEncoder()
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data", encoder=encoder)
        session = told(app.admin, NO_TWO_REFUNDS, REFUNDED, *(say(f"turn {n}") for n in range(50)))
        before = encoder.asked
        for budget in (1, 20, 500):
            read = state(app.admin, session, budget_tokens=budget)
            assert read["tokens"] == encoder.count_tokens(read["text"]) <= budget
            assert read["token_counter"] == encoder.counter
            tell(app.admin, session, say("more"))
        app.admin.post(f"/v1/sessions/{session}/check", {"name": "refund"})
        assert app.audit()["missing"] == 0
        assert encoder.asked == before == 0

        app.admin.post(f"/v1/sessions/{session}/end", {})
        assert encoder.asked > 0  # the summary is found by retrieve, and so it is encoded


@on_both_databases("app")
def test_events_that_arrive_together_each_get_a_number_of_their_own(app: App) -> None:
    session = str(uuid4())
    told_at_once = 40
    with ThreadPoolExecutor(8) as pool:
        replies = list(
            pool.map(lambda n: tell(app.admin, session, say(f"turn {n}")), range(told_at_once))
        )
    assert [r.status_code for r in replies] == [201] * told_at_once
    assert sorted(r.json()["seqs"][0] for r in replies) == list(range(1, told_at_once + 1))


@on_both_databases("app")
def test_of_calls_that_arrive_together_a_rule_lets_one_pass(app: App) -> None:
    once = {
        "kind": "rule",
        "rule": {"name": "once", "call": "refund", "because": "once is enough",
                 "forbid": {"calls.refund": {"gte": 1}}},
    }  # fmt: skip
    session = told(app.admin, once)
    refund = {"kind": "call", "name": "refund"}
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: tell(app.admin, session, refund).status_code, range(16)))
    assert sorted(statuses) == [201] + [409] * 15


@on_both_databases("app")
def test_what_was_said_in_a_session_is_remembered_when_it_ends(app: App) -> None:
    session = told(
        app.admin,
        say("My sister Mia lives in Porto.", "user", at="2026-03-01T12:00:00Z"),
        say("Good to know.", "assistant"),
        say("I work at the observatory.", "user"),
        subject="ann",
    )
    ended = app.admin.post(f"/v1/sessions/{session}/end", {})
    assert ended["learnt"] == 3
    assert ended["searchable"]
    assert len(ended["changes"]) == 2
    found = app.admin.post("/v1/retrieve", {"query": "where does Mia live", "namespace": NS})
    assert any("Porto" in one["text"] for one in found["items"] if one["kind"] != "summary")
    turns = [one for one in app.admin.rows("/v1/memories", namespace=NS) if "Porto" in str(one)]
    assert turns

    again = app.admin.post(f"/v1/sessions/{session}/end", {})
    assert (again["learnt"], again["changes"], again["existing"]) == (0, [], True)
    quiet = told(app.admin, say("Theo lives in Lyon."))
    ended = app.admin.post(f"/v1/sessions/{quiet}/end", {"learn": False, "summarise": False})
    assert (ended["learnt"], ended["summary"], ended["changes"]) == (0, None, [])
    assert "Lyon" not in str(app.admin.rows("/v1/memories", namespace=NS))


def test_events_that_come_while_a_session_is_ended_are_in_what_comes_of_it(
    shared_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = told(shared_app.admin, say("The oven is broken."), namespace="busy")
    ending = shared_app.server.services.ending
    prepare, late = type(ending).prepare, iter(["The technician came.", "The oven works."])

    def slow(self: Any, *asked: Any) -> Any:
        prepared = prepare(self, *asked)
        if (text := next(late, None)) is not None:
            tell(shared_app.admin, session, say(text), namespace="busy")
        return prepared

    monkeypatch.setattr(type(ending), "prepare", slow)
    ended = shared_app.admin.post(f"/v1/sessions/{session}/end", {})
    assert ended["learnt"] == 3
    assert "The oven works." in ended["text"]

    busy = told(shared_app.admin, say("Hello."), namespace="busy")
    late = iter("abc")
    monkeypatch.setattr(type(ending), "prepare", slow)
    session = busy
    refused = shared_app.admin("POST", f"/v1/sessions/{busy}/end", json={})
    assert (refused.status_code, refused.json()["code"]) == (409, "session_moved")
    assert shared_app.admin.get(f"/v1/sessions/{busy}")["ended_at"] is None


def test_what_privacy_takes_out_of_an_event_neither_stores_it_twice_nor_slips_by_a_rule(
    shared_app: App,
) -> None:
    ns, admin = f"private/{uuid4().hex}", shared_app.admin
    where = {"path": "/v1/namespaces/settings", "params": {"namespace": ns}}
    assert admin("PUT", **where, json={"personal_data": True}).status_code == 200
    mail = "mia.costa@example.org"
    session = str(uuid4())
    said = say(f"Write to {mail}.", event_id=str(uuid4()))
    about = {"namespace": ns, "subject": mail, "agent": "clerk"}
    for stored in (1, 0):
        reply = tell(admin, session, said, **about)
        assert reply.status_code == 201, reply.text
        assert reply.json()["stored"] == stored
    own_address = {
        "name": "own_address",
        "because": "only to the customer's own address",
        "call": "send",
        "require": {"arg.to": {"eq": {"state": "mail"}}},
    }
    known = {"kind": "ledger", "set": {"mail": mail}}
    about_it = {"namespace": ns}
    tell(admin, session, {"kind": "rule", "rule": own_address}, known, **about_it)

    assert mail not in str(admin.get(f"/v1/sessions/{session}/state", format="json"))
    check = f"/v1/sessions/{session}/check"
    assert admin.post(check, {"name": "send", "arguments": {"to": mail}})["allowed"]
    other = {"name": "send", "arguments": {"to": "bob@example.org"}}
    assert not admin.post(check, other)["allowed"]
    sent = {"kind": "call", "name": "send", "arguments": {"to": mail}}
    assert tell(admin, session, sent, **about_it).status_code == 201
