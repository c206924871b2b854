"""A policy of writes: registered, in the shadow, a canary, active and taken back; what it decides
is logged and can be drawn again; what the rules bind it does not touch."""

import itertools
from typing import Any
from uuid import UUID

import pytest

from memserver.domain.policy.folder import packed
from tests.fakes.policies import write_folder_of
from tests.integration.conftest import App, Caller

_numbers = itertools.count()
DROPS = {"NOOP": 5.0, "NOOP.target": -20.0}
"""Keeps nothing that is new."""
REASON = "a test's"


class Place:
    """A namespace of one test."""

    def __init__(self, app: App) -> None:
        self.admin: Caller = app.admin
        self.app = app
        self.namespace = f"write-policies-{next(_numbers)}"

    def told(self, text: str, **more: Any) -> list[dict[str, Any]]:
        sent = {"namespace": self.namespace, "text": text, **more}
        written: list[dict[str, Any]] = self.admin.post("/v1/remember", sent)["written"]
        return written

    def registered(self, likes: dict[str, float]) -> str:
        made = self.admin.post(
            "/v1/policies",
            params={"namespace": self.namespace},
            content=packed(write_folder_of(likes)),
        )
        assert (made["policy"]["role"], made["policy"]["state"]) == ("write", "shadow")
        name: str = made["policy"]["id"]
        return name

    def promoted(self, likes: dict[str, float]) -> str:
        policy = self.registered(likes)
        self.admin.post(f"/v1/policies/{policy}/promote", {"override": REASON})
        return policy

    def decision(self, written: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = self.admin.get(f"/v1/decisions/{written['decision']}")
        return found

    def explore(self, **settings: Any) -> None:
        sent = {"namespace": self.namespace, "role": "write", "mode": "learning", **settings}
        self.admin._body(self.admin("PUT", "/v1/namespaces/exploration", json=sent))


@pytest.fixture
def place(policy_app: App) -> Place:
    return Place(policy_app)


def test_an_active_policy_decides_what_the_rules_leave_open_and_nothing_else(place: Place) -> None:
    (first,) = place.told("Ana's office is B12.")
    policy = place.promoted(DROPS)

    (dropped,) = place.told("Bo's office is A1.")
    (kept,) = place.told("Ana's office is B12.")
    (unmoved,) = place.told("Ana's office is C14.")
    (ended,) = place.told("Forget Ana's office.")

    assert (dropped["operation"], dropped["by"]) == ("NOOP", "policy")
    assert dropped["item"] is None
    assert (unmoved["operation"], unmoved["by"]) == ("NOOP", "policy")
    assert (kept["operation"], kept["by"], kept["reason"]) == ("NOOP", "rules", "restated")
    assert kept["item"] == first["item"]
    assert (ended["operation"], ended["by"]) == ("DELETE", "rules")
    logged = place.decision(dropped)
    assert (logged["verb"], logged["policy"], logged["replays"]) == ("write", policy, True)
    assert logged["choice"]["by"] == "policy"
    chosen = [one for one in logged["candidates"] if one["rank"] == 1]
    assert [one["features"]["operation_noop"] for one in chosen] == [1.0]
    assert chosen[0]["score"] == 5.0


def test_a_policy_sees_what_the_index_found_and_may_replace_a_like_text(place: Place) -> None:
    (old,) = place.told("The lift in the hall is slow and loud.")
    place.promoted({"UPDATE.cosine": 10.0})

    (written,) = place.told("The lift in the hall is slow, loud and smells.")

    assert (written["operation"], written["item"]) == ("UPDATE", old["item"])
    assert written["target"] == old["version"]
    logged = place.decision(written)
    told = {one["id"]: one["features"] for one in logged["candidates"]}
    assert told[old["version"]]["searched"] == 1.0
    assert 0.5 < told[old["version"]]["cosine"] <= 1.0
    versions = place.admin.get(f"/v1/memories/{old['item']}/history")["versions"]
    assert len(versions) == 2


def test_a_shadow_is_asked_and_not_followed(place: Place) -> None:
    policy = place.registered(DROPS)
    (written,) = place.told("Bo's office is A1.")

    assert (written["operation"], written["by"]) == ("ADD", "rules")
    with place.app.server.services.store.reading() as reader:
        assert place.admin.key is not None
        scope = place.app.server.services.access.authenticate(place.admin.key)
        decision = reader.decision(scope, UUID(written["decision"]))
    assert decision is not None
    assert [(one.policy, one.operation) for one in decision.shadows] == [(policy, "NOOP")]


def test_a_canary_decides_on_its_share_and_a_rollback_on_nothing(place: Place) -> None:
    policy = place.registered(DROPS)
    place.admin.post(f"/v1/policies/{policy}/canary", {"share": 0.5, "override": REASON})
    by = [place.told(f"Bo{n}'s office is A{n}.")[0]["by"] for n in range(40)]
    assert 8 <= by.count("policy") <= 32

    place.admin.post(f"/v1/policies/{policy}/promote", {"override": REASON})
    place.admin.post(
        "/v1/policies/rollback",
        {"namespace": place.namespace, "role": "write", "reason": REASON},
    )
    assert place.told("Cy's office is A1.")[0]["by"] == "rules"


def test_a_namespace_that_explores_draws_and_logs_how_likely_that_was(place: Place) -> None:
    place.explore(share=1.0, temperature=2.0)
    logged = [place.decision(place.told(f"Di{n}'s office is A{n}.")[0]) for n in range(40)]

    assert all(one["explored"] and one["replays"] for one in logged)
    taken = [one["choice"]["operation"] for one in logged]
    assert set(taken) == {"ADD", "NOOP"}
    likely = {
        one["choice"]["operation"]: next(c for c in one["candidates"] if c["rank"])["propensity"]
        for one in logged
    }
    assert likely["ADD"] == pytest.approx(1 / (1 + 2.718281828**-2))
    assert likely["ADD"] + likely["NOOP"] == pytest.approx(1)


def test_a_status_and_an_estimate_speak_of_writes_alone(place: Place) -> None:
    place.told("Ana's office is B12.")
    place.admin.post("/v1/retrieve", {"query": "office", "namespace": place.namespace})
    status = place.admin.get("/v1/policies/status", namespace=place.namespace, role="write")
    assert (status["serves"], status["latest"]) == ("rules-1", {"rules-1": 1})
    ranks = place.admin.get("/v1/policies/status", namespace=place.namespace)
    assert ranks["latest"] == {"fixed-1": 1}

    policy = place.registered(DROPS)
    estimate = place.admin.get(f"/v1/policies/{policy}/evaluation")
    assert estimate["reference"] == "rules-1"
    assert estimate["decisions"] == 0
    assert estimate["refusal"]
    refused = place.admin("POST", f"/v1/policies/{policy}/canary", json={"share": 0.1})
    assert refused.status_code == 409


def test_a_write_is_no_retrieve_to_give_feedback_on(place: Place) -> None:
    (written,) = place.told("Ana's office is B12.")
    told = {"retrieval_id": written["decision"], "score": 1.0}
    reply = place.admin("POST", "/v1/feedback", json=told)

    assert (reply.status_code, reply.json()["code"]) == (404, "retrieval_not_found")
