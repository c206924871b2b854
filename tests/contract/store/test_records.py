"""Plain rows: keys, idempotency records, decisions, operations, vectors and marks."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import pytest

from memserver.domain.decisions import Considered
from memserver.domain.errors import IdConflict, IdempotencyConflict, InvalidNamespace
from memserver.domain.operations import Progress, State
from memserver.domain.ports.paging import PageRequest
from memserver.domain.ports.store import Once, StoredReply, Writer
from memserver.domain.scope import Key, Role
from tests.contract.store.world import World, pages

REPLY = StoredReply(201, {"id": "x", "list": [1, 2.5, None], "ü": "é"})


def _once(world: World, **changed: str) -> Once:
    return replace(Once(world.tenant.id, "POST /v1/x", "key-1", "hash-1"), **changed)


def _key(world: World) -> Key:
    return Key(
        id=uuid4(),
        tenant=world.tenant.id,
        digest=uuid4().hex,
        role=Role.WRITER,
        grants=("team/**", "other"),
        label="a key",
        created_at=world.clock.now,
    )


# --- idempotency


def test_a_reply_is_replayed_for_the_same_key_and_body(world: World) -> None:
    once = _once(world)
    assert world.store.write(lambda tx: tx.replay(once)) is None
    world.store.write(lambda tx: tx.store_reply(once, REPLY))
    assert world.store.write(lambda tx: tx.replay(once)) == REPLY


def test_the_same_key_with_another_body_is_a_conflict(world: World) -> None:
    world.store.write(lambda tx: tx.store_reply(_once(world), REPLY))
    with pytest.raises(IdempotencyConflict):
        world.store.write(lambda tx: tx.replay(_once(world, body_hash="hash-2")))


def test_a_key_is_known_only_to_its_tenant_and_route(world: World) -> None:
    world.store.write(lambda tx: tx.store_reply(_once(world), REPLY))
    others = (_once(world, key="key-2"), _once(world, route="PUT"), _once(world.another()))
    assert [world.store.write(lambda tx, o=o: tx.replay(o)) for o in others] == [None] * 3


def test_a_reply_is_forgotten_after_a_day(world: World) -> None:
    once = _once(world)
    world.store.write(lambda tx: tx.store_reply(once, REPLY))
    world.clock.turn(hours=23, minutes=59)
    assert world.store.write(lambda tx: tx.replay(once)) == REPLY
    world.clock.turn(minutes=1)
    assert world.store.write(lambda tx: tx.replay(_once(world, body_hash="new"))) is None
    newer = StoredReply(200, {})
    world.store.write(lambda tx: tx.store_reply(_once(world, key="key-2"), newer))
    world.store.write(lambda tx: tx.store_reply(_once(world, body_hash="new"), newer))
    assert world.store.write(lambda tx: tx.replay(_once(world, body_hash="new"))) == newer


def test_two_requests_with_one_key_take_effect_once(world: World) -> None:
    here, once = world.namespace(), _once(world)

    def request(_: int) -> StoredReply:
        run = world.run(here)

        def work(tx: Writer) -> StoredReply:
            known = tx.replay(once)
            if known is not None:
                return known
            reply = StoredReply(201, {"position": tx.apply(world.draft(run)).position})
            tx.store_reply(once, reply)
            return reply

        return world.store.write(work)

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(request, range(24)))
    assert all(reply == replies[0] for reply in replies)
    with world.store.reading() as reader:
        assert len(reader.feed(0, 100)) == 1


# --- access


def test_a_key_is_found_by_its_digest_and_stays_after_being_revoked(world: World) -> None:
    key = _key(world)
    with world.store.reading() as reader:
        assert not reader.has_keys()
    world.store.write(lambda tx: tx.add_key(key))
    with world.store.reading() as reader:
        assert reader.has_keys()
        assert reader.key_by_digest(key.digest) == key
        assert reader.key_by_digest("unknown") is None
    world.store.write(lambda tx: tx.revoke_key(key.id, uuid4()))
    revoked_at = world.clock.turn(minutes=1)
    world.store.write(lambda tx: tx.revoke_key(key.id, world.tenant.id))
    world.clock.turn(minutes=1)
    world.store.write(lambda tx: tx.revoke_key(key.id, world.tenant.id))
    with world.store.reading() as reader:
        assert reader.key_by_digest(key.digest) == replace(key, revoked_at=revoked_at)


def test_keys_are_paged_oldest_first(world: World) -> None:
    keys = []
    for _ in range(5):
        keys.append(_key(world))
        world.store.write(lambda tx: tx.add_key(keys[-1]))
        world.clock.turn(seconds=1)
    hidden = replace(_key(world), grants=("**",))
    world.store.write(lambda tx: tx.add_key(hidden))
    with world.store.reading() as reader:
        scope = world.scope("team/**", "other")
        found = [key for page in pages(lambda p: reader.keys(scope, p), 2) for key in page.rows]
    assert found == keys


def test_a_tenant_is_found_by_its_name_and_id(world: World) -> None:
    with world.store.reading() as reader:
        assert reader.tenant(world.tenant.name) == world.tenant
        assert reader.tenant(world.tenant.name.upper()) is None
        assert reader.tenant_by_id(world.tenant.id) == world.tenant
        with pytest.raises(KeyError):
            reader.tenant_by_id(uuid4())


@pytest.mark.parametrize("path", ["", "/", "a//b", "a/", "**", "a/**", "a b", "ä", "x" * 201, "%"])
def test_what_is_no_namespace_is_not_made_one(world: World, path: str) -> None:
    with pytest.raises(InvalidNamespace):
        world.namespace(path)


# --- decisions


def test_a_decision_comes_back_to_the_last_digit(world: World) -> None:
    candidates = (
        Considered(uuid4(), (0.1 + 0.2, 0.0, -1e-300, 1e22), rank=1, packed=True, propensity=0.3),
        Considered(uuid4(), (), rank=None, packed=False, gated="lower bound"),
        Considered(uuid4(), (1.0,), rank=2, packed=False),
    )
    run = uuid4()
    here = world.namespace()
    decision = world.decision(here, trajectory_id=run, candidates=candidates)
    bare = replace(
        world.decision(here, candidates=(), trajectory_id=run),
        created_at=world.clock.turn(seconds=1),
    )
    world.store.write(lambda tx: (tx.add_decision(decision), tx.add_decision(bare)))
    with world.store.reading() as reader:
        assert reader.decision(world.scope(), decision.id) == decision
        assert reader.decisions_of_trajectory(world.scope(), run) == (decision, bare)
        assert reader.decisions_of_trajectory(world.scope(), uuid4()) == ()


# --- operations


def test_an_operation_comes_back_as_it_was_last_put(world: World) -> None:
    operation = world.operation(world.namespace())
    world.store.write(lambda tx: tx.put_operation(operation))
    later = replace(
        operation,
        state=State.RUNNING,
        updated_at=world.clock.turn(seconds=3),
        progress=Progress(3, 10, "reading"),
        steps_done=("read", "write"),
        report={"made": 3},
        error="none yet",
        change_id=uuid4(),
        attempt=2,
    )
    world.store.write(lambda tx: tx.put_operation(later))
    with world.store.reading() as reader:
        assert reader.operation(world.scope(), operation.id) == later
        assert reader.any_operation(operation.id) == later
        assert reader.any_operation(uuid4()) is None
    assert world.store.write(lambda tx: tx.lock_operation(operation.id)) == later


def test_an_operation_of_another_tenant_is_not_overwritten(world: World) -> None:
    operation = world.operation(world.namespace())
    world.store.write(lambda tx: tx.put_operation(operation))
    other = world.another()
    stolen = replace(operation, tenant=other.tenant.id, namespace=other.namespace())
    with pytest.raises(IdConflict):
        world.store.write(lambda tx: tx.put_operation(stolen))


def test_operations_are_listed_newest_first_and_unfinished_ones_oldest_first(
    world: World,
) -> None:
    here = world.namespace()
    operations = []
    for state in (*State, State.PENDING):
        operations.append(world.operation(here, state))
        world.store.write(lambda tx: tx.put_operation(operations[-1]))
        world.clock.turn(seconds=1)
    with world.store.reading() as reader:
        listed = pages(lambda page: reader.operations(world.scope(), (), page), 2)
        assert [one for page in listed for one in page.rows] == operations[::-1]
        pending = reader.operations(world.scope(), (State.PENDING,), PageRequest()).rows
        assert pending == (operations[-1], operations[0])
        unfinished = [one for one in operations if not one.ended]
        assert list(reader.unfinished_operations()) == unfinished


# --- the projection


def test_vectors_are_kept_by_hash_and_fingerprint(world: World) -> None:
    world.store.write(lambda tx: tx.put_vectors("f1", {"a": b"\x00\x01", "b": b"2"}))
    world.store.write(lambda tx: tx.put_vectors("f1", {"a": b"\x00\x01", "c": b"3"}))
    world.store.write(lambda tx: tx.put_vectors("f2", {"a": b"other"}))
    world.store.write(lambda tx: tx.put_vectors("f2", {}))
    with world.store.reading() as reader:
        assert reader.vectors(["a", "c", "zzz"], "f1") == {"a": b"\x00\x01", "c": b"3"}
        assert reader.vectors(["a", "b"], "f2") == {"a": b"other"}
        assert reader.vectors([], "f1") == {}


def test_a_mark_moves(world: World) -> None:
    with world.store.reading() as reader:
        assert reader.mark("index") is None
    world.store.write(lambda tx: tx.set_mark("index", 3, "f1"))
    world.store.write(lambda tx: tx.set_mark("index", 2**40, "f2"))
    with world.store.reading() as reader:
        assert reader.mark("index") == (2**40, "f2")
        assert reader.mark("other") is None
