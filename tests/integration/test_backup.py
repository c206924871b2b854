"""Everything out as one archive while the server runs, and back in: all of it, row for row."""

import gzip
import io
import json
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from memserver.domain.backups import check
from memserver.storage.sql.tables import metadata
from tests.fakes.encoder import HashEncoder
from tests.integration.archives import (
    NS,
    TEXTS,
    as_known_to,
    backup,
    fill,
    ids_in,
    members,
    restored,
    rows_of,
    seen,
    table_rows,
)
from tests.integration.conftest import App, asked_database, on_both_databases, start_app


@pytest.fixture
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[App]:
    """A second server, new, on the database that is asked for."""
    with ExitStack() as stack:
        yield start_app(stack, tmp_path / "other", database_url=asked_database(request))


# --- round trips -------------------------------------------------------------------------


@on_both_databases("app")
@on_both_databases("other")
def test_a_backup_restores_every_row_on_either_database_and_what_was_found_is_found_again(
    app: App, other: App
) -> None:
    fill(app)
    before = seen(app)
    rows = table_rows(app)
    assert all(rows[name] for name in ("item", "version", "evidence", "decision", "operation"))
    archive = backup(app)

    told = restored(other, archive)

    assert seen(app, as_known_to(app, other))["found"] == before["found"]
    there = table_rows(other)
    # Each of the retrieves above has logged its decision.
    assert {**there, "decision": None} == {**rows, "decision": None}
    assert told["rows"] == {**{name: sum(c.values()) for name, c in rows.items()}, "mark": 1}
    assert seen(app, as_known_to(app, other)) == before


@on_both_databases("app")
@on_both_databases("other")
def test_a_restored_server_goes_on_where_the_other_was(app: App, other: App) -> None:
    fill(app)
    last = max(change["position"] for change in app.admin.rows("/v1/changes", namespace=NS))
    restored(other, backup(app))
    known = as_known_to(app, other)

    added = known.post("/v1/memories", {"namespace": "quite/new", "body": {"text": "one more"}})
    assert added["position"] > last
    assert known.rows("/v1/memories", namespace="quite/new")[0]["id"] == added["id"]
    assert [row["id"] for row in known.rows("/v1/memories", namespace=NS)] == [
        row["id"] for row in app.admin.rows("/v1/memories", namespace=NS)
    ]


def test_after_a_restore_the_index_holds_what_was_restored_and_nothing_else(
    app: App, other: App
) -> None:
    fill(app)
    for n in range(5):
        other.admin.post("/v1/memories", {"namespace": NS, "body": {"text": f"{n} {TEXTS[0]}"}})

    told = restored(other, backup(app), replace=True)

    known = as_known_to(app, other)
    health = known.get("/health/ready", audit=True)["index"]
    assert (health["missing"], health["orphans"], health["lag"]) == (0, 0, 0)
    assert told["searchable"] is True
    assert told["documents"] == len(other.server.services.indexer._index.documents()) > 4


def test_a_namespaces_id_that_meant_another_path_before_means_the_restored_one(
    app: App, other: App
) -> None:
    """Both servers number their namespaces from 1, and the second remembers its own."""
    fill(app)
    other.admin.post("/v1/memories", {"namespace": "first", "body": {"text": TEXTS[0]}})
    assert other.admin.rows("/v1/memories", namespace="first")

    restored(other, backup(app), replace=True)

    known = as_known_to(app, other)
    assert known.rows("/v1/memories", namespace="first") == []
    assert {row["namespace"] for row in known.rows("/v1/memories", namespace=NS)} == {NS}


def test_a_backup_restores_into_its_own_server_what_was_there_then(app: App) -> None:
    fill(app)
    before = seen(app)
    archive, rows = backup(app), table_rows(app)
    app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "written afterwards"}})

    told = restored(app, archive, replace=True)

    assert told["caller_known"] is True
    assert "yours is one of them" in told["keys"]
    assert table_rows(app) == rows
    assert seen(app) == before


def test_the_keys_of_the_backup_count_and_the_reply_says_so(app: App, other: App) -> None:
    told = restored(other, backup(app))

    assert told["caller_known"] is False
    assert "yours is none of them" in told["keys"]
    assert other.admin("GET", "/v1/keys").status_code == 401
    assert as_known_to(app, other).get("/v1/keys")


# --- a consistent state while others write -----------------------------------------------


