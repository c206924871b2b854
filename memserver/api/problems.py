"""How a refusal looks: RFC 9457 problem documents, and the one table from error to status."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from memserver.domain import errors
from memserver.wire.access import FieldError, Problem


class InvalidJson(errors.Invalid):
    code = "invalid_json"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The body is not JSON: {reason}.")


class InvalidUtf8(errors.Invalid):
    code = "invalid_utf8"

    def __init__(self) -> None:
        super().__init__("The body is not valid UTF-8, or escapes half a surrogate pair.")


class NulCharacter(errors.Invalid):
    code = "nul_character"

    def __init__(self) -> None:
        super().__init__("A string holds the NUL character, which cannot be stored.")


class TooDeep(errors.Invalid):
    code = "too_deep"

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body nests deeper than {limit} levels.")


class TextTooLong(errors.Invalid):
    code = "text_too_long"

    def __init__(self, limit: int) -> None:
        super().__init__(f"A string is longer than {limit:,} characters.")


class PageTooLarge(errors.Invalid):
    code = "page_too_large"

    def __init__(self, limit: int) -> None:
        super().__init__(f"A page has at most {limit} rows.")


class InvalidIdempotencyKey(errors.Invalid):
    code = "invalid_idempotency_key"

    def __init__(self) -> None:
        super().__init__("An Idempotency-Key has 1 to 200 printable ASCII characters.")


STATUS: dict[type[errors.MemserverError], int] = {
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.TooLarge: 413,
    InvalidJson: 400,
    InvalidUtf8: 400,
    errors.Invalid: 422,
    errors.Busy: 429,
    errors.Unavailable: 503,
    errors.MemserverError: 500,
}
"""The nearest class in an error's ancestry decides."""

TITLES = {
    400: "Malformed request",
    401: "Not authenticated",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    422: "Invalid request",
    429: "Too busy",
    500: "Internal error",
    503: "Unavailable",
}
HEADERS = {
    401: {"WWW-Authenticate": "Bearer"},
    429: {"Retry-After": "1"},
    503: {"Retry-After": "1"},
}
HTTP_CODES = {404: "no_such_route", 405: "method_not_allowed"}


def status_of(error: errors.MemserverError) -> int:
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def answer(
    status: int,
    code: str,
    detail: str,
    *,
    found: Sequence[FieldError] = (),
    extra: dict[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A problem document as a response."""
    problem = Problem(
        type=f"urn:memserver:problem:{code}",
        title=TITLES.get(status, "Error"),
        status=status,
        detail=detail,
        code=code,
        errors=list(found),
        extra=extra or {},
    )
    headers = {**HEADERS.get(status, {}), **(headers or {})}
    return JSONResponse(
        problem.model_dump(mode="json"), status, headers, media_type="application/problem+json"
    )


def of_error(error: errors.MemserverError) -> JSONResponse:
    extra: dict[str, Any] = {}
    if isinstance(error, errors.UndoConflict):
        extra["later"] = [str(change) for change in error.later]
    if isinstance(error, errors.LedgerRuleBlocks):
        extra["blocked_by"] = [{"rule": rule, "because": because} for rule, because in error.rules]
    if isinstance(error, errors.SkillsRefused):
        extra["refused"] = [
            {"where": one.where, "code": one.code, "reason": one.reason} for one in error.refused
        ]
    if isinstance(error, errors.FindingsNotAccepted):
        extra["findings"] = [
            {"code": code, "where": where, "excerpt": excerpt}
            for code, where, excerpt in error.findings
        ]
    if isinstance(error, errors.InvalidImport):
        extra["line"] = error.line
    return answer(status_of(error), error.code, str(error), extra=extra)


def broken() -> JSONResponse:
    """The answer where something failed that nobody foresaw."""
    return answer(500, errors.MemserverError.code, "The server failed; its log says why.")


def install(app: FastAPI) -> None:
    """Every refusal that leaves a route becomes a problem document."""

    @app.exception_handler(errors.MemserverError)
    async def refused(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, errors.MemserverError)
        return of_error(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        found = [
            FieldError(where=".".join(str(part) for part in fault["loc"]), what=fault["msg"])
            for fault in error.errors()
        ]
        detail = "; ".join(f"{fault.where}: {fault.what}" for fault in found[:3])
        return answer(422, errors.Invalid.code, detail, found=found[:50])

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        code = HTTP_CODES.get(error.status_code, "http_error")
        # Among them `Allow`, which a 405 must have.
        return answer(error.status_code, code, str(error.detail), headers=error.headers)
