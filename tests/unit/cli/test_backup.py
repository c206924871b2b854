"""`memserver backup` saves a whole archive or nothing; `memserver restore` says what came of it;
`memserver doctor` ends in a status that a script can go by."""

import io
import json
import os
from datetime import UTC, datetime

import httpx
import pytest

from memserver.cli import Finding, Health
from memserver.domain.backups import ArchiveWriter, Manifest

RESTORED = {
    "created_at": "2026-01-01T00:00:00Z",
    "version": "1.0",
    "position": 7,
    "rows": {"item": 2, "version": 3},
    "documents": 2,
    "searchable": True,
    "keys": "From now on the keys of the backup count, and no others; yours is one of them.",
    "caller_known": True,
}


def archive() -> bytes:
    out = io.BytesIO()
    writer = ArchiveWriter(out)
    writer.add("item", [b'{"id":1}', b'{"id":2}'])
    writer.close(
        Manifest(
            version="1.0",
            schema="0001",
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            encoder=None,
            position=7,
            tables=("item", "version"),
            members=tuple(writer.members),
        )
    )
    return out.getvalue()


def replying(content: bytes):
    return lambda _: httpx.Response(200, content=content)


def test_a_backup_is_a_file_of_its_owner_alone(run, server, tmp_path):
    server.answers = {"GET /v1/backup": replying(archive())}
    target = tmp_path / "today.tar.gz"

    result = run("backup", str(target))

    assert result.exit_code == 0
    assert "2 rows" in result.stdout
    assert "change 7" in result.stdout
    assert target.read_bytes() == archive()
    assert target.stat().st_mode & 0o777 == 0o600
    assert server.requests[0].headers["Authorization"] == "Bearer k"
    assert os.listdir(tmp_path) == ["today.tar.gz"]


def test_json_tells_what_was_saved(run, server, tmp_path):
    server.answers = {"GET /v1/backup": replying(archive())}

    result = run("backup", str(tmp_path / "b"), "--json")

    assert json.loads(result.stdout) == {
        "output": str(tmp_path / "b"),
        "bytes": len(archive()),
        "rows": 2,
        "position": 7,
        "created_at": "2026-01-01T00:00:00+00:00",
    }


@pytest.mark.parametrize("part", [0, 100, -1])
def test_a_cut_archive_leaves_the_earlier_backup_and_nothing_else(run, server, tmp_path, part):
    server.answers = {"GET /v1/backup": replying(archive()[:part])}
    target = tmp_path / "b"
    target.write_bytes(b"yesterday's")

    result = run("backup", str(target))

    assert result.exit_code == 1
    assert result.stderr.startswith("invalid_backup: ")
    assert target.read_bytes() == b"yesterday's"
    assert os.listdir(tmp_path) == ["b"]


def test_a_stream_that_breaks_off_leaves_nothing(run, server, tmp_path):
    def breaking(_):
        def pieces():
            yield archive()[:50]
            raise httpx.RemoteProtocolError("peer closed connection")

        return httpx.Response(200, content=pieces())

    server.answers = {"GET /v1/backup": breaking}

    result = run("backup", str(tmp_path / "b"))

    assert result.exit_code == 1
    assert result.stderr.startswith("connection_failed: ")
    assert os.listdir(tmp_path) == []


def test_a_refusal_is_told_by_its_code_and_leaves_nothing(run, server, problem, tmp_path):
    server.answers = {"GET /v1/backup": problem(403, "role_forbidden")}

    result = run("backup", str(tmp_path / "b"))

    assert (result.exit_code, result.stderr) == (1, "role_forbidden: No.\n")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_is_told(run, server, tmp_path):
    server.answers = {"GET /v1/backup": replying(archive())}

    result = run("backup", str(tmp_path / "nowhere" / "b"))

    assert result.exit_code == 1
    assert result.stderr.startswith("file_failed: ")
    assert server.requests == []


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_missing_address_is_a_misuse(run, tmp_path, command):
    (tmp_path / "b").write_bytes(archive())

    result = run(command, str(tmp_path / "b"), env={"MEMSERVER_API_KEY": "k"})

    assert result.exit_code == 2
    assert "MEMSERVER_URL" in result.stderr


@pytest.mark.parametrize("replace", [True, False])
def test_a_restore_sends_the_archive_and_says_which_keys_count(run, server, tmp_path, replace):
    server.answers = {"POST /v1/restore": RESTORED}
    (tmp_path / "b").write_bytes(archive())

    result = run("restore", str(tmp_path / "b"), *(["--replace"] if replace else []))

    assert result.exit_code == 0
    assert server.requests[0].content == archive()
    assert server.requests[0].headers["Content-Length"] == str(len(archive()))
    assert server.params() == {"replace": str(replace).lower()}
    assert "5 rows" in result.stdout
    assert RESTORED["keys"] in result.stdout


def test_a_restore_that_is_refused_is_told(run, server, problem, tmp_path):
    server.answers = {"POST /v1/restore": problem(409, "holds_content", "Ask with --replace.")}
    (tmp_path / "b").write_bytes(archive())

    result = run("restore", str(tmp_path / "b"))

    assert (result.exit_code, result.stderr) == (1, "holds_content: Ask with --replace.\n")


def test_a_restore_that_no_memserver_answered_is_told(run, server, tmp_path):
    server.answers = {"POST /v1/restore": lambda _: httpx.Response(200, text="<html>")}
    (tmp_path / "b").write_bytes(archive())

    assert run("restore", str(tmp_path / "b")).stderr.startswith("unexpected_reply: ")


@pytest.mark.parametrize(("worst", "status"), [("ok", 0), ("warning", 0), ("problem", 1)])
def test_the_doctors_status_is_zero_unless_there_is_a_problem(run, commands, worst, status):
    commands.findings = [
        Finding("disk", Health.OK, "Room."),
        Finding("keys", Health(worst), "Some.", "Do this."),
    ]

    result = run("doctor")
    lines = run("doctor", "--json").stdout.splitlines()

    assert result.exit_code == status
    assert "Do this." in result.stdout
    assert [json.loads(line)["state"] for line in lines] == ["ok", worst]
    assert commands.asked[0].url == "http://memory.test"
