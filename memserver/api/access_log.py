"""What surrounds every request: its id, its line in the log, its place in the metrics, and an
answer where nothing inside gave one. Of the request itself it tells method and route."""

import logging
import re
from time import perf_counter
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memserver.api import problems
from memserver.api.route_templates import RouteTemplates
from memserver.domain.ports.meter import Meter
from memserver.services.operation_failures import frames

logger = logging.getLogger(__name__)

REQUEST_ID = "x-request-id"
PLAIN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
LEFT = 499
"""The status in log and metrics of a request whose sender left before there was an answer."""


class AccessLog:
    """ASGI middleware. `X-Request-Id` is taken over where it is short and plain, else made; the
    answer carries it, and so does every line that is logged on the request's behalf."""

    def __init__(self, app: ASGIApp, templates: RouteTemplates, meter: Meter) -> None:
        self._app = app
        self._templates = templates
        self._meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        request_id = _id_of(scope)
        status = LEFT

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = request_id
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, answer)
            except Exception as error:
                logger.error("The server failed on a request.\n%s", frames(error))
                if status != LEFT:
                    raise  # half an answer is out: only the connection's end can tell
                await problems.broken()(scope, receive, answer)
            finally:
                self._note(scope, status, perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = self._templates.of(scope["path"])
        method = scope["method"] if scope["method"] in METHODS else OTHER
        self._meter.answered(route=route, method=method, status=status, seconds=seconds)
        if logger.isEnabledFor(logging.INFO):
            caller = scope.get("state", {}).get("caller")
            who = {} if caller is None else {"tenant": str(caller.tenant), "key": str(caller.key)}
            told = {"method": method, "route": route, "status": status}
            logger.info("request", extra={**told, "milliseconds": round(seconds * 1000, 1), **who})


def _id_of(scope: Scope) -> str:
    sent = Headers(scope=scope).get(REQUEST_ID, "")
    return sent if PLAIN_ID.fullmatch(sent) else uuid4().hex
