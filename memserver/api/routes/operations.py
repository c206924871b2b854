"""Long-running work: distill, consolidate, and how it goes."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from memserver.api import shaping
from memserver.api.call import Call, CallDep, WriteCallDep
from memserver.api.queries import EventQuery, OperationQuery
from memserver.domain.operations import State
from memserver.services.distilling import Words
from memserver.wire.base import Page
from memserver.wire.operations import Consolidate, Distill, Operation

router = APIRouter(tags=["operations"])

LOOK_EVERY_S = 0.1
HEARTBEAT_EVERY_S = 15.0


@router.post("/distill", status_code=202, response_model=Operation)
async def distill(sent: Distill, call: WriteCallDep) -> Response:
    """Turn the runs of a namespace into skills, hints and rules."""
    namespace = await call.writable(sent.namespace)
    return await call.write(
        lambda tx: shaping.operation(
            call.services.distilling.request(
                tx, call.scope, namespace, methods=sent.methods, words=Words(sent.words)
            )
        ),
        status=202,
    )


@router.post("/consolidate", status_code=202, response_model=Operation)
async def consolidate(sent: Consolidate, call: WriteCallDep) -> Response:
    """Shrink the bank of a namespace: without `apply` a plan to read, with it one change that
    `undo` takes back."""
    namespace = await call.writable(sent.namespace)
    return await call.write(
        lambda tx: shaping.operation(
            call.services.consolidating.request(
                tx, call.scope, namespace, apply=sent.apply, plan=sent.plan
            )
        ),
        status=202,
    )


@router.post("/reindex", status_code=202, response_model=Operation)
async def reindex(call: WriteCallDep) -> Response:
    """Rebuild the whole index from SQL while the server serves. The system key's right."""
    namespace = await call.read(lambda: call.services.reindexing.namespace(call.scope))
    return await call.write(
        lambda tx: shaping.operation(call.services.reindexing.request(tx, call.scope, namespace)),
        status=202,
    )


@router.get("/operations")
async def list_operations(
    query: Annotated[OperationQuery, Query()], call: CallDep
) -> Page[Operation]:
    """Operations within the key's grants."""
    states = (State(query.state),) if query.state else ()
    page = call.page(query.limit, query.cursor)
    found = await call.read(lambda: call.services.operations.list(call.scope, states, page))
    return shaping.page(found, shaping.operation)


@router.get("/operations/{operation_id}")
async def get_operation(operation_id: UUID, call: CallDep) -> Operation:
    """One operation: its state, progress and report."""
    return await _current(operation_id, call)


@router.get(
    "/operations/{operation_id}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def operation_events(
    request: Request, operation_id: UUID, query: Annotated[EventQuery, Query()], call: CallDep
) -> Response:
    """Server-sent events: the operation now, at each change, and at its end."""
    first = await _current(operation_id, call)
    # Each further look is a request of its own: a restore need not wait for the stream's end.
    request.state.passage.leave()
    return StreamingResponse(_events(first, call, query.seconds), media_type="text/event-stream")


@router.post("/operations/{operation_id}/cancel", response_model=Operation)
async def cancel_operation(operation_id: UUID, call: WriteCallDep) -> Response:
    """Stop an operation before its next step."""
    return await call.write(
        lambda tx: shaping.operation(call.services.operations.cancel(tx, call.scope, operation_id))
    )


@router.post("/operations/{operation_id}/retry", response_model=Operation)
async def retry_operation(operation_id: UUID, call: WriteCallDep) -> Response:
    """Start a failed or cancelled operation again where it stopped."""
    return await call.write(
        lambda tx: shaping.operation(call.services.operations.retry(tx, call.scope, operation_id))
    )


async def _current(operation_id: UUID, call: Call) -> Operation:
    return shaping.operation(
        await call.read(lambda: call.services.operations.get(call.scope, operation_id))
    )


async def _events(first: Operation, call: Call, seconds: float) -> AsyncIterator[str]:
    shown, now = None, first
    ends = time.monotonic() + seconds
    spoke = time.monotonic()
    while True:
        if now != shown:
            yield f"event: operation\ndata: {now.model_dump_json()}\n\n"
            shown, spoke = now, time.monotonic()
        if now.state in ("succeeded", "failed", "cancelled") or time.monotonic() > ends:
            return
        if time.monotonic() - spoke > HEARTBEAT_EVERY_S:
            yield ": still here\n\n"
            spoke = time.monotonic()
        await asyncio.sleep(LOOK_EVERY_S)
        if not await call.read(lambda: call.services.access.is_valid(call.scope)):
            return
        now = await _current(first.id, call)
