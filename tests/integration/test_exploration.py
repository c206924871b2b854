"""What a namespace leaves to chance: how it is set, and what the log says of it afterwards."""

from collections import Counter
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from memserver.domain.decisions import Considered, Decision
from memserver.domain.policy.sampling import SlotKind, probabilities
from tests.integration.conftest import App
from tests.integration.room import LIKES_PRINCIPLES, Room

WORDS = "red blue green black white".split()
OPEN = {"mode": "learning", "share": 1, "temperature": 1}


@pytest.fixture
def room(policy_app: App) -> Room:
    """With five more memories that answer the question."""
    made = Room(policy_app, policy_app.admin).furnish()
    for word in WORDS:
        made.caller.post(
            "/v1/memories",
            {"namespace": made.namespace, "body": {"text": f"a {word} key opens the {word} door"}},
        )
    return made


class TestFixed:
    def test_the_same_question_gets_the_same_answer(self, room: Room) -> None:
        replies = [room.retrieve() for _ in range(5)]
        assert len({tuple(item["id"] for item in reply["items"]) for reply in replies}) == 1
        assert not any(reply["explored"] for reply in replies)
        for reply in replies:
            decision = room.decision(reply)
            assert (decision["explored"], decision["temperature"]) == (False, 0)
            assert decision["replays"] is True
            slots = {(one["slot"], one["propensity"]) for one in _placed(decision)}
            assert slots == {("policy", 1)}

    def test_a_namespace_is_fixed_until_it_is_set(self, room: Room) -> None:
        found = room.caller.get("/v1/namespaces/exploration", namespace=room.namespace)
        assert found == {
            "namespace": room.namespace,
            "role": "retrieve",
            "mode": "fixed",
            "temperature": 0,
            "share": 0,
            "exposure_slots": 0,
        }


class TestSetting:
    def test_it_holds_from_the_next_retrieve_on_and_can_be_undone(self, room: Room) -> None:
        change = room.explore(**OPEN).json()["change_id"]
        assert room.retrieve()["explored"] is True
        assert room.status()["exploration"]["mode"] == "learning"
        writer = room.caller.with_key("writer", room.namespace)
        assert writer("POST", f"/v1/changes/{change}/undo").status_code == 403
        room.caller.post(f"/v1/changes/{change}/undo")
        assert room.retrieve()["explored"] is False
        room.explore(**OPEN)
        assert room.explore(mode="fixed").status_code == 200
        assert room.retrieve()["explored"] is False

    @pytest.mark.parametrize("role", ["reader", "writer"])
    def test_only_admins_set_it(self, room: Room, role: str) -> None:
        caller = room.caller.with_key(role, room.namespace)
        reply = caller(
            "PUT", "/v1/namespaces/exploration", json={"namespace": room.namespace, **OPEN}
        )
        assert (reply.status_code, reply.json()["code"]) == (403, "role_forbidden")

    def test_admins_of_other_namespaces_do_not(self, room: Room) -> None:
        caller = room.caller.with_key("admin", "elsewhere")
        body = {"namespace": room.namespace, **OPEN}
        reply = caller("PUT", "/v1/namespaces/exploration", json=body)
        assert (reply.status_code, reply.json()["code"]) == (403, "namespace_forbidden")
        read = caller("GET", "/v1/namespaces/exploration", params={"namespace": room.namespace})
        assert read.status_code == 403

    @pytest.mark.parametrize(
        "settings",
        [
            {"mode": "learning"},
            {"mode": "learning", "share": 1},
            {"mode": "learning", "share": 0, "temperature": 1},
            {"mode": "learning", "temperature": 1},
            {"mode": "learning", "share": 1.1, "temperature": 1},
            {"mode": "learning", "share": -0.1, "temperature": 1},
            {"mode": "learning", "share": 1, "temperature": -1},
            {"mode": "learning", "share": 1, "temperature": 101},
            {"mode": "learning", "share": 1, "exposure_slots": -1},
            {"mode": "learning", "share": 1, "exposure_slots": 101},
            {"mode": "learning", "share": 1, "exposure_slots": 1.5},
            {"mode": "fixed", "share": 0.1},
            {"mode": "fixed", "temperature": 1},
            {"mode": "greedy"},
            {"mode": "learning", "share": 1, "temperature": 1, "role": "nobody"},
            {"mode": "learning", "share": 1, "temperature": 1, "seed": 3},
            {"share": 1, "temperature": 1},
        ],
    )
    def test_what_makes_no_sense_is_refused(self, room: Room, settings: dict[str, Any]) -> None:
        assert room.explore(**settings).status_code == 422
        assert room.status()["exploration"]["mode"] == "fixed"


