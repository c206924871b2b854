"""Everything out as one archive, and back in."""

from collections.abc import AsyncIterator
from typing import Annotated, BinaryIO

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from memserver.api.call import CallDep
from memserver.api.queries import RestoreQuery
from memserver.domain.errors import InvalidBackup, TooLarge
from memserver.services.backing_up import Restored as Done
from memserver.wire.backups import Restored

router = APIRouter(tags=["backups"])

ARCHIVE = "application/gzip"
PIECE = 256 * 1024


@router.get(
    "/backup",
    response_class=StreamingResponse,
    responses={200: {"content": {ARCHIVE: {"schema": {"type": "string", "format": "binary"}}}}},
)
async def backup(request: Request, call: CallDep) -> Response:
    """Everything that the server keeps, as it is now. The system key's right."""
    made = await call.read(lambda: call.services.backing_up.backup(call.scope))
    # What is sent from here on is the archive: a restore need not wait for a slow receiver.
    request.state.passage.leave()
    name = f"memserver-{made.manifest.created_at:%Y%m%dT%H%M%SZ}.tar.gz"
    return StreamingResponse(
        _pieces(made.file),
        media_type=ARCHIVE,
        headers={
            "Content-Length": str(made.size),
            "Content-Disposition": f'attachment; filename="{name}"',
        },
        background=BackgroundTask(made.file.close),
    )


@router.post(
    "/restore",
    response_model=Restored,
    openapi_extra={"requestBody": {"content": {ARCHIVE: {}}}},
)
async def restore(
    request: Request, query: Annotated[RestoreQuery, Query()], call: CallDep
) -> Response:
    """Put a backup in place of everything; with `replace` also where there is content. Other
    requests are 503 meanwhile. The system key's right, which may be another one afterwards."""
    service = call.services.backing_up
    with await call.read(lambda: service.receiving(call.scope)) as file:
        try:
            await _receive(request, file, most=call.limits.restore)
        except ClientDisconnect:
            raise InvalidBackup("its sender left before its end") from None
        request.state.passage.leave()
        done = await call.read(lambda: service.restore(call.scope, file, replace=query.replace))
    told = _told(done)
    return JSONResponse(told.model_dump(mode="json"), 200 if told.searchable else 202)


async def _receive(request: Request, file: BinaryIO, *, most: int) -> None:
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > most:
        raise TooLarge("The archive", most)
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > most:
            raise TooLarge("The archive", most)
        await run_in_threadpool(file.write, piece)


async def _pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    while piece := await run_in_threadpool(file.read, PIECE):
        yield piece


def _told(done: Done) -> Restored:
    manifest = done.manifest
    yours = "yours is one of them" if done.caller_known else "yours is none of them"
    return Restored(
        created_at=manifest.created_at,
        version=manifest.version,
        position=manifest.position,
        rows=dict(manifest.rows),
        documents=done.documents,
        searchable=done.documents is not None,
        keys=f"From now on the keys of the backup count, and no others; {yours}.",
        caller_known=done.caller_known,
    )
