"""Reading JSON that someone else wrote: what can be stored safely is taken, the rest refused.

Python's own parser takes NaN, integers of any length, lone surrogates and repeated keys, none of
which survives a database and a second parser."""

import hashlib
import json
import math
from typing import Any
from uuid import UUID, uuid5

from pydantic import ValidationError

from memserver.domain.scope import Namespace

DEEPEST = 32
_LARGEST = 2**63 - 1


class Unreadable(ValueError):
    """Why a JSON text is refused; importers add the line."""


def decode(data: bytes) -> str:
    """UTF-8, with or without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise Unreadable(f"it is not UTF-8 (byte {fault.start + 1})") from fault


def parse(text: str, start: int = 0) -> tuple[Any, int]:
    """The JSON value at `start`, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as fault:
        raise Unreadable(f"it is not JSON ({fault.msg})") from fault
    except RecursionError as fault:
        raise Unreadable(_TOO_DEEP) from fault
    except Unreadable:
        raise
    except ValueError as fault:  # an integer of thousands of digits
        raise Unreadable("it holds an integer beyond 64 bits") from fault
    _check(value)
    return value, end


def content_id(kind: str, namespace: Namespace, value: Any) -> UUID:
    """The same id for the same content in the same namespace. Ids are unique within a tenant, so
    whoever imports a public file first must not stand in the way of its other namespaces."""
    return uuid5(_ROOT, f"{kind}:{namespace.path}:{digest(value)}")


def digest(value: Any) -> str:
    """SHA-256 over the value in canonical JSON."""
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def first_fault(fault: ValidationError) -> str:
    """The first thing that a model refused, with the field's path."""
    error = fault.errors(include_url=False, include_input=False)[0]
    path = ".".join(str(part) for part in error["loc"])
    # Its own words name the class, which is nobody's business.
    said = "it should be a JSON object" if error["type"] == "model_type" else error["msg"]
    return f"{path}: {said}" if path else said


_ROOT = UUID("6d0f3a52-1b39-5a0e-9c58-5b8f2f0a7d11")
_TOO_DEEP = f"it is nested deeper than {DEEPEST} levels"


def _refuse_constant(name: str) -> Any:
    raise Unreadable(f"it holds {name}, which is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise Unreadable(f"the key {repeated[:80]!r} occurs twice in one object")
    return held


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique)


def _check(value: Any) -> None:
    stack = [(value, 1)]
    while stack:
        held, depth = stack.pop()
        match held:
            case dict() | list():
                if depth > DEEPEST:
                    raise Unreadable(_TOO_DEEP)
                inner = [*held.keys(), *held.values()] if isinstance(held, dict) else held
                stack.extend((part, depth + 1) for part in inner)
            case str():
                _check_text(held)
            case int() if abs(held) > _LARGEST:
                raise Unreadable("it holds an integer beyond 64 bits")
            case float() if not math.isfinite(held):
                raise Unreadable("it holds a number beyond 64 bits")


def _check_text(text: str) -> None:
    if "\x00" in text:
        raise Unreadable("it holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError as fault:
        raise Unreadable("it holds half of a surrogate pair") from fault
