"""Policies over HTTP: registered, shown in the shadow, promoted and taken back."""

import io
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import numpy.typing as npt
import pytest
from sqlalchemy import Delete, delete

from memserver.app import opening, reindexing
from memserver.app.settings import read_settings
from memserver.domain.errors import Unavailable
from memserver.domain.policy.features import NAMES
from memserver.services.policies.lifecycle import MOST_IN_THE_SHADOW
from memserver.storage.sql.tables import POLICY_WEIGHTS, VECTOR
from tests.fakes.encoder import HashEncoder
from tests.fakes.policies import ENCODER, folder, zipped
from tests.integration.conftest import App, start_app
from tests.integration.room import LIKES_NOTES, LIKES_PRINCIPLES, QUERY, Room


@pytest.fixture
def room(policy_app: App) -> Room:
    return Room(policy_app, policy_app.admin).furnish()


class TestRegistering:
    def test_a_policy_that_fits_goes_into_the_shadow(self, room: Room) -> None:
        reply = room.send(zipped(LIKES_PRINCIPLES))
        assert reply.status_code == 201
        policy = reply.json()["policy"]
        assert (policy["state"], policy["share"], policy["reason"]) == ("shadow", 0, "registered")
        assert policy["manifest"]["encoder"] == ENCODER.fingerprint
        assert room.caller.get(f"/v1/policies/{policy['id']}") == policy
        assert room.states() == {policy["id"]: "shadow"}
        assert room.status()["serves"] == "fixed-1"

    @pytest.mark.parametrize(
        ("trained", "named"),
        [
            ({"encoder": "minilm:53aa5117"}, "encoder"),
            ({"feature_schema": 2}, "feature schema"),
            ({"dimension": 32}, "dimension"),
            ({"feature_names": ("smell", *NAMES[1:])}, "'smell'"),
        ],
    )
    def test_one_that_does_not_fit_is_refused_by_what_differs(
        self, room: Room, trained: dict[str, Any], named: str
    ) -> None:
        reply = room.send(zipped({}, **trained))
        assert (reply.status_code, reply.json()["code"]) == (422, "unfit_policy")
        assert named in reply.json()["detail"]
        assert room.states() == {}

    @pytest.mark.parametrize(
        ("body", "named"),
        [
            (b"no zip at all", "zip"),
            (b"", "zip"),
            (zipped({})[:-30], "zip"),
        ],
        ids=["garbage", "nothing", "cut"],
    )
    def test_what_is_no_policy_is_refused(self, room: Room, body: bytes, named: str) -> None:
        reply = room.send(body)
        assert (reply.status_code, reply.json()["code"]) == (422, "unusable_policy")
        assert named in reply.json()["detail"]

    def test_a_zip_that_swells_or_lacks_a_file_is_refused(self, room: Room) -> None:
        manifest = folder({}).manifest.encoded()
        swelling = _zip({"manifest.json": manifest, "policy.safetensors": bytes(65 * 1024 * 1024)})
        assert len(swelling) < 100_000
        for body in (swelling, _zip({"manifest.json": manifest})):
            reply = room.send(body)
            assert (reply.status_code, reply.json()["code"]) == (422, "unusable_policy")
            assert "policy.safetensors" in reply.json()["detail"]

    def test_a_body_over_the_limit_is_not_even_read(self, room: Room) -> None:
        assert room.send(bytes(600 * 1024)).status_code == 413

    def test_the_same_weights_come_once_a_namespace(self, room: Room) -> None:
        first = room.register(LIKES_NOTES)
        again = room.send(zipped(LIKES_NOTES))
        assert (again.status_code, again.json()["code"]) == (409, "policy_exists")
        assert first in again.json()["detail"]
        other = Room(room.app, room.caller)
        assert other.register(LIKES_NOTES) != first

    def test_a_shadow_of_many_takes_no_more_until_some_are_retired(self, room: Room) -> None:
        made = [room.register({"kind_note": float(n)}) for n in range(1, MOST_IN_THE_SHADOW + 1)]
        refused = room.send(zipped(LIKES_PRINCIPLES))
        assert (refused.status_code, refused.json()["code"]) == (409, "too_many_shadows")
        room.moved(made[0], "retire")
        room.register(LIKES_PRINCIPLES)

    def test_an_idempotency_key_registers_once(self, room: Room) -> None:
        headers = {"Idempotency-Key": str(uuid4())}
        replies = [room.send(zipped(LIKES_NOTES), headers=headers) for _ in range(2)]
        assert [reply.status_code for reply in replies] == [201, 201]
        assert replies[0].json() == replies[1].json()
        other = room.send(zipped(LIKES_PRINCIPLES), headers=headers)
        assert other.json()["code"] == "idempotency_conflict"

    def test_writers_may_and_readers_and_strangers_may_not(self, room: Room) -> None:
        reader = room.caller.with_key("reader", room.namespace)
        stranger = room.caller.with_key("writer", "elsewhere")
        foreign = room.caller.with_key("admin", "**", tenant=f"tenant-{uuid4().hex}")
        for caller in (reader, stranger):
            reply = room.send(zipped({}), caller=caller)
            assert (reply.status_code, reply.json()["code"]) == (403, "namespace_forbidden")
        writer = room.caller.with_key("writer", room.namespace)
        made = room.send(zipped({}), caller=writer).json()["policy"]["id"]
        assert reader.get(f"/v1/policies/{made}")["id"] == made
        for caller in (stranger, foreign):
            for method, path in (
                ("GET", f"/v1/policies/{made}"),
                ("GET", f"/v1/policies/{made}/evaluation"),
            ):
                assert caller(method, path).json()["code"] == "policy_not_found"
        assert room.send(zipped({}), caller=foreign).status_code == 201
        assert list(room.states()) == [made]

    def test_only_admins_of_the_namespace_move_policies(self, room: Room) -> None:
        made = room.register(LIKES_NOTES)
        bodies = {"shadow": {}, "canary": {"override": "x"}, "promote": {"override": "x"}}
        bodies["retire"] = {}
        for role in ("reader", "writer"):
            caller = room.caller.with_key(role, room.namespace)
            for to, body in bodies.items():
                refused = caller("POST", f"/v1/policies/{made}/{to}", json=body)
                assert (refused.status_code, refused.json()["code"]) == (403, "role_forbidden")
            asked = {"namespace": room.namespace, "reason": "x"}
            refused = caller("POST", "/v1/policies/rollback", json=asked)
            assert (refused.status_code, refused.json()["code"]) == (403, "role_forbidden")
        elsewhere = room.caller.with_key("admin", "elsewhere")
        foreign = room.caller.with_key("admin", "**", tenant=f"tenant-{uuid4().hex}")
        for caller in (elsewhere, foreign):
            for to, body in bodies.items():
                refused = caller("POST", f"/v1/policies/{made}/{to}", json=body)
                assert (refused.status_code, refused.json()["code"]) == (404, "policy_not_found")
        assert room.states() == {made: "shadow"}


