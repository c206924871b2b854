"""What outcomes decide: whether a canary opens, whether it is promoted, and what is taken back
without anyone asking."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from memserver.domain.decisions import Decision
from memserver.domain.errors import PolicyNotProven
from memserver.services.own_work import as_server
from memserver.services.policies.watching import Verdict
from tests.integration.conftest import App
from tests.integration.room import (
    LIKES_NOTES,
    LIKES_PRINCIPLES,
    Room,
    note_first,
    principle_first,
)

PLANTED = 480
"""Decisions of two candidates, about half of which agree with either greedy policy."""
NOBODY = UUID(int=0)


@pytest.fixture
def room(policy_app: App) -> Room:
    return Room(policy_app, policy_app.admin).furnish()


def explored(room: Room) -> Decision:
    """A decision in which either memory may come first."""
    room.explore(mode="learning", share=1, temperature=1)
    return room.logged(room.retrieve(k=1))


class TestTheGateBeforeACanary:
    def test_nothing_opens_it_where_nothing_explored(self, room: Room) -> None:
        policy = room.register(LIKES_PRINCIPLES)
        for _ in range(3):
            room.retrieve()
        refused = room.move(policy, "canary", share=0.5)
        assert (refused.status_code, refused.json()["code"]) == (409, "policy_not_proven")
        assert "no data" in refused.json()["detail"]
        room.plant(room.logged(room.retrieve(k=1)), 60, score=principle_first)
        assert "no data" in room.move(policy, "canary").json()["detail"]
        assert room.states() == {policy: "shadow"}

    def test_chance_that_never_took_what_the_policy_would_is_not_enough(self, room: Room) -> None:
        policy = room.register(LIKES_PRINCIPLES)
        room.explore(mode="learning", share=1, temperature=0.0001)
        room.plant(room.logged(room.retrieve(k=1)), 60, score=principle_first)
        found = room.caller.get(f"/v1/policies/{policy}/evaluation")
        assert found["refusal"].startswith("not enough exploration")
        assert (found["target"], found["difference"]) == (None, None)
        refused = room.move(policy, "canary")
        assert "not enough exploration" in refused.json()["detail"]

    def test_a_person_may_open_it_with_a_reason_that_is_logged(self, room: Room) -> None:
        policy = room.register(LIKES_PRINCIPLES)
        moved = room.moved(policy, "canary", share=0.5, override="  I saw it work  ")
        assert moved["policy"]["state"] == "canary"
        change = room.caller.get(f"/v1/changes/{moved['change_id']}")["change"]
        assert change["verb"] == "canary_policy"
        assert change["reason"].startswith("override: I saw it work (without it: no data")
        assert room.move(policy, "canary", override=" ").json()["code"] == "policy_not_proven"

    @pytest.mark.parametrize("share", [0, 1, -0.1, 1.5])
    def test_a_share_is_between_nobody_and_everybody(self, room: Room, share: float) -> None:
        policy = room.register(LIKES_PRINCIPLES)
        assert room.move(policy, "canary", share=share, override="x").status_code == 422

    def test_a_log_that_shows_it_to_be_better_opens_it(self, room: Room) -> None:
        better, worse = room.register(LIKES_PRINCIPLES), room.register(LIKES_NOTES)
        room.plant(explored(room), PLANTED, score=principle_first)
        found = room.caller.get(f"/v1/policies/{better}/evaluation")
        assert found["refusal"] is None, found
        assert (found["reference"], found["decisions"]) == ("fixed-1", PLANTED)
        assert found["reward_model"] == "single choice"
        assert found["difference"]["low"] > 0.5
        assert found["target"]["doubly_robust"] == pytest.approx(1, abs=0.1)
        assert found["reference_estimate"]["doubly_robust"] == pytest.approx(0, abs=0.1)
        assert found["ess"] > 200
        moved = room.moved(better, "canary", share=0.5)
        assert moved["policy"]["reason"] == "shown to be better"
        refused = room.move(worse, "canary")
        assert (refused.status_code, refused.json()["code"]) == (409, "policy_not_proven")
        later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        assert (
            "no data"
            in room.caller.get(f"/v1/policies/{better}/evaluation", since=later)["refusal"]
        )

    def test_a_policy_that_the_log_shows_to_be_worse_is_refused(self, room: Room) -> None:
        worse = room.register(LIKES_PRINCIPLES)
        room.plant(explored(room), PLANTED, score=note_first)
        refused = room.move(worse, "canary")
        assert (refused.status_code, refused.json()["code"]) == (409, "policy_not_proven")
        assert "not shown to be better than fixed-1" in refused.json()["detail"]
        found = room.caller.get(f"/v1/policies/{worse}/evaluation")
        assert found["difference"]["high"] < -0.5

    def test_what_an_agent_says_of_itself_proves_nothing(self, room: Room) -> None:
        policy = room.register(LIKES_PRINCIPLES)
        for _ in range(3):
            reply = explored(room)
            told = {"retrieval_id": str(reply.id), "score": 1, "source": "agent"}
            room.caller.post("/v1/feedback", told)
        assert "no data" in room.caller.get(f"/v1/policies/{policy}/evaluation")["refusal"]


class TestCanaries:
    def canary(self, room: Room, *, share: float = 0.5) -> str:
        policy = room.register(LIKES_PRINCIPLES)
        room.moved(policy, "canary", share=share, override="a test")
        return policy

    def test_runs_are_assigned_by_their_id_and_stay_with_it(self, room: Room) -> None:
        policy = self.canary(room, share=0.3)
        runs = {str(uuid4()): set() for _ in range(60)}
        for _ in range(2):
            for run, seen in runs.items():
                reply = room.retrieve(k=1, trajectory_id=run)
                seen.add((reply["policy"], reply["items"][0]["kind"]))
        assert all(len(seen) == 1 for seen in runs.values())
        served = [run for run, seen in runs.items() if seen == {(policy, "principle")}]
        others = [run for run, seen in runs.items() if seen == {("fixed-1", "note")}]
        assert len(served) + len(others) == 60
        assert 6 <= len(served) <= 32
        room.moved(policy, "canary", share=0.6, override="more")
        assert {room.retrieve(k=1, trajectory_id=run)["policy"] for run in served} == {policy}
        assert room.status()["serves"] == "fixed-1"

    def test_there_is_one_at_a_time(self, room: Room) -> None:
        first, second = self.canary(room), room.register(LIKES_NOTES)
        refused = room.move(second, "canary", override="both")
        assert (refused.status_code, refused.json()["code"]) == (409, "wrong_state")
        assert room.states() == {first: "canary", second: "shadow"}
        room.moved(first, "retire")
        room.moved(second, "canary", override="now")
        assert room.states() == {first: "retired", second: "canary"}

    def test_it_is_promoted_when_its_outcomes_show_it_to_be_better(self, room: Room) -> None:
        before = room.register(LIKES_NOTES)
        room.force(before)
        canary = self.canary(room)
        like = room.logged(room.retrieve(k=1))
        refused = room.move(canary, "promote")
        assert (refused.status_code, refused.json()["code"]) == (409, "policy_not_proven")
        assert "undecided: 0 runs" in refused.json()["detail"]
        assert room.standing(canary)["trial"]["verdict"] == "undecided"
        room.plant_trial(like, canary, count=160, scores=(1.0, 0.0))
        trial = room.standing(canary)["trial"]
        assert (trial["mean"], trial["compared_mean"]) == (1, 0)
        assert trial["runs"] + trial["compared_runs"] == 160
        assert (trial["verdict"], trial["difference"]["low"] > 0) == ("better", True)
        moved = room.moved(canary, "promote")
        assert moved["policy"]["reason"] == "shown to be better"
        assert moved["policy"]["previous"] == before
        assert room.states() == {before: "retired", canary: "active"}
        assert room.status()["serves"] == canary

    def test_its_trial_starts_anew_with_another_share_and_beside_another_policy(
        self, room: Room
    ) -> None:
        canary = self.canary(room)
        like = room.logged(room.retrieve(k=1))
        room.plant_trial(like, canary, count=60, scores=(1.0, 0.0))
        assert room.standing(canary)["trial"]["runs"] > 0
        room.moved(canary, "canary", share=0.2, override="less")
        assert room.standing(canary)["trial"]["runs"] == 0
        room.plant_trial(like, canary, count=60, scores=(1.0, 0.0))
        assert room.standing(canary)["trial"]["runs"] > 0
        room.force(room.register(LIKES_NOTES))
        assert room.standing(canary)["trial"]["runs"] == 0
        room.plant_trial(like, canary, count=60, scores=(1.0, 0.0))
        room.roll_back()
        assert room.standing(canary)["trial"]["runs"] == 0
        assert room.states()[canary] == "canary"

    def test_what_an_agent_says_of_itself_promotes_nothing(self, room: Room) -> None:
        canary = self.canary(room)
        for _ in range(4):
            told = {"retrieval_id": room.retrieve()["retrieval_id"], "score": 1}
            room.caller.post("/v1/feedback", {**told, "source": "agent"})
        trial = room.standing(canary)["trial"]
        assert (trial["runs"], trial["compared_runs"]) == (0, 0)
        room.caller.post("/v1/feedback", {**told, "source": "judge"})
        trial = room.standing(canary)["trial"]
        assert trial["runs"] + trial["compared_runs"] == 1


class TestTheGuardrail:
    def last_change(self, room: Room, policy: str) -> dict[str, Any]:
        rows = room.caller.rows("/v1/changes", namespace=room.namespace, row=policy)
        return dict(rows[0])

    def test_a_canary_that_does_worse_goes_back_into_the_shadow(self, room: Room) -> None:
        bad = room.register(LIKES_PRINCIPLES)
        room.moved(bad, "canary", share=0.5, override="trust me")
        like = room.logged(room.retrieve(k=1))
        room.plant_trial(like, bad, count=30, scores=(0.0, 1.0))
        room.look()
        assert room.states() == {bad: "canary"}
        room.plant_trial(like, bad, count=160, scores=(0.0, 1.0))
        room.look()
        assert room.states() == {bad: "shadow"}
        change = self.last_change(room, bad)
        assert change["verb"] == "demote_policy"
        assert UUID(change["actor"]) == NOBODY
        assert change["reason"].startswith("guardrail: worse: 0.000 over ")
        assert " against 1.000 over " in change["reason"]
        run = str(uuid4())
        assert room.retrieve(trajectory_id=run)["policy"] == "fixed-1"

    def test_an_active_one_that_does_worse_is_taken_back(self, room: Room) -> None:
        good, bad = room.register(LIKES_NOTES), room.register(LIKES_PRINCIPLES)
        room.force(good)
        like = room.logged(room.retrieve(k=1))
        room.plant_runs(like, good, count=60, score=1.0)
        room.look()
        assert room.status()["serves"] == good
        room.force(bad)
        room.plant_runs(like, bad, count=19, score=0.0)
        room.look()
        assert room.status()["serves"] == bad
        room.plant_runs(like, bad, count=80, score=0.0)
        assert room.standing(bad)["trial"]["verdict"] == "worse"
        room.look()
        assert room.states() == {good: "active", bad: "retired"}
        change = self.last_change(room, bad)
        assert (change["verb"], UUID(change["actor"])) == ("demote_policy", NOBODY)
        assert change["reason"].startswith("guardrail: worse: 0.000 over 99 runs against 1.000")
        room.look()
        assert room.retrieve()["policy"] == good
        assert room.standing(good)["trial"]["verdict"] == "undecided"

    def test_a_good_one_stays(self, room: Room) -> None:
        good = room.register(LIKES_PRINCIPLES)
        like = room.logged(room.retrieve(k=1))
        room.plant_runs(like, "fixed-1", count=60, score=0.5)
        room.force(good)
        room.plant_runs(like, good, count=120, score=0.5)
        room.look()
        assert room.standing(good)["trial"]["verdict"] == "undecided"
        room.plant_runs(like, good, count=300, score=1.0)
        assert room.standing(good)["trial"]["verdict"] == "better"
        room.look()
        assert room.states() == {good: "active"}
        assert self.last_change(room, good)["verb"] == "promote_policy"

    def test_a_look_at_one_tenants_policies_moves_no_others(self, room: Room) -> None:
        foreign = room.caller.with_key("admin", "**", tenant=f"tenant-{uuid4().hex}")
        theirs = Room(room.app, foreign, room.namespace).furnish()
        policies = {}
        for one in (room, theirs):
            policies[one] = one.register(LIKES_PRINCIPLES)
            one.moved(policies[one], "canary", share=0.5, override="a test")
        like = room.logged(room.retrieve(k=1))
        room.plant_trial(like, policies[room], count=200, scores=(0.0, 1.0))
        room.look()
        assert room.states() == {policies[room]: "shadow"}
        assert theirs.states() == {policies[theirs]: "canary"}


class TestWhatWasLookedAtHasChangedSince:
    """A move is decided by what was seen before its transaction."""

    def test_a_proof_against_what_is_no_longer_active_opens_no_canary(self, room: Room) -> None:
        policies, store = room.app.server.services.policies, room.app.server.services.store
        policy = room.register(LIKES_PRINCIPLES)
        seen = policies.prove(room.scope, UUID(policy))
        proof = replace(seen, refusal=None)
        room.force(room.register(LIKES_NOTES))
        with pytest.raises(PolicyNotProven, match="what is active has changed"):
            store.write(
                lambda tx: policies.to_canary(
                    tx, room.scope, UUID(policy), share=0.5, proof=proof, override=""
                )
            )
        assert room.states()[policy] == "shadow"

    def test_a_trial_of_a_canary_that_has_changed_promotes_nothing(self, room: Room) -> None:
        policies, store = room.app.server.services.policies, room.app.server.services.store
        policy = room.register(LIKES_PRINCIPLES)
        room.moved(policy, "canary", share=0.5, override="a test")
        like = room.logged(room.retrieve(k=1))
        room.plant_trial(like, policy, count=160, scores=(1.0, 0.0))
        trial = policies.trial(room.scope, UUID(policy))
        room.moved(policy, "canary", share=0.2, override="less")
        with pytest.raises(PolicyNotProven, match="its canary has changed"):
            store.write(
                lambda tx: policies.promote(tx, room.scope, UUID(policy), trial=trial, override="")
            )
        assert room.states() == {policy: "canary"}

    def test_the_guardrail_leaves_alone_what_a_person_has_moved(self, room: Room) -> None:
        policies, store = room.app.server.services.policies, room.app.server.services.store
        policy = room.register(LIKES_PRINCIPLES)
        room.moved(policy, "canary", share=0.5, override="a test")
        like = room.logged(room.retrieve(k=1))
        room.plant_trial(like, policy, count=160, scores=(0.0, 1.0))
        trial = policies.trial(room.scope, UUID(policy))
        assert trial is not None
        assert trial.verdict is Verdict.WORSE
        room.force(policy)
        server = as_server(trial.policy.namespace)
        assert store.write(lambda tx: policies.demote(tx, server, trial)) is None
        assert room.states() == {policy: "active"}


def test_old_decisions_go_and_what_was_learnt_from_them_stays(policy_app: App) -> None:
    room = Room(policy_app, policy_app.admin).furnish()
    reply = room.retrieve()
    told = {"retrieval_id": reply["retrieval_id"], "score": 1, "source": "judge"}
    room.caller.post("/v1/feedback", told)
    new = room.logged(reply)
    old = room.plant_at(new, datetime.now(UTC) - timedelta(days=91))
    young = room.plant_at(new, datetime.now(UTC) - timedelta(days=89))
    item = reply["items"][0]["id"]
    believed = room.caller.get(f"/v1/memories/{item}")["version"]["belief"]
    assert believed["outcomes"] == 1
    room.forget()
    statuses = [
        room.caller("GET", f"/v1/decisions/{decision.id}").status_code
        for decision in (old, young, new)
    ]
    assert statuses == [404, 200, 200]
    assert room.caller.get(f"/v1/memories/{item}")["version"]["belief"] == believed
