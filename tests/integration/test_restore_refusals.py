"""A restore that is refused, at whatever point, leaves everything as it was."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.archives import (
    NS,
    backup,
    fill,
    members,
    packed_again,
    restore,
    restored,
    seen,
    table_rows,
)
from tests.integration.conftest import App, on_both_databases, start_app


@pytest.mark.parametrize("role", ["admin", "writer", "reader"])
def test_only_the_system_key_backs_up_and_restores(app: App, role: str) -> None:
    key = app.admin.with_key(role, "**", tenant="other")
    archive = backup(app)

    for refused in (key("GET", "/v1/backup"), key("POST", "/v1/restore", content=archive)):
        assert (refused.status_code, refused.json()["code"]) == (403, "role_forbidden")


def test_a_truncated_or_garbled_archive_is_refused_and_changes_nothing(app: App) -> None:
    fill(app)
    archive = backup(app)
    rows = table_rows(app)
    middle = len(archive) // 2
    flipped = archive[:middle] + bytes([archive[middle] ^ 0xFF]) + archive[middle + 1 :]
    whole = members(archive)
    without_manifest = {name: body for name, body in whole.items() if name != "manifest.json"}
    first = next(name for name in whole if name.startswith("version/"))
    fewer = {**whole, first: whole[first].split(b"\n", 1)[1]}
    broken = {
        "empty": b"",
        "no archive": b"hello" * 1000,
        "cut in the middle": archive[:middle],
        "cut before its last byte": archive[:-1],
        "a byte is another": flipped,
        "no manifest": packed_again(without_manifest),
        "a row is missing": packed_again(fewer),
        "something follows": packed_again({**whole, "zzz": b"{}\n"}),
        "a member is missing": packed_again({n: b for n, b in whole.items() if n != first}),
    }
    for name, content in broken.items():
        refused = restore(app, content, replace=True)
        assert (name, refused.status_code, refused.json()["code"]) == (name, 422, "invalid_backup")
    assert table_rows(app) == rows
    assert (app.audit()["missing"], app.audit()["orphans"]) == (0, 0)


@on_both_databases("app")
def test_an_archive_whose_rows_do_not_fit_the_tables_leaves_everything_as_it_was(app: App) -> None:
    """Its sums are right, so that it is only known in the middle of the restore."""
    fill(app)
    whole = members(backup(app))
    rows, before = table_rows(app), seen(app)["memories"]
    name = next(name for name in whole if name.startswith("version/"))
    line, rest = whole[name].split(b"\n", 1)
    for bad in (b'{"id": 1}', line.replace(b'"id":"', b'"id":"zz'), rest.split(b"\n", 1)[0]):
        content = bad + b"\n" + rest
        told = json.loads(whole["manifest.json"])
        for member in told["members"]:
            if member["name"] == name:
                member["sha256"] = hashlib.sha256(content).hexdigest()
        forged = {**whole, name: content, "manifest.json": json.dumps(told).encode()}
        refused = restore(app, packed_again(forged), replace=True)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_backup")
    after = {**table_rows(app), "decision": None}
    assert after == {**rows, "decision": None}
    assert seen(app)["memories"] == before
    assert app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "x"}})["searchable"]


def test_a_server_with_content_is_restored_only_where_that_is_said(app: App) -> None:
    fill(app)
    archive = backup(app)

    refused = restore(app, archive)

    assert (refused.status_code, refused.json()["code"]) == (409, "holds_content")
    assert "--replace" in refused.json()["detail"]
    assert "item" in refused.json()["detail"]


def test_unfinished_operations_keep_a_restore_away(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = backup(app)
    monkeypatch.setattr(app.jobs, "submit", lambda *_: None)
    pending = app.admin.post("/v1/distill", {"namespace": NS})

    refused = restore(app, archive, replace=True)

    assert (refused.status_code, refused.json()["code"]) == (409, "operations_unfinished")
    assert app.admin.get(f"/v1/operations/{pending['id']}")["state"] == "pending"


@pytest.mark.parametrize("what", ["schema", "encoder"])
def test_an_archive_of_another_schema_or_encoder_is_refused_by_both_names(
    app: App, what: str
) -> None:
    fill(app)
    whole = members(backup(app))
    told = {**json.loads(whole["manifest.json"]), what: "quite another"}
    archive = packed_again({**whole, "manifest.json": json.dumps(told).encode()})

    refused = restore(app, archive, replace=True)

    assert (refused.status_code, refused.json()["code"]) == (422, "backup_mismatch")
    assert "quite another" in refused.json()["detail"]


def test_an_archive_over_the_limit_is_refused_whether_or_not_its_length_is_told(
    tmp_path: Path,
) -> None:
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data", restore_limit=2000)

        def piecewise() -> Iterator[bytes]:
            for _ in range(10):
                yield b"x" * 500

        for content in (b"x" * 3000, piecewise()):
            refused = restore(app, content)  # type: ignore[arg-type]
            assert (refused.status_code, refused.json()["code"]) == (413, "too_large")


def test_no_archive_is_left_in_the_data_folder(app: App, tmp_path: Path) -> None:
    fill(app)
    before = {path.name for path in (tmp_path / "data").iterdir()}
    archive = backup(app)
    restored(app, archive, replace=True)
    restore(app, archive[:-1], replace=True)

    assert {path.name for path in (tmp_path / "data").iterdir()} == before