class TestShadows:
    def test_they_are_logged_with_every_decision_and_never_served(self, room: Room) -> None:
        before = room.retrieve()
        alike, opposed = room.register(LIKES_NOTES), room.register(LIKES_PRINCIPLES)
        reply = room.retrieve()
        assert reply["policy"] == "fixed-1"
        assert [item["id"] for item in reply["items"]] == [item["id"] for item in before["items"]]
        note, principle = (UUID(item["version_id"]) for item in reply["items"])
        orders = {shadow.policy: shadow.order for shadow in room.logged(reply).shadows}
        assert orders == {alike: (note, principle), opposed: (principle, note)}

    def test_the_status_tells_how_far_they_agree(self, room: Room) -> None:
        alike, opposed = room.register(LIKES_NOTES), room.register(LIKES_PRINCIPLES)
        for _ in range(3):
            room.retrieve(k=1)
        room.settle()
        agreements = {policy: room.standing(policy)["agreement"] for policy in (alike, opposed)}
        assert agreements == {
            alike: {"decisions": 3, "failed": 0, "overlap": 1.0},
            opposed: {"decisions": 3, "failed": 0, "overlap": 0.0},
        }
        assert room.status()["latest"] == {"fixed-1": 3}

    def test_one_whose_weights_are_gone_fails_no_retrieve(self, room: Room) -> None:
        lost = room.register(LIKES_PRINCIPLES, bias=float(uuid4().int % 1000))
        _lose_weights(room, lost)
        assert room.kinds() == ["note", "principle"]
        assert room.status()["policies"][0]["agreement"]["decisions"] == 0
        evaluation = room.caller("GET", f"/v1/policies/{lost}/evaluation")
        assert (evaluation.status_code, evaluation.json()["code"]) == (422, "unusable_policy")


