"""Everything that a call may raise, as a tree. `code` is the stable name to branch on; for a
refusal it is the server's own (docs/reference.md lists them).

MemserverError
├── NotConfigured            no URL or no key was given
├── ConnectionFailed         no answer came
│   ├── RequestTimeout       ... in time
│   └── StreamBroken         ... to its end
├── UnexpectedReply          an answer came that this client cannot read
├── ApiError                 the server refused: .status, .code, .detail, .problem
│   ├── Unauthenticated, Forbidden, NotFound, Conflict
│   ├── InvalidRequest       (also when this client refuses before sending)
│   │   └── TooLarge
│   └── ServerError
│       └── Unavailable      try again later; `retry_after` says when, where the server did
├── OperationFailed          .operation
│   └── OperationCancelled
├── OperationTimeout         it still runs; .operation is its last known state
└── EpisodeClosed
"""

from collections.abc import Iterable
from uuid import UUID

from memserver.wire.access import FieldError, Problem
from memserver.wire.operations import Operation


class MemserverError(Exception):
    """Root of the tree."""

    code: str = "client_error"


class NotConfigured(MemserverError):
    code = "not_configured"

    def __init__(self, what: str, argument: str, variable: str) -> None:
        super().__init__(f"No {what}: pass {argument}= or set {variable}.")


class ConnectionFailed(MemserverError):
    """No answer. Whether the server acted on the request is unknown, unless it is a read; a write
    that is called again with the same id (a trajectory's) is stored once."""

    code = "connection_failed"

    def __init__(self, url: str, reason: str, attempts: int) -> None:
        super().__init__(self._message(url, reason, attempts))
        self.attempts = attempts

    def _message(self, url: str, reason: str, attempts: int) -> str:
        tries = "" if attempts == 1 else f" after {attempts} attempts"
        return f"No answer from {url}{tries}: {reason}."


class RequestTimeout(ConnectionFailed):
    code = "request_timeout"


class StreamBroken(ConnectionFailed):
    """A reply of many rows, or a file, stopped before its end. What came before is as it was
    sent; the rest is not asked for again, since its beginning is used already."""

    code = "stream_broken"

    def _message(self, url: str, reason: str, attempts: int) -> str:
        return f"The answer of {url} broke off: {reason}."


class UnexpectedReply(MemserverError):
    """Most often the URL is not a memserver's."""

    code = "unexpected_reply"

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url} answered something that is no memserver reply: {reason}.")


# --- refusals ----------------------------------------------------------------------------


class ApiError(MemserverError):
    """The server answered, and refused. `problem` is its RFC 9457 document."""

    def __init__(self, problem: Problem, *, retry_after: float | None = None) -> None:
        super().__init__(problem.detail or problem.title)
        self.problem = problem
        self.code = problem.code
        self.status = problem.status
        self.detail = problem.detail
        self.retry_after = retry_after

    def __str__(self) -> str:
        fields = "; ".join(f"{error.where}: {error.what}" for error in self.problem.errors)
        return f"{super().__str__()} ({fields})" if fields else super().__str__()


class Unauthenticated(ApiError):
    pass


class Forbidden(ApiError):
    pass


class NotFound(ApiError):
    """Not there, or outside the key's grants: the server does not tell the two apart."""


class Conflict(ApiError):
    pass


class InvalidRequest(ApiError):
    """`problem.errors` says where in the request, and what is wrong there."""


class TooLarge(InvalidRequest):
    pass


class ServerError(ApiError):
    pass


class Unavailable(ServerError):
    pass


ERROR_OF_STATUS: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: InvalidRequest,
    429: Unavailable,
    503: Unavailable,
}


def refusal(problem: Problem, *, retry_after: float | None = None) -> ApiError:
    """The error class that stands for the problem's status."""
    fallback = ServerError if problem.status >= 500 else ApiError
    return ERROR_OF_STATUS.get(problem.status, fallback)(problem, retry_after=retry_after)


def invalid(detail: str, errors: Iterable[FieldError] = ()) -> InvalidRequest:
    """What the server would answer, without asking it."""
    return InvalidRequest(
        Problem(
            type="about:blank",
            title="Invalid request",
            status=422,
            detail=detail,
            code="invalid_request",
            errors=list(errors),
        )
    )


# --- operations and episodes -------------------------------------------------------------


class OperationFailed(MemserverError):
    code = "operation_failed"

    def __init__(self, operation: Operation) -> None:
        why = f": {operation.error}" if operation.error else ""
        super().__init__(f"The {operation.verb} {operation.id} {operation.state}{why}")
        self.operation = operation


class OperationCancelled(OperationFailed):
    code = "operation_cancelled"


class OperationTimeout(MemserverError):
    code = "operation_timeout"

    def __init__(self, operation: Operation, seconds: float) -> None:
        super().__init__(
            f"The {operation.verb} {operation.id} was still {operation.state} after "
            f"{seconds:g} s; it goes on, and memory.wait(id) waits for it again."
        )
        self.operation = operation


class EpisodeClosed(MemserverError):
    code = "episode_closed"

    def __init__(self, episode: UUID, wanted: str) -> None:
        super().__init__(f"The episode {episode} is over: it cannot {wanted}.")
