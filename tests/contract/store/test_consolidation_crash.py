"""A consolidation that dies at any of its writes leaves the bank as it was: it is one change."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from memserver.domain.items import Status
from memserver.domain.ports import ItemFilter, PageRequest
from memserver.services.consolidated_rows import consolidated
from memserver.services.rated import rated_items
from memserver.storage.sql.store import SqlStore
from memserver_skills.consolidate import plan
from tests.contract.store.world import World, rows_of

SAID = "Open the upper drawer of the tall cabinet first and shut it again before the next one."


class Died(Exception):
    pass


@contextmanager
def dies_at(store: SqlStore, statement: int) -> Iterator[None]:
    """The database connection is lost at the n-th statement that writes."""
    seen = 0

    def count(_c: Any, _cursor: Any, text: str, *rest: Any) -> None:
        nonlocal seen
        if text.startswith(("INSERT", "UPDATE", "DELETE")):
            seen += 1
            if seen == statement:
                raise Died

    event.listen(store._engines.writing, "before_cursor_execute", count)
    try:
        yield
    finally:
        event.remove(store._engines.writing, "before_cursor_execute", count)


@pytest.mark.parametrize("statement", range(1, 9))
def test_a_crash_at_any_write_leaves_the_old_bank_or_the_new_one(
    world: World, store: SqlStore, statement: int
) -> None:
    namespace = world.namespace("team")
    entries = [
        world.entry(namespace, f"{SAID} {more}")
        for more in ("The key hangs there.", "Mind the cat.", "")
    ]
    world.apply(*rows_of(*entries))
    scope = world.scope()

    def bank() -> list[Any]:
        with store.reading() as reader:
            return list(reader.items(scope, ItemFilter((namespace.id,)), PageRequest(100)).rows)

    with store.reading() as reader:
        rated = rated_items(reader, scope, namespace)
    made = plan(rated, near=lambda *_: 1.0, now=world.clock())
    assert made.actions
    before = bank()

    def work(tx: Any) -> None:
        rows = consolidated(tx, scope, made, now=world.clock())
        tx.apply(world.draft(*rows))

    try:
        with dies_at(store, statement):
            store.write(work)
    except Died:
        assert bank() == before
    else:
        assert sum(entry.item.status is Status.ACTIVE for entry in bank()) == made.after
