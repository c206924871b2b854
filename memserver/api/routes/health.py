"""Health: for load balancers without a key, in detail for admins."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

import memserver
from memserver.api.document import PROBLEM, RESPONSES
from memserver.api.gatekeeper import bearer
from memserver.api.queries import ReadyQuery
from memserver.services.bundle import Services
from memserver.wire.access import IndexHealth, Ready

router = APIRouter(prefix="/health", tags=["health"])

NOT_READY = {"model": Ready, "content": {"application/problem+json": {"schema": PROBLEM}}}
"""A problem where not even the question can be answered."""


@router.get("/live")
async def live() -> dict[str, bool]:
    """Answers as long as the process does."""
    return {"live": True}


@router.get("/ready", response_model=Ready, responses=RESPONSES | {503: NOT_READY})
async def ready(request: Request, query: Annotated[ReadyQuery, Query()]) -> Response:
    """503 while the index does not follow, or where a background part has died. `audit=true`
    compares SQL and index, document by document, and needs an admin's key."""
    services: Services = request.app.state.services
    if query.audit:
        secret = bearer(request.headers)
        caller = await run_in_threadpool(services.access.authenticate, secret)
        services.access.require_admin(caller, "audit the index")
    report = await run_in_threadpool(services.readiness.report, with_audit=query.audit)
    body = Ready(
        ready=report.problem is None and not report.stopped,
        version=memserver.__version__,
        stopped=list(report.stopped),
        index=IndexHealth(
            applied=report.applied,
            lag=report.lag,
            skipped=report.skipped,
            problem=report.problem,
            missing=report.missing,
            orphans=report.orphans,
        ),
        operations_unfinished=report.operations_unfinished,
        decisions_dropped=report.decisions_dropped,
    )
    return JSONResponse(body.model_dump(mode="json"), 200 if body.ready else 503)
