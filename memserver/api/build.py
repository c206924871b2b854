"""Puts the API together from services that someone else has built."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import APIRouter, Depends, FastAPI
from fastapi.security import HTTPBearer

import memserver
from memserver.api import problems
from memserver.api.gatekeeper import Gatekeeper
from memserver.api.limits import Limits
from memserver.api.routes import access, changes, health, items, operations, retrieval, trajectories
from memserver.services.bundle import Services
from memserver.wire.access import Problem

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
REFUSALS = (400, 401, 403, 404, 409, 413, 422, 429, 503)


def build_api(
    services: Services, *, limits: Limits | None = None, lifespan: Lifespan | None = None
) -> FastAPI:
    """The ASGI application. `lifespan` starts and stops what the services stand on."""
    limits = limits or Limits()
    app = FastAPI(title="memserver", version=memserver.__version__, lifespan=lifespan)
    app.state.services = services
    app.state.limits = limits
    problems.install(app)
    app.add_middleware(Gatekeeper, access=services.access, limits=limits)
    v1 = APIRouter(
        prefix="/v1",
        dependencies=[Depends(HTTPBearer(auto_error=False))],
        responses={
            status: {
                "model": Problem,
                "description": problems.TITLES[status],
                "content": {"application/problem+json": {}},
            }
            for status in REFUSALS
        },
    )
    for routes in (trajectories, items, retrieval, operations, changes, access):
        v1.include_router(routes.router)
    app.include_router(v1)
    app.include_router(health.router)
    return app
