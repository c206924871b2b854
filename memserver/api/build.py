"""Puts the API together from services that someone else has built."""

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager

from fastapi import APIRouter, Depends, FastAPI
from fastapi.security import HTTPBearer
from starlette.routing import BaseRoute, Route

import memserver
from memserver.api import problems
from memserver.api.access_log import AccessLog
from memserver.api.document import RESPONSES, DocumentedApi
from memserver.api.gatekeeper import Gatekeeper
from memserver.api.limits import Limits
from memserver.api.route_templates import RouteTemplates
from memserver.api.routes import (
    access,
    backups,
    changes,
    entities,
    erasures,
    exports,
    grep,
    guardrails,
    health,
    items,
    learned,
    library,
    metrics,
    models,
    namespace_settings,
    operations,
    policies,
    practice,
    preferences,
    provenance,
    retrieval,
    sessions,
    skills,
    tools,
    trajectories,
    writing,
)
from memserver.domain.ports.meter import UNMETERED, Meter
from memserver.services.bundle import Services

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

V1 = "/v1"
UNDER_V1 = (
    library,  # before the items, since its paths have a word where theirs have an id
    trajectories,
    practice,
    skills,
    items,
    learned,
    writing,
    retrieval,
    grep,
    policies,
    operations,
    changes,
    access,
    exports,
    backups,
    provenance,
    entities,
    sessions,
    tools,
    preferences,
    guardrails,
    models,
    erasures,
    namespace_settings,
)
BESIDE_V1 = (health, metrics)


def build_api(
    services: Services,
    *,
    limits: Limits | None = None,
    lifespan: Lifespan | None = None,
    meter: Meter = UNMETERED,
    scrape: Callable[[], bytes] = bytes,
) -> FastAPI:
    """The ASGI application. `lifespan` starts and stops what the services stand on; `scrape`
    gives what `/metrics` answers."""
    limits = limits or Limits()
    app = DocumentedApi(title="memserver", version=memserver.__version__, lifespan=lifespan)
    app.state.services = services
    app.state.limits = limits
    app.state.scrape = scrape
    problems.install(app)
    templates = _paths(app.routes)
    v1 = APIRouter(
        prefix=V1, dependencies=[Depends(HTTPBearer(auto_error=False))], responses=RESPONSES
    )
    for routes in UNDER_V1:
        v1.include_router(routes.router)
        templates += _paths(routes.router.routes, under=V1)
    app.include_router(v1)
    for routes in BESIDE_V1:
        app.include_router(routes.router)
        templates += _paths(routes.router.routes)
    # The last one added stands outermost.
    app.add_middleware(
        Gatekeeper, access=services.access, limits=limits, meter=meter, gate=services.gate
    )
    app.add_middleware(AccessLog, templates=RouteTemplates(templates), meter=meter)
    return app


def _paths(routes: Iterable[BaseRoute], *, under: str = "") -> list[str]:
    return [under + route.path for route in routes if isinstance(route, Route)]
