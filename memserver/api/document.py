"""The OpenAPI document, where it must say more than FastAPI knows of the routes."""

from typing import Any

from fastapi import FastAPI

from memserver.api import problems
from memserver.wire.access import Problem

REFUSALS = (400, 401, 403, 404, 409, 413, 422, 429, 503)
RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": problems.TITLES[status]} for status in REFUSALS
}
"""What any route may answer instead of what was asked for."""

PROBLEM = {"$ref": "#/components/schemas/Problem"}
NOT_YET = "Stored, and not searchable yet"


class DocumentedApi(FastAPI):
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            for routes in super().openapi()["paths"].values():
                for route in routes.values():
                    _name_problems(route["responses"])
                    _add_not_yet(route)
        assert self.openapi_schema is not None
        return self.openapi_schema


def _name_problems(responses: dict[str, Any]) -> None:
    """FastAPI gives every model the media type of the route."""
    for response in responses.values():
        content = response.get("content", {})
        if content.get("application/json", {}).get("schema") == PROBLEM:
            response["content"] = {"application/problem+json": content["application/json"]}


def _add_not_yet(route: dict[str, Any]) -> None:
    """A write that may be waited for answers 202 with the same body where the wait was cut."""
    if any(parameter["name"] == "wait" for parameter in route.get("parameters", [])):
        responses = route["responses"]
        done = responses["201" if "201" in responses else "200"]
        responses["202"] = {**done, "description": NOT_YET}
