"""Tools as the APIs of model providers take them: JSON Schema without references or extras."""

from collections.abc import Callable, Mapping
from typing import Any

from memserver.services.tools.tool import Tool

# Not among what strict function calling takes; the server checks lengths itself.
_NOT_STRICT = frozenset({"minLength", "maxLength"})


def openai(tool: Tool) -> dict[str, Any]:
    """Strict: every argument is required, and one that may be left out may be null."""
    schema = _without(parameters(tool), _NOT_STRICT)
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": _all_required(schema),
            "strict": True,
        },
    }


def anthropic(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": parameters(tool),
    }


FORMATS: dict[str, Callable[[Tool], dict[str, Any]]] = {"openai": openai, "anthropic": anthropic}


def parameters(tool: Tool) -> dict[str, Any]:
    """The schema of a tool's arguments."""
    schema = tool.arguments.model_json_schema()
    plain: dict[str, Any] = _plain(schema, schema.pop("$defs", {}))
    return plain


def _plain(schema: Any, named: Mapping[str, Any]) -> Any:
    """With references replaced by what they name, and without what only the server reads."""
    if isinstance(schema, list):
        return [_plain(one, named) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        target = named[schema["$ref"].rpartition("/")[2]]
        schema = {**target, **{key: part for key, part in schema.items() if key != "$ref"}}
    return {
        key: {name: _plain(one, named) for name, one in part.items()}
        if key == "properties"
        else _plain(part, named)
        for key, part in schema.items()
        if key not in ("title", "default") and not _of_the_code(key, schema)
    }


def _of_the_code(key: str, schema: Mapping[str, Any]) -> bool:
    """A docstring of a class here is no description for a model."""
    return key == "description" and "properties" in schema


def _without(schema: Any, keys: frozenset[str]) -> Any:
    if isinstance(schema, list):
        return [_without(one, keys) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _without(part, keys) for key, part in schema.items() if key not in keys}


def _all_required(schema: Any) -> Any:
    """Every property of every object required; one that was not may be null."""
    if isinstance(schema, list):
        return [_all_required(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    done = {key: _all_required(part) for key, part in schema.items()}
    if isinstance(properties := done.get("properties"), dict):
        required = schema.get("required", [])
        done["properties"] = {
            name: one if name in required else _nullable(one) for name, one in properties.items()
        }
        done["required"] = list(properties)
    return done


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if {"type": "null"} in schema.get("anyOf", []):
        return schema
    described = {key: schema[key] for key in ("description",) if key in schema}
    rest = {key: part for key, part in schema.items() if key not in described}
    return {"anyOf": [rest, {"type": "null"}], **described}
