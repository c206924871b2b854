"""The indexer follows the change log, over fakes of the store, the index and the encoder."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from memserver.domain.errors import EncoderChanged, Unavailable
from memserver.domain.ports import Point, View
from memserver.domain.ports.store import PAST
from memserver.services.indexing import audit, check_encoder, reindex_offline
from memserver.services.indexing_projection import point_id
from memserver.storage.encoders import Bm25Encoder
from tests.fakes.encoder import HashEncoder
from tests.fakes.feed_store import TENANT, document
from tests.fakes.indexing_world import SOON_S, World, key, reach, until


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    for indexer in made.indexers:
        indexer.stop()


def test_a_change_is_in_the_index_once_its_position_is_reached(world: World) -> None:
    indexer = world.start()

    position = world.store.put(document(1), document(2))
    reach(indexer, position)

    assert world.indexed == {key(document(1)), key(document(2))}
    assert indexer.applied == position
    assert indexer.lag == 0


def test_what_is_no_longer_live_leaves_the_index(world: World) -> None:
    indexer = world.start()
    world.store.put(document(1), document(2), document(3))
    world.store.remove(document(1))
    reach(indexer, world.store.put(document(2, live=False)))

    assert world.indexed == {key(document(3))}


def test_a_document_with_the_same_id_in_another_tenant_is_left_alone(world: World) -> None:
    mine, theirs = document(1), document(1, tenant=UUID(int=0xB))
    indexer = world.start()
    world.store.put(mine)
    world.store.put(theirs)
    reach(indexer, world.store.remove(mine))

    assert world.indexed == {key(theirs)}


def test_windows_that_a_shorter_text_no_longer_has_are_removed(world: World) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(document(1, "word " * 1000)))
    assert world.index.count() > 1

    reach(indexer, world.store.put(document(1, "short now")))

    assert world.index.count() == 1


def test_there_is_no_moment_at_which_an_item_has_only_a_past(world: World) -> None:
    indexer = world.start()
    first = document(1, "red")
    reach(indexer, world.store.put(first))
    put: list[list[str]] = []
    upsert = world.index.upsert

    def noted(points: Sequence[Point]) -> None:
        put.append([point.status for point in points])
        upsert(points)

    world.index.upsert = noted  # type: ignore[method-assign]
    second = replace(document(2, "blue"), item=first.item)
    reach(indexer, world.store.put(replace(first, status=PAST), second))

    assert put == [["active", PAST]]


def test_what_is_past_is_put_again_only_where_it_changed_or_may_have_been_lost(
    world: World,
) -> None:
    indexer = world.start()
    past, now = replace(document(1), status=PAST), document(2)
    reach(indexer, world.store.put(past, now))
    before = world.index.points[point_id(key(past), 0)]

    reach(indexer, world.store.put(past, now))
    assert world.index.points[point_id(key(past), 0)] is before

    reach(indexer, world.store.put(replace(past, valid_to=5), now))
    assert world.index.points[point_id(key(past), 0)].valid_to == 5

    del world.index.points[point_id(key(past), 0)]
    indexer.rebuild().result(SOON_S)
    assert point_id(key(past), 0) in world.index.points

    world.index.lose()
    until(lambda: world.indexed == {key(past), key(now)})


def test_a_context_is_indexed_as_a_view_of_its_own_for_as_long_as_there_is_one(
    world: World,
) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(document(1, "yes", context="is it red? yes"), document(2)))
    views = sorted((p.document.int, p.view.value) for p in world.index.points.values())
    assert views == [(1, "context"), (1, "own"), (2, "own")]

    reach(indexer, world.store.put(document(1, "yes")))

    assert {point.view for point in world.index.points.values()} == {View.OWN}


def test_a_document_that_is_touched_again_never_leaves_the_index(world: World) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(document(1)))
    seen: list[int] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            seen.append(world.index.count())

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(20):
        reach(indexer, world.store.put(document(1)))
    stop.set()
    watcher.join()

    assert set(seen) == {1}


def test_a_text_is_embedded_once_however_often_it_is_indexed(world: World) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(document(1), document(2, document(1).text)))
    reach(indexer, world.store.put(document(1)))

    assert [len(texts) for texts in world.encoder.encoded] == [1]


def test_a_lost_index_is_built_again_without_embedding(world: World) -> None:
    indexer = world.start()
    for number in range(1, 600):
        world.store.put(document(number, f"text {number % 7}"))
    reach(indexer, world.store.head_position())
    embedded = len(world.encoder.encoded)

    world.index.lose()
    indexer.wake()
    until(lambda: world.index.count() == 599 and indexer.problem is None)

    assert len(world.encoder.encoded) == embedded
    assert not audit(world.store, world.index)


def test_a_lost_index_counts_as_reaching_nothing_until_it_is_rebuilt(world: World) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(document(1)))
    world.index.fails = [Unavailable("not now")] * 100_000

    world.index.lose()
    indexer.wake()
    until(lambda: indexer.applied == 0)
    assert indexer.lag == 1
    assert not indexer.reached(1).done()
    assert world.store.mark("index") == (0, world.encoder.fingerprint)

    world.index.fails = []
    indexer.reached(1).result(SOON_S)
    assert world.indexed == {key(document(1))}


def test_what_is_written_during_a_rebuild_is_searchable_before_it_ends(world: World) -> None:
    for number in range(1, 400):
        world.store.put(document(number))
    late = document(999, "late")
    entered, go_on = threading.Event(), threading.Event()
    put = world.index.upsert

    def slow_upsert(points: list) -> None:  # type: ignore[type-arg]
        if len(points) > 1:
            entered.set()
            go_on.wait(SOON_S)
            go_on.clear()
        put(points)

    world.index.upsert = slow_upsert  # type: ignore[method-assign,assignment]
    indexer = world.start()
    assert entered.wait(SOON_S)
    position = world.store.put(late)
    go_on.set()
    indexer.reached(position).result(SOON_S)

    assert indexer.applied == 0
    assert key(late) in world.indexed
    go_on.set()
    indexer.reached(1).result(SOON_S)
    assert world.index.count() == 400


def test_a_stop_in_the_middle_of_a_rebuild_is_no_end_of_it(world: World) -> None:
    for number in range(1, 600):
        world.store.put(document(number))
    world.index.fails = [Unavailable("not now")] * 100_000
    indexer = world.start()
    until(lambda: indexer.problem is not None)
    world.index.fails = []

    again = world.restart()
    again.reached(599).result(SOON_S)

    assert world.index.count() == 599


def test_the_mark_moves_only_after_a_flush(world: World) -> None:
    indexer = world.start(flush_every_s=3600)
    reach(indexer, world.store.put(document(1)))
    flushes = world.index.flushes
    reach(indexer, world.store.put(document(2)))
    assert world.store.mark("index") != (2, world.encoder.fingerprint)
    assert world.index.flushes == flushes

    indexer.stop()

    assert world.store.mark("index") == (2, world.encoder.fingerprint)
    assert world.index.flushes == flushes + 1


def test_a_failed_flush_does_not_move_the_mark(world: World) -> None:
    indexer = world.start(flush_every_s=3600)
    reach(indexer, world.store.put(document(1)))

    def fail() -> None:
        raise Unavailable("the disk is full")

    world.index.flush = fail  # type: ignore[method-assign]
    reach(indexer, world.store.put(document(2)))
    indexer.stop()

    assert world.store.mark("index") != (2, world.encoder.fingerprint)


def test_a_restart_goes_on_from_the_mark(world: World) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(document(1)))
    indexer.stop()
    upserts = world.index.upserts
    world.store.put(document(2))

    again = world.restart()
    again.reached(2).result(SOON_S)

    assert world.indexed == {key(document(1)), key(document(2))}
    assert world.index.upserts == upserts + 1


def test_an_emptied_index_is_noticed_at_the_start(world: World) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(document(1)))
    indexer.stop()
    world.index.points.clear()

    world.restart().reached(1).result(SOON_S)

    assert world.indexed == {key(document(1))}


def test_another_encoder_is_refused(world: World) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(document(1)))
    indexer.stop()
    world.encoder = HashEncoder(name="another")

    with pytest.raises(EncoderChanged, match="another"):
        world.start()
    with pytest.raises(EncoderChanged):
        check_encoder(world.store, "another/64")


def test_a_failure_is_retried_until_it_is_over_and_says_why_meanwhile(world: World) -> None:
    indexer = world.start()
    until(lambda: indexer.problem is None)
    world.index.fails = [Unavailable("the index is away")] * 100_000
    waiting = indexer.reached(world.store.put(document(1)))
    indexer.wake()
    until(lambda: indexer.problem == "the index is away")
    assert not waiting.done()

    world.index.fails = []
    waiting.result(SOON_S)

    until(lambda: indexer.problem is None)
    assert indexer.skipped == ()


def test_an_error_of_the_store_is_told_without_its_text(world: World) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(document(1)))
    world.store.fails = [RuntimeError("INSERT ... 'a secret'")] * 50
    until(lambda: indexer.problem is not None)

    assert indexer.problem == "RuntimeError"


def test_a_document_that_cannot_be_indexed_does_not_block_the_others(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    bad = document(2, "a secret")
    world.index.refused = {bad.id}
    indexer = world.start()
    reach(indexer, world.store.put(document(1), bad, document(3)))

    assert world.indexed == {key(document(1)), key(document(3))}
    assert indexer.skipped == (key(bad),)
    assert str(bad.id) in caplog.text
    assert "secret" not in caplog.text


def test_a_skipped_document_is_tried_again_when_it_changes(world: World) -> None:
    bad = document(1)
    world.index.refused = {bad.id}
    indexer = world.start()
    reach(indexer, world.store.put(bad))
    assert indexer.skipped == (key(bad),)

    world.index.refused = set()
    reach(indexer, world.store.put(bad))

    assert indexer.skipped == ()
    assert world.indexed == {key(bad)}


def test_a_document_that_makes_the_engine_lose_everything_does_so_a_few_times_only(
    world: World,
) -> None:
    indexer = world.start()
    for number in range(1, 20):
        world.store.put(document(number))
    world.index.poisonous = {UUID(int=20)}
    world.store.put(document(20), document(21))
    indexer.wake()
    until(lambda: world.index.count() == 20 and indexer.problem is None)
    for number in range(22, 30):
        reach(indexer, world.store.put(document(number)))

    assert indexer.skipped == (key(document(20)),)
    assert len(world.index.resets) <= 4
    assert len(world.indexed) == 28


def test_a_rebuild_removes_what_is_not_live_and_adds_what_is_missing(world: World) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(*[document(number) for number in range(1, 300)]))
    del world.store.live[key(document(7))]
    world.index.delete_documents([key(document(8))])
    drift = audit(world.store, world.index)
    assert drift.missing == (key(document(8)),)
    assert drift.orphans == (key(document(7)),)
    told: list[int] = []

    assert indexer.rebuild(told.append).result(SOON_S) == 298

    assert not audit(world.store, world.index)
    assert told == [256, 298]
    assert indexer.applied == 1


def test_a_rebuild_ends_where_its_progress_raises(world: World) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(document(1)))

    def cancel(done: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        indexer.rebuild(cancel).result(SOON_S)
    reach(indexer, world.store.put(document(2)))
    assert indexer.rebuild().result(SOON_S) == 2


def test_a_rebuild_that_a_stop_cuts_off_says_so(world: World) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(document(1)))
    world.index.fails = [Unavailable("not now")] * 100_000
    under_way = indexer.rebuild()
    until(lambda: indexer.problem is not None)

    indexer.stop()

    for rebuild in (under_way, indexer.rebuild()):
        with pytest.raises(Unavailable):
            rebuild.result(SOON_S)


def test_reindexing_offline_takes_another_encoder_and_leaves_nothing_of_the_old(
    world: World,
) -> None:
    indexer = world.start()
    reach(indexer, world.store.put(document(1), document(2)))
    indexer.stop()
    world.encoder = HashEncoder(name="another", dimension=16)
    told: list[int] = []

    assert (
        reindex_offline(
            world.store, world.index, world.encoder, Bm25Encoder(), progress=told.append
        )
        == ()
    )

    assert told == [2]
    assert {len(point.dense) for point in world.index.points.values()} == {16}
    world.restart().reached(1).result(SOON_S)


def test_a_waiter_may_give_up(world: World) -> None:
    indexer = world.start()
    given_up, patient = indexer.reached(1), indexer.reached(1)
    given_up.cancel()

    reach(indexer, world.store.put(document(1)))

    assert patient.result(SOON_S) is None
    assert indexer.problem is None


def test_stopping_tells_those_who_wait(world: World) -> None:
    indexer = world.start()
    waiting = indexer.reached(99)

    indexer.stop()
    indexer.stop()

    with pytest.raises(Unavailable):
        waiting.result(SOON_S)
    with pytest.raises(Unavailable):
        indexer.reached(99).result(SOON_S)


def test_an_early_change_does_not_wait_for_a_late_large_one(world: World) -> None:
    indexer = world.start()
    until(lambda: indexer.problem is None)
    order: list[int] = []
    small, large = indexer.reached(1), indexer.reached(2)
    small.add_done_callback(lambda _: order.append(world.index.count()))

    with world.store.reading():
        world.store.put(document(1))
        world.store.put(*[document(number) for number in range(2, 600)])
    large.result(SOON_S)

    assert order == [1]


def test_documents_of_many_tenants_are_followed_in_one_batch(world: World) -> None:
    tenants = [UUID(int=100 + number) for number in range(5)]
    with world.store.reading():
        for tenant in tenants:
            world.store.put(document(1, tenant=tenant))
    indexer = world.start()

    indexer.reached(5).result(SOON_S)

    assert {one.tenant for one in world.indexed} == set(tenants)
    assert TENANT not in {one.tenant for one in world.indexed}