class TestServing:
    def test_each_promotion_and_rollback_holds_from_the_next_retrieve_on(self, room: Room) -> None:
        first, second = room.register(LIKES_PRINCIPLES), room.register(LIKES_NOTES)
        assert room.retrieve()["policy"] == "fixed-1"
        room.force(first)
        reply = room.retrieve()
        assert reply["policy"] == first == room.status()["serves"]
        assert [item["kind"] for item in reply["items"]] == ["principle", "note"]
        assert reply["items"][0]["score"] == pytest.approx(1 / (1 + 2.718281828**-5))
        moved = room.force(second)
        assert moved["policy"]["previous"] == first
        assert room.retrieve()["policy"] == second
        assert room.states() == {second: "active", first: "retired"}
        assert room.roll_back().status_code == 200
        assert room.retrieve()["policy"] == first
        assert room.states() == {second: "retired", first: "active"}
        assert room.roll_back().status_code == 200
        assert room.retrieve()["policy"] == "fixed-1"
        none = room.roll_back()
        assert (none.status_code, none.json()["code"]) == (404, "no_active_policy")

    def test_rolling_back_ends_at_the_built_in_one_even_where_one_was_active_twice(
        self, room: Room
    ) -> None:
        first, second = room.register(LIKES_PRINCIPLES), room.register(LIKES_NOTES)
        for policy in (first, second, first):
            room.force(policy)
        served = []
        while room.roll_back().status_code == 200 and len(served) < 9:
            served.append(room.status()["serves"])
        assert served == [second, first, "fixed-1"]

    def test_what_was_tried_as_a_canary_meanwhile_comes_back_for_all_runs(self, room: Room) -> None:
        first, second = room.register(LIKES_PRINCIPLES), room.register(LIKES_NOTES)
        room.force(first)
        room.force(second)
        room.moved(first, "shadow")
        room.moved(first, "canary", share=0.5, override="once more")
        room.roll_back()
        assert room.states() == {first: "active", second: "retired"}
        assert room.standing(first)["policy"]["share"] == 0

    @pytest.mark.parametrize(
        ("state", "to"),
        [("active", "shadow"), ("active", "canary"), ("active", "promote"), ("active", "retire")],
    )
    def test_the_active_one_is_only_rolled_back(self, room: Room, state: str, to: str) -> None:
        policy = room.register(LIKES_NOTES)
        room.force(policy)
        body = {"override": "x"} if to in ("canary", "promote") else {}
        refused = room.move(policy, to, **body)
        assert (refused.status_code, refused.json()["code"]) == (409, "wrong_state")
        assert room.states() == {policy: state}

    def test_a_retired_one_can_be_shadowed_again_and_is_not_scored_before(self, room: Room) -> None:
        policy = room.register(LIKES_NOTES)
        room.moved(policy, "retire", reason="not now")
        assert room.logged(room.retrieve()).shadows == ()
        assert room.move(policy, "canary", override="x").json()["code"] == "wrong_state"
        room.moved(policy, "shadow")
        assert [one.policy for one in room.logged(room.retrieve()).shadows] == [policy]

    def test_what_is_active_but_cannot_be_loaded_does_not_serve(
        self, room: Room, caplog: pytest.LogCaptureFixture
    ) -> None:
        lost = room.register(LIKES_PRINCIPLES, bias=float(uuid4().int % 1000))
        room.force(lost)
        _lose_weights(room, lost)
        caplog.clear()
        reply = room.retrieve()
        assert reply["policy"] == "fixed-1"
        assert [item["kind"] for item in reply["items"]] == ["note", "principle"]
        metrics = room.caller("GET", "/metrics").text
        assert f'memserver_policy_failures_total{{policy="{lost}"}} 1.0' in metrics
        assert lost in caplog.text
        assert QUERY not in caplog.text


