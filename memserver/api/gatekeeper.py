"""What stands before every route: authentication first, then the limits on bodies."""

import hashlib
import json
from typing import Any, NoReturn

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memserver.api import problems
from memserver.api.limits import Limits
from memserver.domain.errors import MemserverError, TooLarge, Unauthenticated
from memserver.domain.ports.meter import UNMETERED, Meter
from memserver.services.access import Access
from memserver.services.gate import Gate

PROTECTED = "/v1"
RAW_BODIES = frozenset({"/v1/policies", "/v1/skills/import", "/v1/trajectories/import"})
"""Routes whose bodies are files, which their importers check line by line."""
STREAMED_BODIES = frozenset({"/v1/restore"})
"""Routes whose bodies are too large to be held, and are left to them unread."""
CHECKED_AT_ONCE = 16_384
"""Bytes that take less time to check than to hand over to another thread."""


class Gatekeeper:
    """ASGI middleware: puts `caller` (a domain `Scope`), `body_hash` and the `passage` through
    the gate into the request's state, or answers with a problem document. Nothing of a body is
    read before the key is known to be good."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        limits: Limits,
        meter: Meter = UNMETERED,
        gate: Gate | None = None,
    ) -> None:
        self._app = app
        self._access = access
        self._gate = gate or Gate()
        self._limits = limits
        self._meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _is_protected(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._gate.enter().leave()
            epoch = self._gate.epoch
            with self._meter.stage("authenticate"):
                caller = await run_in_threadpool(self._access.authenticate, bearer(headers))
            state = scope.setdefault("state", {})
            state["caller"] = caller
            streamed = scope["path"] in STREAMED_BODIES
            body = b"" if streamed else await self._body(headers, receive)
            if body is None:
                return
            if body and scope["path"] not in RAW_BODIES:
                if len(body) <= CHECKED_AT_ONCE:
                    check_json(body, self._limits)
                else:
                    await run_in_threadpool(check_json, body, self._limits)
            # Not before the body is here: a sender that stops must not keep a restore waiting.
            passage = self._gate.enter()
        except MemserverError as error:
            await problems.of_error(error)(scope, receive, send)
            return
        state["body_hash"] = hashlib.sha256(body).hexdigest()
        state["passage"] = passage
        try:
            if self._gate.epoch != epoch:
                # The key was good for what has been replaced since.
                state["caller"] = await run_in_threadpool(
                    self._access.authenticate, bearer(headers)
                )
            await self._app(scope, receive if streamed else _replay(body, receive), send)
        except Unauthenticated as error:
            await problems.of_error(error)(scope, receive, send)
        finally:
            passage.leave()

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        """The whole body, refused as soon as it is known to be over the limit. None where the
        sender left before its end: part of a body is no request."""
        limit = self._limits.body
        declared = headers.get("content-length", "0")
        if declared.isdigit() and int(declared) > limit:
            raise TooLarge("The body", limit)
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            if size > limit:
                raise TooLarge("The body", limit)
            if not message.get("more_body", False):
                return b"".join(chunks)


def bearer(headers: Headers) -> str | None:
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else None


def check_json(body: bytes, limits: Limits) -> None:
    """Refuses what JSON parsers let pass and stores choke on: NaN, NUL, half surrogates, deep
    nesting, overlong strings. Raises a `MemserverError`."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise problems.InvalidUtf8 from error
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except RecursionError as error:
        raise problems.TooDeep(limits.depth) from error
    except ValueError as error:
        raise problems.InvalidJson(str(error)) from error
    _check(value, limits)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _check(value: Any, limits: Limits) -> None:
    level: list[Any] = [value]
    for _ in range(limits.depth + 1):
        below: list[Any] = []
        for part in level:
            if isinstance(part, str):
                _check_text(part, limits)
            elif isinstance(part, dict):
                below += part.keys()
                below += part.values()
            elif isinstance(part, list):
                below += part
            elif isinstance(part, float) and part in (float("inf"), float("-inf")):
                raise problems.InvalidJson("a number is too large")
        if not below:
            return
        level = below
    raise problems.TooDeep(limits.depth)


def _check_text(text: str, limits: Limits) -> None:
    if len(text) > limits.text:
        raise problems.TextTooLong(limits.text)
    if "\x00" in text:
        raise problems.NulCharacter
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise problems.InvalidUtf8 from error


def _is_protected(path: str) -> bool:
    return path == PROTECTED or path.startswith(PROTECTED + "/")


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hands the body out once, then whatever comes after (a disconnect)."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return pending.pop() if pending else await receive()

    return next_message
