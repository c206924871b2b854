"""The OpenAPI document, where it must say more than FastAPI knows of the routes."""

from typing import Any

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema

from memserver.api import problems
from memserver.wire.access import Problem

SCHEMAS = "#/components/schemas/"
PROBLEM = {"$ref": f"{SCHEMAS}{Problem.__name__}"}

REFUSALS = (400, 401, 403, 404, 409, 413, 422, 429, 503)
# Their schema is put in below: a `model` here would be built anew for each of them on each route,
# which is most of what a server's start would take.
RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {
        "description": problems.TITLES[status],
        "content": {"application/problem+json": {"schema": PROBLEM}},
    }
    for status in REFUSALS
}
"""What any route may answer instead of what was asked for."""

NOT_YET = "Stored, and not searchable yet"


class DocumentedApi(FastAPI):
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            document = super().openapi()
            _add_problem(document["components"])
            for routes in document["paths"].values():
                for route in routes.values():
                    _add_not_yet(route)
        assert self.openapi_schema is not None
        return self.openapi_schema


def _add_problem(components: dict[str, Any]) -> None:
    """The schemas stay in the order of their names."""
    _, made = models_json_schema([(Problem, "serialization")], ref_template=SCHEMAS + "{model}")
    components["schemas"] = dict(sorted((components["schemas"] | made["$defs"]).items()))


def _add_not_yet(route: dict[str, Any]) -> None:
    """A write that may be waited for answers 202 with the same body where the wait was cut."""
    if any(parameter["name"] == "wait" for parameter in route.get("parameters", [])):
        responses = route["responses"]
        done = responses["201" if "201" in responses else "200"]
        responses["202"] = {**done, "description": NOT_YET}