class TestLearning:
    @pytest.mark.parametrize(
        ("settings", "k"),
        [
            ({"temperature": 1}, 10),
            ({"temperature": 0.05}, 3),
            ({"temperature": 0, "exposure_slots": 1}, 4),
            ({"temperature": 1, "exposure_slots": 2}, 4),
            ({"temperature": 100, "exposure_slots": 100}, 3),
        ],
        ids=lambda given: str(given),
    )
    def test_every_decision_replays_and_says_how_likely_each_place_was(
        self, room: Room, settings: dict[str, Any], k: int
    ) -> None:
        room.explore(mode="learning", share=1, **settings)
        replies = [room.retrieve(k=k, budget_tokens=30) for _ in range(12)]
        decisions = [room.decision(reply) for reply in replies]
        assert all(reply["explored"] for reply in replies)
        assert all(decision["replays"] for decision in decisions)
        orders = {tuple(one["id"] for one in _placed(decision)) for decision in decisions}
        assert len(orders) > 1
        for reply, decision in zip(replies, decisions, strict=True):
            placed = _placed(decision)
            assert len(placed) == min(k, len(WORDS) + 2)
            exposed = sum(one["slot"] == "exposure" for one in placed)
            wanted = min(settings.get("exposure_slots", 0), k)
            assert exposed <= wanted
            assert exposed == wanted or len(placed) < k
            packed = [one["id"] for one in decision["candidates"] if one["packed"]]
            assert sorted(packed) == sorted(one["id"] for one in placed[: len(packed)])
            assert [item["version_id"] for item in reply["items"]] == [
                one["id"] for one in placed[: len(packed)]
            ]
            _check_propensities(room.logged(reply))

    def test_a_learned_policy_explores_alike(self, room: Room) -> None:
        room.force(room.register(LIKES_PRINCIPLES))
        room.explore(mode="learning", share=1, temperature=5, exposure_slots=1)
        for _ in range(8):
            reply = room.retrieve(k=4)
            assert room.decision(reply)["replays"] is True
            _check_propensities(room.logged(reply))

    def test_a_run_explores_in_all_of_its_retrieves_or_in_none(self, room: Room) -> None:
        room.explore(mode="learning", share=0.3, temperature=1)
        runs = {str(uuid4()): set() for _ in range(60)}
        for _ in range(2):
            for run, seen in runs.items():
                seen.add(room.retrieve(k=1, trajectory_id=run)["explored"])
        assert all(len(seen) == 1 for seen in runs.values())
        assert 6 <= sum(seen == {True} for seen in runs.values()) <= 32
        # A greater share takes in those that were in, and more.
        room.explore(mode="learning", share=0.6, temperature=1)
        explored = [run for run, seen in runs.items() if seen == {True}]
        assert all(room.retrieve(k=1, trajectory_id=run)["explored"] for run in explored)

    def test_what_failed_too_often_gets_another_chance_only_where_a_run_explores(
        self, room: Room
    ) -> None:
        useless = room.retrieve(k=1)["items"][0]["version_id"]
        for _ in range(8):
            told = {"retrieval_id": room.retrieve(k=1)["retrieval_id"], "score": 0}
            room.caller.post("/v1/feedback", {**told, "used": [useless]})
        shut = room.retrieve()
        assert shut["left_out"] == {"lower_bound": 1}
        assert useless not in {item["version_id"] for item in shut["items"]}
        room.explore(**OPEN)
        given = room.retrieve()
        assert given["left_out"] == {}
        assert useless in {item["version_id"] for item in given["items"]}

    def test_the_first_of_several_namespaces_decides(self, room: Room) -> None:
        still = Room(room.app, room.caller).furnish()
        room.explore(**OPEN)
        for names, explored in (
            ([room.namespace, still.namespace], True),
            ([still.namespace, room.namespace], False),
        ):
            reply = room.retrieve(namespace=None, namespaces=names)
            assert reply["explored"] is explored
            assert len(reply["items"]) == 9

    def test_a_subtree_in_which_nothing_is_answers_nothing(self, room: Room) -> None:
        reply = room.retrieve(namespace=f"{room.namespace}-none/**")
        assert (reply["items"], reply["policy"], reply["explored"]) == ([], "fixed-1", False)

    def test_a_namespace_that_is_empty_explores_without_harm(self, policy_app: App) -> None:
        room = Room(policy_app, policy_app.admin)
        room.explore(mode="learning", share=1, temperature=1, exposure_slots=3)
        reply = room.retrieve()
        assert (reply["items"], reply["explored"]) == ([], True)
        decision = room.decision(reply)
        assert (decision["candidates"], decision["replays"]) == ([], True)


