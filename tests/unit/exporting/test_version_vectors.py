"""Vectors of versions and runs: those the index was given, kept, and only within reach."""

import hashlib
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from memserver.domain.changes import RowRef, Table
from memserver.domain.items import Entry
from memserver.domain.scope import Scope
from memserver.domain.trajectories import Task
from memserver.services.version_vectors import Vector, VersionVectors
from memserver.storage.sql.store import SqlStore
from tests.contract.store.world import World, ref, rows_of
from tests.fakes.encoder import HashEncoder


@pytest.fixture
def encoder() -> HashEncoder:
    return HashEncoder(window_words=8)


@pytest.fixture
def vectors(store: SqlStore, encoder: HashEncoder) -> VersionVectors:
    return VersionVectors(store, encoder)


LONG = "one two three four five six seven eight nine ten eleven twelve"


def added(world: World, text: str, *, path: str = "team") -> Entry:
    entry = world.entry(world.namespace(path), text)
    world.apply(*rows_of(entry))
    return entry


def read(
    world: World, vectors: VersionVectors, *ids: UUID, scope: Scope | None = None
) -> dict[UUID, Vector]:
    with world.store.reading() as reader:
        return vectors.of(reader, scope or world.scope(), ids)


def test_the_first_window_counts_of_a_text_longer_than_the_encoder_takes(
    world: World, encoder: HashEncoder, vectors: VersionVectors
) -> None:
    entry = added(world, LONG)
    with world.store.reading() as reader:
        found = vectors.of(reader, world.scope(), [entry.version.id])
    assert len(encoder.windows(entry.version.text)) > 1
    first = encoder.windows(entry.version.text)[0]
    assert np.array_equal(found[entry.version.id], encoder.encode([first])[0])
    assert found[entry.version.id].dtype == np.float32


def test_a_vector_that_the_index_was_built_from_is_read_and_not_made_again(
    world: World, encoder: HashEncoder, vectors: VersionVectors
) -> None:
    entry = added(world, "kept")
    name = hashlib.sha256(entry.version.text.encode()).hexdigest()
    kept = np.arange(encoder.dimension, dtype="<f4")
    world.store.write(lambda tx: tx.put_vectors(encoder.fingerprint, {name: kept.tobytes()}))
    with world.store.reading() as reader:
        found = vectors.of(reader, world.scope(), [entry.version.id])
    assert np.array_equal(found[entry.version.id], kept)
    assert encoder.encoded == []


def test_what_had_to_be_encoded_is_kept_for_the_next_process(
    store: SqlStore, world: World, encoder: HashEncoder, vectors: VersionVectors
) -> None:
    entry = added(world, "new")
    first = read(world, vectors, entry.version.id)
    store.write(lambda tx: None)  # what was queued before it is committed by now
    again = read(world, VersionVectors(store, encoder), entry.version.id)
    assert len(encoder.encoded) == 1
    assert {k: v.tolist() for k, v in first.items()} == {k: v.tolist() for k, v in again.items()}


def test_a_kept_vector_is_not_given_to_who_may_not_read_its_namespace(
    world: World, vectors: VersionVectors
) -> None:
    entry = added(world, "private", path="team/secret")
    assert read(world, vectors, entry.version.id)
    narrow = world.scope("team/open")
    assert read(world, vectors, entry.version.id, scope=narrow) == {}
    assert read(world.another(), vectors, entry.version.id) == {}


def test_the_same_id_in_another_tenant_is_another_version(
    world: World, encoder: HashEncoder, vectors: VersionVectors
) -> None:
    entry = added(world, "mine")
    other = world.another()
    twin = other.entry(other.namespace(), "theirs")
    twin = Entry(
        replace(twin.item, head=entry.version.id), replace(twin.version, id=entry.version.id)
    )
    other.apply(*rows_of(twin))
    assert read(world, vectors, entry.version.id)
    with world.store.reading() as reader:
        found = vectors.of(reader, other.scope(), [entry.version.id])
    assert np.array_equal(found[entry.version.id], encoder.encode([twin.version.text])[0])


def test_a_run_has_the_vector_of_what_the_index_holds_of_it(
    world: World, encoder: HashEncoder, vectors: VersionVectors
) -> None:
    run = world.run(world.namespace(), goal="  put\n a mug   away ")
    world.apply(run)
    with world.store.reading() as reader:
        found = vectors.of(reader, world.scope(), [run.id])
        [document] = reader.documents(world.tenant.id, [RowRef(Table.TRAJECTORY, run.id)])
    assert np.array_equal(found[run.id], encoder.encode([document.text])[0])


def test_a_run_that_came_again_with_another_goal_has_the_new_goal_s_vector(
    world: World, encoder: HashEncoder, vectors: VersionVectors
) -> None:
    run = world.run(world.namespace(), goal="first")
    world.apply(run)
    read(world, vectors, run.id)
    world.apply(deletes=(ref(run),))
    world.apply(replace(run, task=Task("second")))
    with world.store.reading() as reader:
        found = vectors.of(reader, world.scope(), [run.id])
    assert np.array_equal(found[run.id], encoder.encode(["second"])[0])


def test_what_the_caller_has_loaded_is_not_loaded_again(
    world: World, encoder: HashEncoder, vectors: VersionVectors
) -> None:
    entry = added(world, "loaded")
    with world.store.reading() as reader:
        found = vectors.of_texts(reader, {entry.version.id: entry.version.text})
        again = vectors.of_texts(None, {entry.version.id: entry.version.text})  # type: ignore[arg-type]
    assert np.array_equal(found[entry.version.id], again[entry.version.id])
    assert len(encoder.encoded) == 1


def test_no_more_is_kept_than_asked(store: SqlStore, world: World, encoder: HashEncoder) -> None:
    vectors = VersionVectors(store, encoder, kept=2)
    entries = [added(world, text) for text in ("a", "b", "c")]
    found = read(world, vectors, *(entry.version.id for entry in entries))
    assert len(found) == 3
    assert len(vectors._vectors) == len(vectors._placed) == 2


def test_unknown_ids_have_no_vector(world: World, vectors: VersionVectors) -> None:
    assert read(world, vectors, UUID(int=7)) == {}
