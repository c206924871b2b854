"""Exports: rows as JSON lines for as long as the receiver reads, and a seal at the end."""

import hashlib
import time
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel

from memserver.api.call import Call, CallDep
from memserver.api.queries import (
    DecisionExportQuery,
    ItemExportQuery,
    RunExportQuery,
    VectorExportQuery,
)
from memserver.domain.errors import MemserverError, Unavailable
from memserver.services.exporting.export import Rows, Wanted
from memserver.services.exporting.lines import line_of
from memserver.services.exporting.splits import Split
from memserver.services.exporting.wording import AS_IT_IS, REDACTED, WITHOUT_TEXT, Wording
from memserver.wire.exports import Broken, Fault, Seal

router = APIRouter(tags=["export"])

NDJSON = "application/x-ndjson"
HEARTBEAT_EVERY_S = 5.0
BLANK = b"\n"
"""What is sent where page after page holds nothing of the split that was asked for."""
STREAMED: dict[str, Any] = {
    "response_class": StreamingResponse,
    "responses": {200: {"content": {NDJSON: {"schema": {"type": "string"}}}}},
}


@router.get("/export/decisions", **STREAMED)
async def export_decisions(
    request: Request, query: Annotated[DecisionExportQuery, Query()], call: CallDep
) -> Response:
    """The decisions of a namespace's policy with what came of them, for trainers; text is
    redacted."""
    wanted = Wanted(query.since, _split(query.split), _wording(text=query.text))
    exporting = call.services.exporting
    return await _stream(request, call, exporting.decisions, query.namespace, wanted)


@router.get("/export/vectors", **STREAMED)
async def export_vectors(
    request: Request, query: Annotated[VectorExportQuery, Query()], call: CallDep
) -> Response:
    """The vectors of the versions and runs that those decisions considered."""
    wanted = Wanted(query.since, _split(query.split))
    exporting = call.services.exporting
    return await _stream(request, call, exporting.vectors, query.namespace, wanted)


@router.get("/export/trajectories", **STREAMED)
async def export_trajectories(
    request: Request, query: Annotated[RunExportQuery, Query()], call: CallDep
) -> Response:
    """The runs of a namespace in the form in which they can be imported."""
    wording = _wording(text=query.text, redact=query.redact)
    wanted = Wanted(query.since, _split(query.split), wording)
    exporting = call.services.exporting
    return await _stream(request, call, exporting.trajectories, query.namespace, wanted)


@router.get("/export/items", **STREAMED)
async def export_items(
    request: Request, query: Annotated[ItemExportQuery, Query()], call: CallDep
) -> Response:
    """The active memories and skills of a namespace or subtree."""
    wording = _wording(text=query.text, redact=query.redact)
    return await _stream(request, call, call.services.exporting.items, query.namespace, wording)


def _split(name: str | None) -> Split | None:
    return None if name is None else Split(name)


def _wording(*, text: bool, redact: bool = True) -> Wording:
    if not text:
        return WITHOUT_TEXT
    return REDACTED if redact else AS_IT_IS


async def _stream(
    request: Request, call: Call, export: Any, namespace: str, wanted: Wanted | Wording
) -> Response:
    epoch = call.services.gate.epoch
    pages = await call.read(lambda: export(call.scope, namespace, wanted))
    # Each page passes the gate by itself: a restore need not wait for a slow receiver.
    request.state.passage.leave()
    return StreamingResponse(_lines(call, _Sealed(call, pages, epoch)), media_type=NDJSON)


class _Sealed:
    """The pages as bytes, one after another, and what the seal says of them."""

    def __init__(self, call: Call, pages: Iterator[Rows], epoch: int) -> None:
        self._gate = call.services.gate
        self._pages = pages
        self._epoch = epoch
        self._digest = hashlib.sha256()
        self._rows = 0

    def next(self) -> bytes | None:
        """The next page, None after the last. Raises where everything was replaced meanwhile."""
        passage = self._gate.enter()
        try:
            if self._gate.epoch != self._epoch:
                raise Unavailable("Everything was restored from a backup meanwhile; export again.")
            rows = next(self._pages, None)
        finally:
            passage.leave()
        if rows is None:
            return None
        lines = b"".join(map(line_of, rows))
        self._digest.update(lines)
        self._rows += len(rows)
        return lines

    def seal(self) -> Seal:
        return Seal(rows=self._rows, sha256=self._digest.hexdigest())


async def _lines(call: Call, sealed: _Sealed) -> AsyncIterator[bytes]:
    """No thread waits for the receiver. What is no refusal is raised, which cuts the stream: it
    is known to be cut, because the seal is missing."""
    spoke = time.monotonic()
    try:
        while (page := await call.read(sealed.next)) is not None:
            if page or time.monotonic() - spoke > HEARTBEAT_EVERY_S:
                yield page or BLANK
                spoke = time.monotonic()
        yield _line(sealed.seal())
    except MemserverError as error:
        yield _line(Broken(error=Fault(code=error.code, detail=str(error))))


def _line(end: BaseModel) -> bytes:
    return end.model_dump_json().encode() + b"\n"
