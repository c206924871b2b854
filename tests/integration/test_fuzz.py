"""Whatever is sent to a route of the OpenAPI document, the answer is one that the document
promises, and never a fault of ours. `FUZZ_SEED=7` before pytest draws other input than usual."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.types import ASGIApp, Receive, Scope, Send

from memserver.api.build import build_api
from tests.fakes.policies import zipped
from tests.integration.conftest import App, start_app, wait_for
from tests.integration.room import LIKES_NOTES

NS = "fuzz"
PROMISES = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
DOCUMENT = build_api(cast(Any, SimpleNamespace(access=None, gate=None))).openapi()
ROUTES = [
    (method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods
]

# Archives are sent as they are drawn, which no server takes for one.
for archive in ("application/gzip", "application/zip"):
    schemathesis.serializer.alias(archive, "application/octet-stream")
schema = schemathesis.openapi.from_dict(
    DOCUMENT, config=SchemathesisConfig(seed=int(os.environ.get("FUZZ_SEED", "0")))
)
# Each boundary of each field by itself: three times as long, to be switched on by hand.
schema.config.phases.coverage.enabled = False


@dataclass(frozen=True)
class Target:
    """A running app, and what is there to be found by its id: a row for each name that a path
    has for one."""

    app: App
    asgi: ASGIApp
    ids: dict[str, str]

    def aim(self, case: schemathesis.Case) -> None:
        """Half of the ids that could be one are something's; the event stream stays short."""
        for name, value in case.path_parameters.items():
            if name in self.ids and _is_even_id(value):
                case.path_parameters[name] = self.ids[name]
        if case.path.endswith("/events"):
            case.query["seconds"] = 0.1


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with ExitStack() as stack:
        app = start_app(stack, tmp_path_factory.mktemp("fuzz") / "data")
        memory = app.admin.post("/v1/skills", {"namespace": NS, "body": {"when": "always"}})
        run = app.admin.post("/v1/trajectories", {"namespace": NS, "task": {"goal": "x"}})
        operation = wait_for(app.admin, app.admin.post("/v1/distill", {"namespace": NS}))
        key = app.admin.post("/v1/keys", {"role": "reader", "grants": [NS]})
        found = app.admin.post("/v1/retrieve", {"namespace": NS, "query": "always"})
        policy = app.admin(
            "POST", "/v1/policies", params={"namespace": NS}, content=zipped(LIKES_NOTES)
        )
        session = str(uuid4())
        said = {"kind": "message", "speaker": "x", "text": "always"}
        app.admin.post(f"/v1/sessions/{session}/events", {"namespace": NS, "events": [said]})
        ids = {
            "session_id": session,
            "decision_id": found["retrieval_id"],
            "policy_id": policy.json()["policy"]["id"],
            "item_id": memory["id"],
            "trajectory_id": run["id"],
            "change_id": memory["change_id"],
            "operation_id": operation["id"],
            "key_id": key["id"],
        }
        yield Target(app, _started(app), ids)


@pytest.mark.slow
@schema.parametrize()
@settings(max_examples=8, database=None, deadline=None, suppress_health_check=[*HealthCheck])
def test_every_answer_is_one_that_the_document_promises(
    case: schemathesis.Case, target: Target
) -> None:
    target.aim(case)
    reply = case.call(app=target.asgi, headers={"Authorization": f"Bearer {target.app.admin.key}"})
    case.validate_response(reply, checks=PROMISES)


@pytest.mark.parametrize(("method", "path"), [route for route in ROUTES if "/v1/" in route[1]])
def test_without_a_key_every_route_is_401_before_it_looks_at_anything(
    target: Target, method: str, path: str
) -> None:
    reply = target.app.anonymous(method, path, content=b"\xff{")

    assert (reply.status_code, reply.json()["code"]) == (401, "unauthenticated")
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.headers["www-authenticate"] == "Bearer"


def test_the_event_stream_ends_when_it_was_asked_to(target: Target) -> None:
    where = f"/v1/operations/{target.ids['operation_id']}/events"
    reply = target.app.admin("GET", where, params={"seconds": 0.1})

    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.text.startswith("event: operation\ndata: {")
    assert reply.text.endswith("}\n\n")


def test_a_method_that_a_route_has_not_is_405_and_names_those_that_it_has(target: Target) -> None:
    reply = target.app.admin("PUT", "/v1/retrieve")

    assert (reply.status_code, reply.json()["code"]) == (405, "method_not_allowed")
    assert reply.headers["allow"] == "POST"


def _started(app: App) -> ASGIApp:
    """The app without its lifespan, which has begun already."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            raise RuntimeError("it has been started")
        await app.server.api(scope, receive, send)

    return serve


def _is_even_id(value: Any) -> bool:
    try:
        return UUID(value).int % 2 == 0
    except (ValueError, AttributeError, TypeError):
        return False
