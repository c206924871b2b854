"""Puts the API together from services that someone else has built."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import APIRouter, Depends, FastAPI
from fastapi.security import HTTPBearer

import memserver
from memserver.api import problems
from memserver.api.document import RESPONSES, DocumentedApi
from memserver.api.gatekeeper import Gatekeeper
from memserver.api.limits import Limits
from memserver.api.routes import access, changes, health, items, operations, retrieval, trajectories
from memserver.services.bundle import Services

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def build_api(
    services: Services, *, limits: Limits | None = None, lifespan: Lifespan | None = None
) -> FastAPI:
    """The ASGI application. `lifespan` starts and stops what the services stand on."""
    limits = limits or Limits()
    app = DocumentedApi(title="memserver", version=memserver.__version__, lifespan=lifespan)
    app.state.services = services
    app.state.limits = limits
    problems.install(app)
    app.add_middleware(Gatekeeper, access=services.access, limits=limits)
    v1 = APIRouter(
        prefix="/v1", dependencies=[Depends(HTTPBearer(auto_error=False))], responses=RESPONSES
    )
    for routes in (trajectories, items, retrieval, operations, changes, access):
        v1.include_router(routes.router)
    app.include_router(v1)
    app.include_router(health.router)
    return app