@on_both_databases("app")
def test_a_backup_under_concurrent_writes_is_a_prefix_of_the_log_with_every_change_whole(
    app: App,
) -> None:
    stop = threading.Event()

    def write(name: str) -> None:
        n = 0
        while not stop.is_set():
            n += 1
            runs = [{"task": {"goal": f"{name} {n} {k}"}} for k in range(5)]
            app.admin.post("/v1/trajectories/batch", {"namespace": NS, "trajectories": runs})

    writers = [threading.Thread(target=write, args=(name,)) for name in ("a", "b", "c")]
    for writer in writers:
        writer.start()
    try:
        archives = [backup(app) for _ in range(4)]
    finally:
        stop.set()
        for writer in writers:
            writer.join()

    assert check(io.BytesIO(archives[-1])).position > check(io.BytesIO(archives[0])).position
    for archive in archives:
        changes = {row["position"]: row for row in rows_of(archive, "change")}
        last = check(io.BytesIO(archive)).position
        assert sorted(changes) == list(range(1, last + 1))
        touched = defaultdict(list)
        for row in rows_of(archive, "row_change"):
            touched[row["position"]].append(row)
        runs = {(row["id"], row["tenant_id"]): row for row in rows_of(archive, "trajectory")}
        for position, change in changes.items():
            assert len(touched[position]) == change["rows"]
        inserted = [row for rows in touched.values() for row in rows]
        assert {(row["row_id"], row["tenant_id"]) for row in inserted} == set(runs)
        assert {run["position"] for run in runs.values()} <= set(changes)


def test_a_write_during_a_slow_download_finishes(app: App) -> None:
    """The archive was taken at the start, however slowly it is fetched."""
    fill(app)
    headers = {"Authorization": f"Bearer {app.admin.key}"}
    with app.admin.http.stream("GET", "/v1/backup", headers=headers) as reply:
        pieces = reply.iter_raw(1000)
        first = next(pieces)
        late = app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "meanwhile"}})
        archive = first + b"".join(pieces)

    assert late["searchable"] is True
    assert late["id"] not in {row["id"] for row in rows_of(archive, "item")}
    check(io.BytesIO(archive))


def test_requests_during_a_restore_see_the_old_state_or_the_new_or_are_refused_by_name(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(app)
    archive = backup(app)
    new_state = ids_in(app)
    app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "only in the old state"}})
    old_state = ids_in(app)
    assert old_state > new_state
    statuses: Counter[int] = Counter()
    codes: set[str] = set()
    mixed: list[set[str]] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            reply = app.admin("GET", "/v1/memories", params={"namespace": NS, "limit": 100})
            statuses[reply.status_code] += 1
            if reply.status_code == 200:
                ids = {row["id"] for row in reply.json()["rows"]}
                if ids not in (old_state, new_state):
                    mixed.append(ids)
            else:
                codes.add(reply.json()["code"])

    load = app.server.services.store.load

    def slowly(*given: Any, **named: Any) -> None:
        assert not stop.wait(0.3)
        load(*given, **named)
        assert not stop.wait(0.3)

    monkeypatch.setattr(app.server.services.store, "load", slowly)
    lookers = [threading.Thread(target=look) for _ in range(3)]
    for looker in lookers:
        looker.start()
    try:
        told = restored(app, archive, replace=True)
    finally:
        stop.set()
        for looker in lookers:
            looker.join()

    assert told["searchable"]
    assert mixed == []
    assert set(statuses) <= {200, 503}
    assert statuses[503] > 0
    assert codes == {"restoring"}
    assert ids_in(app) == new_state


# --- crashes -----------------------------------------------------------------------------


def test_a_crash_after_the_swap_leaves_no_orphan_in_the_index(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is of the old state, and its mark says that it holds nothing."""
    data = tmp_path / "crashed"
    with ExitStack() as stack:
        old = start_app(stack, data)
        for n in range(3):
            old.admin.post("/v1/memories", {"namespace": NS, "body": {"text": f"old {n}"}})
        fill(app)
        archive = io.BytesIO(backup(app))
    with ExitStack() as stack:
        crashed = start_app(stack, data, key=old.admin.key)
        services = crashed.server.services
        services.indexer.stop()
        services.store.load(
            archive,
            check(archive),
            replace=True,
            check=lambda reader: None,
            vector_names=lambda text: (),
        )
    with ExitStack() as stack:
        again = start_app(stack, data, key=app.admin.key)
        services = again.server.services
        assert services.indexer.catch_up()
        for _ in range(500):
            if again.anonymous("GET", "/health/ready").status_code == 200:
                break
            threading.Event().wait(0.02)
        assert (again.audit()["missing"], again.audit()["orphans"]) == (0, 0)


def test_nothing_is_embedded_again(app: App, tmp_path: Path) -> None:
    fill(app)
    archive = backup(app)
    encoder = HashEncoder()
    with ExitStack() as stack:
        new = start_app(stack, tmp_path / "new", encoder=encoder)
        restored(new, archive)
    assert encoder.encoded == []


def test_the_archive_is_a_tar_of_json_lines_closed_by_its_manifest(app: App) -> None:
    fill(app)
    archive = backup(app)
    names = list(members(archive))
    told = json.loads(members(archive)["manifest.json"])

    assert names[-1] == "manifest.json"
    assert told["format"] == 1
    assert set(told["tables"]) == set(metadata.tables)
    assert told["encoder"] == HashEncoder().fingerprint
    assert told["rows"]["item"] == len(rows_of(archive, "item"))
    secret = app.admin.key
    assert secret is not None
    assert secret.encode() not in gzip.decompress(archive)
