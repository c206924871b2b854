"""What a store tells whoever watches it."""

import pytest

from memserver.domain.changes import Verb
from memserver.domain.operations import State
from memserver.domain.policies import PolicyInUse, PolicyRole, PolicyState
from memserver.domain.ports.store import Writer
from memserver.storage.sql.store import SqlStore
from tests.contract.store.world import World


def test_changes_are_counted_by_verb_once_they_are_durable(world: World, store: SqlStore) -> None:
    here = world.namespace()
    world.apply(world.run(here))
    world.undo(world.apply(world.run(here)))

    expected = dict.fromkeys(Verb, 0) | {Verb.REMEMBER: 2, Verb.UNDO: 1}
    assert store.written() == expected


def test_what_is_rolled_back_is_not_counted(world: World, store: SqlStore) -> None:
    here = world.namespace()

    def apply_and_fail(tx: Writer) -> None:
        tx.apply(world.draft(world.run(here)))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.write(apply_and_fail)

    assert sum(store.written().values()) == 0


def test_works_that_nobody_waits_for_are_counted_as_kept_or_dropped(store: SqlStore) -> None:
    def fail(_: Writer) -> None:
        raise RuntimeError

    store.write_later(lambda tx: None)
    store.write_later(fail)
    store.write(lambda tx: None)

    assert (store.kept, store.dropped, store.waiting) == (1, 1, 0)


def test_operations_of_every_tenant_are_counted_by_state(world: World, store: SqlStore) -> None:
    for owner, state in (
        (world, State.FAILED),
        (world, State.RUNNING),
        (world.another(), State.RUNNING),
    ):
        operation = owner.operation(owner.namespace(), state)
        store.write(lambda tx, put=operation: tx.put_operation(put))  # type: ignore[misc]

    expected = dict.fromkeys(State, 0) | {State.FAILED: 1, State.RUNNING: 2}
    assert store.operations() == expected


def test_policies_in_use_are_told_without_whose_they_are(world: World, store: SqlStore) -> None:
    active = world.policy(world.namespace(), PolicyState.ACTIVE)
    retired = world.policy(world.namespace(), PolicyState.RETIRED)
    world.apply(active, retired)

    expected = PolicyInUse(PolicyRole.RETRIEVE, active.id, PolicyState.ACTIVE)
    assert store.policies_in_use() == (expected,)
