"""Archives over HTTP: streamed both ways, however large, and a refusal as the server said it."""

import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import httpx

PIECE = 256 * 1024
# The server answers when the whole archive is made, or restored and searchable.
PATIENT = httpx.Timeout(30.0, read=None, write=None)


class TransferFailed(Exception):
    """`code` is the server's own, or the client's for what never reached it."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def download(http: httpx.Client, into: BinaryIO, *, reached: Callable[[int], None]) -> None:
    """The backup as it comes; `reached` is told how many bytes have. Raises `TransferFailed`."""
    size = 0
    try:
        with http.stream("GET", "/v1/backup", timeout=PATIENT) as reply:
            if not reply.is_success:
                reply.read()
                raise _refused(reply)
            for piece in reply.iter_bytes(PIECE):
                into.write(piece)
                size += len(piece)
                reached(size)
    except httpx.TransportError as error:
        raise _no_answer(http, error) from error


def upload(
    http: httpx.Client, archive: BinaryIO, *, replace: bool, reached: Callable[[int], None]
) -> dict[str, Any]:
    """What the server answers to the archive. It is not sent again after a failure: the server may
    have restored it. Raises `TransferFailed`."""
    headers = {"Content-Type": "application/gzip", "Content-Length": str(_size(archive))}
    try:
        reply = http.post(
            "/v1/restore",
            params={"replace": replace},
            content=_pieces(archive, reached),
            headers=headers,
            timeout=PATIENT,
        )
    except httpx.TransportError as error:
        raise _no_answer(http, error) from error
    if not reply.is_success:
        raise _refused(reply)
    try:
        told = reply.json()
    except ValueError:
        told = None
    if not isinstance(told, dict) or "keys" not in told:
        raise TransferFailed("unexpected_reply", f"{http.base_url} is no memserver.")
    return told


def _pieces(archive: BinaryIO, reached: Callable[[int], None]) -> Iterator[bytes]:
    sent = 0
    while piece := archive.read(PIECE):
        yield piece
        sent += len(piece)
        reached(sent)


def _size(file: BinaryIO) -> int:
    size = file.seek(0, 2)
    file.seek(0)
    return size


def _refused(reply: httpx.Response) -> TransferFailed:
    try:
        problem = json.loads(reply.content)
        return TransferFailed(str(problem["code"]), str(problem["detail"]))
    except (ValueError, KeyError, TypeError):
        return TransferFailed(f"http_{reply.status_code}", f"{reply.url.host} refused this.")


def _no_answer(http: httpx.Client, error: httpx.TransportError) -> TransferFailed:
    reason = str(error) or type(error).__name__
    return TransferFailed("connection_failed", f"No answer from {http.base_url}: {reason}.")
