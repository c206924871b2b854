"""Metrics for Prometheus. They count over all tenants, so only the system key sees them."""

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from fastapi.security import HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.concurrency import run_in_threadpool

from memserver.api.document import RESPONSES
from memserver.api.gatekeeper import bearer
from memserver.services.bundle import Services

router = APIRouter(tags=["health"], dependencies=[Depends(HTTPBearer(auto_error=False))])

TEXT = {"content": {"text/plain": {"schema": {"type": "string"}}}}


@router.get("/metrics", response_class=Response, responses=RESPONSES | {200: TEXT})
async def metrics(request: Request) -> Response:
    """Counts and latencies in Prometheus's text format, over all tenants; needs the system key."""
    services: Services = request.app.state.services
    caller = await run_in_threadpool(services.access.authenticate, bearer(request.headers))
    request.state.caller = caller
    services.access.require_system(caller, "read metrics")
    return Response(
        await run_in_threadpool(request.app.state.scrape), media_type=CONTENT_TYPE_LATEST
    )