class TestUndo:
    def test_admins_undo_a_promotion_and_writers_do_not(self, room: Room) -> None:
        first, second = room.register(LIKES_PRINCIPLES), room.register(LIKES_NOTES)
        room.force(first)
        change = room.force(second)["change_id"]
        writer = room.caller.with_key("writer", room.namespace)
        refused = writer("POST", f"/v1/changes/{change}/undo")
        assert (refused.status_code, refused.json()["code"]) == (403, "role_forbidden")
        room.caller.post(f"/v1/changes/{change}/undo")
        assert room.states() == {first: "active", second: "shadow"}
        assert room.retrieve()["policy"] == first

    def test_an_undo_does_not_give_a_namespace_two_active_policies(self, room: Room) -> None:
        first, second = room.register(LIKES_PRINCIPLES), room.register(LIKES_NOTES)
        room.force(first)
        change = room.roll_back().json()["change_id"]
        room.force(second)
        refused = room.caller("POST", f"/v1/changes/{change}/undo")
        assert (refused.status_code, refused.json()["code"]) == (409, "wrong_state")
        assert room.states() == {first: "retired", second: "active"}

    def test_nor_two_canaries(self, room: Room) -> None:
        first, second = room.register(LIKES_PRINCIPLES), room.register(LIKES_NOTES)
        room.moved(first, "canary", override="a test")
        change = room.moved(first, "shadow")["change_id"]
        room.moved(second, "canary", override="a test")
        refused = room.caller("POST", f"/v1/changes/{change}/undo")
        assert (refused.status_code, refused.json()["code"]) == (409, "wrong_state")
        assert room.states() == {first: "shadow", second: "canary"}

    def test_the_log_tells_who_moved_what_and_why(self, room: Room) -> None:
        policy = room.register(LIKES_NOTES)
        room.force(policy)
        room.roll_back()
        changes = room.caller.rows("/v1/changes", namespace=room.namespace, row=policy)
        assert [change["verb"] for change in changes] == [
            "roll_back_policy",
            "promote_policy",
            "register_policy",
        ]
        reasons = [change["reason"] for change in changes]
        assert reasons[0] == "a test"
        assert reasons[1].startswith("override: a test (without it: it is shadow")


def test_two_tenants_with_equal_weights_never_meet(policy_app: App) -> None:
    ours = Room(policy_app, policy_app.admin).furnish()
    foreign = policy_app.admin.with_key("admin", "**", tenant=f"tenant-{uuid4().hex}")
    theirs = Room(policy_app, foreign, ours.namespace).furnish()
    mine, yours = ours.register(LIKES_PRINCIPLES), theirs.register(LIKES_PRINCIPLES)
    ours.force(mine)
    assert (ours.retrieve()["policy"], theirs.retrieve()["policy"]) == (mine, "fixed-1")
    assert theirs.states() == {yours: "shadow"}
    theirs.force(yours)
    ours.roll_back()
    assert (ours.retrieve()["policy"], theirs.retrieve()["policy"]) == ("fixed-1", yours)
    for caller, other in ((ours.caller, yours), (theirs.caller, mine)):
        assert caller("GET", f"/v1/policies/{other}").json()["code"] == "policy_not_found"