class TestDecisions:
    def test_only_those_who_read_all_of_its_namespaces_see_one(self, room: Room) -> None:
        other = Room(room.app, room.caller).furnish()
        reply = room.retrieve(namespace=None, namespaces=[room.namespace, other.namespace])
        assert room.decision(reply)["namespaces"] == [room.namespace, other.namespace]
        path = f"/v1/decisions/{reply['retrieval_id']}"
        both = room.caller.with_key("reader", room.namespace, other.namespace)
        assert both("GET", path).status_code == 200
        half = room.caller.with_key("admin", room.namespace)
        foreign = room.caller.with_key("admin", "**", tenant=f"tenant-{uuid4().hex}")
        for caller in (half, foreign):
            assert caller("GET", path).json()["code"] == "decision_not_found"
        assert both("GET", f"/v1/decisions/{uuid4()}").status_code == 404

    def test_a_feature_is_told_by_its_name(self, room: Room) -> None:
        (first, *_) = _placed(room.decision(room.retrieve()))
        assert first["features"]["dense_rank"] == 1
        assert first["features"]["cosine"] == pytest.approx(
            first["features"]["dense_score"], abs=0.01
        )


def test_chance_falls_as_the_log_says_it_does(room: Room) -> None:
    """The first places of many retrieves, against the propensities that each logged for it."""
    room.explore(mode="learning", share=1, temperature=0.1)
    decisions = [room.logged(room.retrieve(k=1)) for _ in range(60)]
    drawn = Counter(_first(decision).id for decision in decisions)
    chances = {_first(decision).id: _first(decision).propensity for decision in decisions}
    assert len(drawn) > 1
    for candidate, count in drawn.items():
        expected = 60 * chances[candidate]
        assert abs(count - expected) <= 5 * max(1.0, (expected * (1 - chances[candidate])) ** 0.5)


def _placed(decision: dict[str, Any]) -> list[dict[str, Any]]:
    ranked = [one for one in decision["candidates"] if one["rank"] is not None]
    return sorted(ranked, key=lambda one: one["rank"])


def _first(decision: Decision) -> Considered:
    return next(one for one in decision.candidates if one.rank == 1)


def _check_propensities(decision: Decision) -> None:
    """Each is what the logged scores and settings give, given the places before."""
    admitted = decision.admitted
    scores = np.array([one.score for one in admitted])
    order = sorted((one.rank, index) for index, one in enumerate(admitted) if one.rank is not None)
    taken: list[int] = []
    for _, index in order:
        one = admitted[index]
        if one.slot == SlotKind.EXPOSURE:
            expected = 1 / (len(admitted) - len(taken))
        else:
            chances = probabilities(scores, temperature=decision.temperature, taken=taken)
            expected = float(chances[index])
        assert 0 < one.propensity <= 1
        assert one.propensity == pytest.approx(expected, rel=1e-9)
        taken.append(index)
    unplaced = [one for one in decision.candidates if one.rank is None]
    assert all((one.propensity, one.slot, one.packed) == (0, None, False) for one in unplaced)
