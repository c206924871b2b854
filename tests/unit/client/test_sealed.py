"""Exports end in a seal: a stream that was cut, broken off or changed is never taken for whole."""

import hashlib
import json
from datetime import UTC, datetime

import httpx
import pytest

from memserver_client import StreamBroken

ROWS = [b'{"id": "a", "text": "gr\xc3\xb6\xc3\x9fe"}\n', b'{"id": "b"}\n', b'{"id": "c"}\n']
SEAL = json.dumps({"rows": 3, "sha256": hashlib.sha256(b"".join(ROWS)).hexdigest()}).encode()
WHOLE = b"".join(ROWS) + SEAL + b"\n"


def answer(server, content: bytes) -> None:
    server.answers = [httpx.Response(200, content=content)]


def test_the_seal_is_checked_and_not_given(server, memory):
    answer(server, WHOLE)
    assert [row["id"] for row in memory.export_decisions(namespace="a")] == ["a", "b", "c"]


def test_blank_lines_are_no_rows(server, memory):
    answer(server, b"\n\n" + ROWS[0] + b"\n" + ROWS[1] + ROWS[2] + b"\n" + SEAL)
    assert len(list(memory.export_items(namespace="a"))) == 3


def test_an_empty_export_has_a_seal_too(server, memory):
    seal = {"rows": 0, "sha256": hashlib.sha256().hexdigest()}
    server.answers = [httpx.Response(200, json=seal)]
    assert list(memory.export_vectors(namespace="a")) == []


@pytest.mark.parametrize("size", range(len(WHOLE) - 1))
def test_wherever_it_is_cut_it_is_not_taken_for_whole(server, memory, size):
    answer(server, WHOLE[:size])
    if WHOLE[:size].endswith(SEAL):
        return
    with pytest.raises(StreamBroken, match="its end is missing"):
        list(memory.export_trajectories(namespace="a"))


@pytest.mark.parametrize(
    "rows", [ROWS[:2], [*ROWS, ROWS[0]], [ROWS[1], ROWS[0], ROWS[2]], [b'{"id": "x"}\n', *ROWS[1:]]]
)
def test_rows_that_are_not_those_of_the_seal_are_refused(server, memory, rows):
    answer(server, b"".join(rows) + SEAL)
    with pytest.raises(StreamBroken, match="lost or changed"):
        list(memory.export_decisions(namespace="a"))


def test_why_the_server_broke_off_is_said(server, memory):
    end = {"error": {"code": "unauthenticated", "detail": "No valid API key."}}
    answer(server, ROWS[0] + json.dumps(end).encode() + b"\n")
    rows = memory.export_decisions(namespace="a")
    assert next(rows)["id"] == "a"
    with pytest.raises(StreamBroken, match="unauthenticated: No valid API key"):
        next(rows)


def test_what_is_asked_for_is_sent(server, memory):
    since = datetime(2026, 1, 1, tzinfo=UTC)
    answer(server, WHOLE)
    list(memory.export_decisions(namespace="a", since=since, split="train", text=False))
    assert server.requests[-1].url.path == "/v1/export/decisions"
    assert dict(server.requests[-1].url.params) == {
        "namespace": "a",
        "since": "2026-01-01T00:00:00+00:00",
        "split": "train",
        "text": "false",
    }
    assert server.requests[-1].headers["Accept"] == "application/x-ndjson"
    list(memory.export_items(namespace="a/**", redact=False))
    assert dict(server.requests[-1].url.params) == {
        "namespace": "a/**",
        "text": "true",
        "redact": "false",
    }
