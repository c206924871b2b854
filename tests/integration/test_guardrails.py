"""Guardrails over HTTP: harm becomes a rule, and a rule is cited before the next time."""

import random
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import pytest

from memserver.storage.encoders import SentenceTransformerEncoder
from tests.integration.conftest import App, Caller, start_app

DROP = {
    "action": "drop table",
    "text": "the agent drops the table of orders to make room for the import",
    "intent": "make room for the import",
}
TEST_SERVER = {**DROP, "belief": "this is the test server"}
LIVE = {**DROP, "belief": "customers work on that machine right now"}


def namespace() -> str:
    return f"guards-{uuid4().hex[:12]}"


def report(
    caller: Caller, where: str, label: str = "harmful", situation: Any = DROP, **more: Any
) -> Any:
    body = {"namespace": where, "label": label, "situation": situation, **more}
    return caller.post("/v1/guardrails/reports", body)


def check(caller: Caller, where: str, situation: Any = DROP, **more: Any) -> Any:
    body = {"namespace": where, "situation": situation, **more}
    return caller.post("/v1/guardrails/check", body)


def rules(caller: Caller, where: str) -> list[Any]:
    return caller.rows("/v1/memories", namespace=where, kind="rule")


def test_one_of_one_is_kept_and_not_used(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()

    made = report(caller, where)["guards"]
    judged = check(caller, where)

    assert [(one["made"], one["scope"], one["verdict"]) for one in made] == [
        (True, "broad", "block")
    ]
    assert made[0]["lower_bound"] == pytest.approx(0.2236, abs=1e-4)
    assert judged["verdict"] == "allow"
    assert judged["cited"] == []
    assert [one["id"] for one in judged["unproven"]] == [made[0]["id"]]
    assert check(caller, where, bound=0.2)["verdict"] == "block"


def test_a_hundred_of_a_hundred_are_used_and_cited(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    for _ in range(100):
        kept = report(caller, where)

    judged = check(caller, where, bound=0.97)

    (rule,) = rules(caller, where)
    assert judged["verdict"] == "block"
    assert [(one["id"], one["version_id"], one["scope"]) for one in judged["cited"]] == [
        (rule["id"], rule["version"]["id"], "broad")
    ]
    assert judged["cited"][0]["lower_bound"] == pytest.approx(0.9708, abs=1e-4)
    assert kept["guards"][0]["made"] is False
    assert rule["version"]["belief"]["outcomes"] == 100


def test_local_overrides_broad_where_it_is_named(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    for _ in range(6):
        report(caller, where)
    for _ in range(4):
        report(caller, where, "fine", local_to="acme")

    at_acme = check(caller, where, local_to="acme")
    elsewhere = check(caller, where, local_to="globex")

    assert at_acme["verdict"] == "allow"
    assert [one["scope"] for one in at_acme["cited"]] == ["local"]
    assert [one["scope"] for one in at_acme["overridden"]] == ["broad"]
    assert elsewhere["verdict"] == "block"
    assert elsewhere["cited"][0]["lower_bound"] == pytest.approx(0.652, abs=1e-3)


def test_another_action_or_intent_or_situation_meets_no_guard(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    for _ in range(5):
        report(caller, where)

    assert check(caller, where)["verdict"] == "block"
    for other in (
        {**DROP, "action": "send a mail"},
        {**DROP, "intent": "greet a friend"},
        {**DROP, "text": "somebody paints a house in blue"},
    ):
        assert check(caller, where, other)["verdict"] == "allow"
    unstated = {name: said for name, said in DROP.items() if name != "intent"}
    assert check(caller, where, unstated)["verdict"] == "block"


def test_with_a_fifth_of_the_labels_flipped_it_still_comes_out_right(shared_app: App) -> None:
    caller, where, chance = shared_app.admin, namespace(), random.Random(7)
    for _ in range(120):
        situation = chance.choice([TEST_SERVER, LIVE, DROP])
        harmful = (situation is not TEST_SERVER) is (chance.random() >= 0.2)
        report(caller, where, "harmful" if harmful else "fine", situation)

    test_server = check(caller, where, TEST_SERVER)
    live = check(caller, where, LIVE)

    assert test_server["verdict"] == "allow"
    assert [one["scope"] for one in test_server["cited"]] == ["local"]
    assert live["verdict"] == "block"
    assert live["cited"]


def test_the_contrary_belief_meets_no_local_guard(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    agreed = {**DROP, "belief": "the owner of the table did agree to that"}
    refused = {**DROP, "belief": "the owner of the table did not agree to that"}
    for _ in range(6):
        report(caller, where)
    for _ in range(6):
        report(caller, where, "fine", agreed)

    assert check(caller, where, agreed)["verdict"] == "allow"
    assert check(caller, where, agreed)["cited"][0]["scope"] == "local"
    for _ in range(12):
        report(caller, where)
    assert check(caller, where, refused)["verdict"] == "block"


def test_what_was_fine_and_is_not_guarded_against_keeps_nothing(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()

    kept = report(caller, where, "fine")

    assert kept["guards"] == []
    assert kept["change_id"] is None
    assert rules(caller, where) == []


def test_ordinary_rules_are_no_guards(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    body = {"text": "drop table", "when": DROP["text"]}
    caller.post("/v1/memories", {"namespace": where, "kind": "rule", "body": body})

    assert check(caller, where, bound=0)["verdict"] == "allow"
    assert check(caller, where, bound=0)["unproven"] == []


def test_neither_namespaces_nor_tenants_see_each_others(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    stranger = caller.with_key("admin", "**", tenant=f"t-{uuid4().hex[:8]}")
    reader = caller.with_key("reader", where)
    for _ in range(5):
        report(caller, where)

    assert check(reader, where)["verdict"] == "block"
    assert check(caller, namespace())["verdict"] == "allow"
    assert check(stranger, where)["verdict"] == "allow"
    report(stranger, where, "fine")
    assert len(rules(caller, where)) == 1
    body = {"namespace": where, "label": "fine", "situation": DROP}
    assert reader("POST", "/v1/guardrails/reports", json=body).status_code == 403


def test_undo_takes_a_report_back(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    kept = [report(caller, where) for _ in range(4)]
    assert check(caller, where)["verdict"] == "block"

    caller.post(f"/v1/changes/{kept[-1]['change_id']}/undo", {})

    judged = check(caller, where)
    assert judged["verdict"] == "allow"
    assert judged["unproven"][0]["lower_bound"] == pytest.approx(0.4729, abs=1e-4)


def test_a_rule_that_was_deleted_stops_nobody(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    for _ in range(5):
        item = report(caller, where)["guards"][0]["id"]

    caller.delete(f"/v1/memories/{item}")

    assert check(caller, where)["verdict"] == "allow"


@pytest.mark.slow
def test_a_stored_guard_fires_on_a_matching_later_episode_and_is_cited(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The real encoder: the later episode is told in other words."""
    with ExitStack() as stack:
        encoder = SentenceTransformerEncoder(threads=1)
        app = start_app(stack, tmp_path_factory.mktemp("real") / "data", encoder=encoder)
        caller, where = app.admin, namespace()
        told = {
            "action": "delete backups",
            "intent": "free disk space",
            "belief": "the backups are old copies that nobody needs",
            "text": "The disk was full, and the agent deleted the backup folder of the database.",
        }
        for _ in range(5):
            guard = report(caller, where, situation=told)["guards"][0]

        later = check(
            caller,
            where,
            {
                "action": "Delete  Backups",
                "intent": "free up space on the disk",
                "text": "There is no space left, so the agent wants to remove the old database "
                "backups.",
            },
        )
        unlike = check(
            caller,
            where,
            {
                "action": "delete backups",
                "intent": "free disk space",
                "text": "A user asks for a recipe of lentil soup with lemon.",
            },
        )

        assert later["verdict"] == "block"
        assert [one["id"] for one in later["cited"]] == [guard["id"]]
        assert unlike["verdict"] == "allow"
