"""Replies that are read piece by piece, by calls that are added as any call is: one description,
and one line in each class."""

import gzip
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from memserver.wire.base import Model
from memserver_client import (
    AsyncMemory,
    ConnectionFailed,
    Forbidden,
    Memory,
    StreamBroken,
    UnexpectedReply,
    _async_memory,
    _memory,
)
from memserver_client._call import Download, Lines


class Row(Model):
    n: int


def any_rows(*, namespace: str) -> Lines[dict[str, Any]]:
    return Lines(path="/v1/rows", params={"namespace": namespace}, row=dict[str, Any])


def rows() -> Lines[Row]:
    return Lines(path="/v1/rows", row=Row)


def copy(to: Path) -> Download:
    return Download(method="POST", path="/v1/copy", to=to, write=True)


class MoreMemory(Memory):
    any_rows = _memory._lists(any_rows)
    rows = _memory._lists(rows)
    copy = _memory._saves(copy)


class MoreAsyncMemory(AsyncMemory):
    any_rows = _async_memory._lists(any_rows)
    rows = _async_memory._lists(rows)
    copy = _async_memory._saves(copy)


class Pieces(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body as the network brings it: in pieces, the last of which may be an error."""

    def __init__(self, *pieces: bytes | Exception) -> None:
        self.pieces = pieces
        self.given = 0
        self.closed = False

    def __iter__(self):
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            self.given += 1
            yield piece

    async def __aiter__(self):
        for piece in iter(self):
            yield piece

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True


@pytest.fixture
def memory(connect, client_class):
    return connect(of=MoreMemory if client_class is Memory else MoreAsyncMemory)


@pytest.fixture
def stream(server):
    """The next answer's body, and any body after it."""

    def streamed(*pieces: bytes | Exception, **headers: str) -> Pieces:
        body = Pieces(*pieces)
        server.answers = [lambda request: httpx.Response(200, headers=headers, stream=body)]
        return body

    return streamed


def test_rows_come_whole_however_the_network_cut_them(memory, stream):
    told = [{"n": 1, "text": "größe"}, {"n": 2, "text": "a\u2028b\x85c"}, {"n": 3}]
    content = b"\n".join(json.dumps(row, ensure_ascii=False).encode() for row in told)
    for size in (1, 7, 1000):
        stream(*(content[at : at + size] for at in range(0, len(content), size)))
        assert list(memory.any_rows(namespace="a")) == told


def test_a_row_is_given_before_the_next_one_has_come(server, memory, stream):
    body = stream(b'{"n": 1}\n', b'{"n": 2}\n')

    found = memory.rows()
    assert server.requests == []
    assert next(found).n == 1
    assert body.given == 1
    assert [row.n for row in found] == [2]
    assert body.closed


def test_who_stops_reading_gives_the_connection_back(memory, stream):
    body = stream(b'{"n": 1}\n', b'{"n": 2}\n')

    found = memory.rows()
    next(found)
    found.close()
    assert body.closed


def test_rows_are_read_as_other_replies_are(memory, stream):
    """Unknown fields are a newer server's, an empty line is nothing."""
    stream(b'{"n": 1, "mood": "calm"}\n\n{"n": 2}\n')
    assert [row.n for row in memory.rows()] == [1, 2]


@pytest.mark.parametrize(
    ("line", "where"), [(b'{"n": "x"}', "n: "), (b'{"n": ', "line 2: ")], ids=["field", "cut off"]
)
def test_a_row_that_cannot_be_read_is_named(memory, stream, line, where):
    body = stream(b'{"n": 1}\n', line)

    found = memory.rows()
    assert next(found).n == 1
    with pytest.raises(UnexpectedReply, match=where):
        next(found)
    assert body.closed


def test_rows_that_break_off_are_not_taken_for_all(server, memory, stream):
    stream(b'{"n": 1}\n', httpx.RemoteProtocolError("peer closed"))

    found = memory.rows()
    assert next(found).n == 1
    with pytest.raises(StreamBroken, match="broke off: peer closed") as caught:
        next(found)
    assert isinstance(caught.value, ConnectionFailed)
    assert len(server.requests) == 1


def test_until_the_answer_begins_it_is_tried_again(server, memory, stream):
    stream(b'{"n": 1}\n')
    server.answers = [httpx.ConnectError("refused"), httpx.Response(503), *server.answers]

    assert [row.n for row in memory.rows()] == [1]
    assert len(server.requests) == 3


def test_a_refused_stream_is_a_refusal_like_any(server, memory, problem, tmp_path):
    body = Pieces(problem(403, "namespace_forbidden", "Not yours.").content)
    server.answers = [lambda request: httpx.Response(403, stream=body)]

    with pytest.raises(Forbidden, match="Not yours"):
        list(memory.rows())
    assert body.closed
    with pytest.raises(Forbidden):
        memory.copy(tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_a_file_arrives_byte_for_byte(server, memory, stream, tmp_path):
    content = bytes(range(256)) * 1000
    packed = gzip.compress(content)
    stream(packed[:100], packed[100:], **{"Content-Encoding": "gzip"})

    assert memory.copy(tmp_path / "copy") == len(content)
    assert (tmp_path / "copy").read_bytes() == content
    assert [found.name for found in tmp_path.iterdir()] == ["copy"]
    (request,) = server.requests
    assert request.headers["Accept"] == "application/octet-stream"
    assert request.headers["Idempotency-Key"]


def test_a_file_that_breaks_off_leaves_the_earlier_one(memory, stream, tmp_path):
    (tmp_path / "copy").write_bytes(b"the earlier one")
    body = stream(b"half of ", httpx.ReadTimeout("late"))

    with pytest.raises(StreamBroken):
        memory.copy(tmp_path / "copy")
    assert body.closed
    assert [found.read_bytes() for found in tmp_path.iterdir()] == [b"the earlier one"]


def test_a_folder_that_is_not_there_is_said_before_anything_is_asked(server, memory, tmp_path):
    with pytest.raises(FileNotFoundError):
        memory.copy(tmp_path / "missing" / "copy")
    assert server.requests == []
