"""What the app's own OpenAPI document says of its routes: where each takes an id, and the least
that must be sent to it. A route that is added later is found here by itself."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast
from unittest.mock import Mock

from memserver.api.build import build_api

DOCUMENT = build_api(cast(Any, Mock())).openapi()
LABELS = frozenset({"template_id"})
"""Called ids, and yet words of the caller's own that name no row."""
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Route:
    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def described(self) -> dict[str, Any]:
        described: dict[str, Any] = DOCUMENT["paths"][self.path][self.method.lower()]
        return described

    def parameters(self, where: str) -> list[dict[str, Any]]:
        return [one for one in self.described.get("parameters", []) if one["in"] == where]

    @property
    def body(self) -> dict[str, Any] | None:
        """The schema of its JSON body."""
        content = self.described.get("requestBody", {}).get("content", {})
        schema: dict[str, Any] | None = content.get("application/json", {}).get("schema")
        return schema


@dataclass(frozen=True)
class IdPlace:
    """Where a route takes an id: in its path, its query, or at a place in its body."""

    route: Route
    where: str
    name: str
    place: Place = ()

    def __str__(self) -> str:
        return f"{self.route} {self.where} {'.'.join(map(str, self.place)) or self.name}"


ROUTES = [
    Route(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods
]


def id_places() -> Iterator[IdPlace]:
    """Every parameter of a path, whatever its type, and all else that is a UUID or is called an
    id."""
    for route in ROUTES:
        for one in route.parameters("path"):
            yield IdPlace(route, "path", one["name"])
        for one in route.parameters("query"):
            if _is_uuid(one["schema"]) or _is_called_id(one["name"]):
                yield IdPlace(route, "query", one["name"])
        if route.body is not None:
            for place in dict.fromkeys(_id_places(route.body, ())):
                name = next(str(part) for part in reversed(place) if isinstance(part, str))
                yield IdPlace(route, "body", name, place)


def properties(schema: dict[str, Any]) -> set[str]:
    """The names of an object's fields."""
    return set(_resolved(schema).get("properties", {}))


def least(schema: dict[str, Any], namespace: str) -> Any:
    """The smallest value that a schema takes, with `namespace` wherever one is named."""
    schema = _resolved(schema)
    if "default" in schema:
        return copy.deepcopy(schema["default"])
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return least(schema[word][0], namespace)
    match schema.get("type"):
        case "object":
            return {
                name: namespace if name in ("namespace", "path") else least(inner, namespace)
                for name, inner in schema.get("properties", {}).items()
                if name in schema.get("required", [])
            }
        case "array":
            return [least(schema["items"], namespace)] * schema.get("minItems", 0)
        case "string":
            return "x" * max(1, schema.get("minLength", 1))
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return {}


def with_value(body: Any, place: Place, value: Any, route: Route) -> Any:
    """The body with `value` at the place, and what it needs around it."""
    changed = copy.deepcopy(body)
    here, schema = changed, _resolved(route.body or {})
    for part, following in zip(place, (*place[1:], None), strict=True):
        inner = _step(schema, part)
        if following is None:
            _put(here, part, value)
            return changed
        if isinstance(part, int) or not here.get(part):
            empty: Any = [] if isinstance(following, int) else least(inner, "x")
            if not (isinstance(part, int) and part < len(here)):
                _put(here, part, empty)
        here, schema = here[part], inner
    raise ValueError("a place has at least one part")


def _put(container: Any, part: str | int, value: Any) -> None:
    if isinstance(part, int) and part == len(container):
        container.append(value)
    else:
        container[part] = value


def _step(schema: dict[str, Any], part: str | int) -> dict[str, Any]:
    for one in _alternatives(schema):
        if isinstance(part, int) and "items" in one:
            return _resolved(one["items"])
        if isinstance(part, str) and part in one.get("properties", {}):
            return _resolved(one["properties"][part])
    raise KeyError(part)


def _id_places(schema: dict[str, Any], place: Place) -> Iterator[Place]:
    assert len(place) < 20, f"the body nests without end at {place}"
    for one in _alternatives(schema):
        if one.get("format") == "uuid":
            yield place
        if "items" in one:
            yield from _id_places(one["items"], (*place, 0))
        for name, inner in one.get("properties", {}).items():
            if _is_called_id(name):
                yield (*place, name)
            yield from _id_places(inner, (*place, name))


def _alternatives(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    schema = _resolved(schema)
    yield schema
    for word in ("anyOf", "oneOf", "allOf"):
        for one in schema.get(word, []):
            yield from _alternatives(one)


def _is_uuid(schema: dict[str, Any]) -> bool:
    return any(
        one.get("format") == "uuid" or ("items" in one and _is_uuid(one["items"]))
        for one in _alternatives(schema)
    )


def _is_called_id(name: str) -> bool:
    return (name == "id" or name.endswith("_id")) and name not in LABELS


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rsplit("/", 1)[1]
    found: dict[str, Any] = DOCUMENT["components"]["schemas"][name]
    return _resolved(found)