class TestRestarts:
    def start(self, stack: ExitStack, data: Path, **more: Any) -> App:
        return start_app(stack, data, housekeeping_s=86_400, **more)

    def test_policies_exploration_and_decisions_outlive_one(self, tmp_path: Path) -> None:
        with ExitStack() as stack:
            app = self.start(stack, tmp_path / "data")
            room = Room(app, app.admin).furnish()
            policy = room.register(LIKES_PRINCIPLES)
            room.force(policy)
            room.explore(mode="learning", share=1, temperature=2, exposure_slots=1)
            decision = room.decision(room.retrieve())
            before = room.status()
        with ExitStack() as stack:
            again = self.start(stack, tmp_path / "data", key=app.admin.key)
            same = Room(again, again.admin, room.namespace)
            assert same.status() == before
            assert same.caller.get(f"/v1/decisions/{decision['id']}") == decision
            assert same.retrieve()["policy"] == policy

    def test_a_policy_does_not_serve_beside_another_encoder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        data, other = tmp_path / "data", HashEncoder(name="other")
        with ExitStack() as stack:
            app = self.start(stack, data)
            room = Room(app, app.admin).furnish()
            policy = room.register(LIKES_PRINCIPLES)
            room.force(policy)
            assert room.retrieve()["policy"] == policy
        for module in (opening, reindexing):
            monkeypatch.setattr(module, "open_encoder", lambda _: other)
        reindexing.reindex_offline(read_settings(data=data))
        with ExitStack() as stack:
            again = self.start(stack, data, key=app.admin.key, encoder=other)
            same = Room(again, again.admin, room.namespace)
            reply = same.retrieve()
            assert reply["policy"] == "fixed-1"
            assert [item["kind"] for item in reply["items"]] == ["note", "principle"]
            assert policy in caplog.text
            assert QUERY not in caplog.text
            assert same.status()["serves"] == policy
            evaluation = same.caller("GET", f"/v1/policies/{policy}/evaluation").json()
            assert evaluation["code"] == "unusable_policy"
            assert other.fingerprint in evaluation["detail"]


class SilentEncoder(HashEncoder):
    """An endpoint that still answers for queries, and for nothing else once it is `silent`."""

    silent = False

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if self.silent:
            raise Unavailable("The encoder does not answer.")
        return super().encode(texts)


def test_a_policy_that_gets_no_vectors_leaves_the_answer_and_the_gates_to_the_built_in_one(
    tmp_path: Path,
) -> None:
    encoder = SilentEncoder()
    with ExitStack() as stack:
        room = Room(app := start_app(stack, tmp_path / "data", encoder=encoder), app.admin)
        room.furnish()
        useless = room.retrieve(k=1)["items"][0]["version_id"]
        for _ in range(8):
            asked = room.retrieve(k=1)["retrieval_id"]
            told = {"retrieval_id": asked, "score": 0, "used": [useless]}
            room.caller.post("/v1/feedback", told)
        assert room.retrieve()["left_out"] == {"lower_bound": 1}
        serving, shadow = room.register(LIKES_NOTES), room.register(LIKES_PRINCIPLES)
        room.force(serving)
        _run(app, delete(VECTOR))
        encoder.silent = True
        reply = room.retrieve()
        assert (reply["policy"], reply["left_out"]) == ("fixed-1", {"lower_bound": 1})
        assert [item["kind"] for item in reply["items"]] == ["principle"]
        logged = room.logged(reply)
        assert [(one.policy, one.order, one.failed) for one in logged.shadows] == [
            (shadow, (), "KeyError")
        ]
        assert room.standing(shadow)["agreement"]["failed"] == 1
        encoder.silent = False
        reply = room.retrieve()
        assert (reply["policy"], reply["left_out"]) == (serving, {})


def _lose_weights(room: Room, policy: str) -> None:
    """Takes them out of the database behind the server's back."""
    weights = room.caller.get(f"/v1/policies/{policy}")["weights_sha256"]
    _run(room.app, delete(POLICY_WEIGHTS).where(POLICY_WEIGHTS.c.hash == weights))


def _run(app: App, statement: Delete) -> None:
    app.server.services.store.write(lambda tx: tx._connection.execute(statement))


def _zip(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()
