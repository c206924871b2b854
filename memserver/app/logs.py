"""Logging to stderr, in lines for people or for machines, of what happened and never of what was
stored: an exception's message may quote it, so only its type and where it was raised are shown."""

import logging
import sys
import threading
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from memserver.services.operation_failures import frames

OWN = "memserver"
REQUEST_FIELDS = ("method", "route", "status", "milliseconds", "tenant", "key")
"""What a line may carry besides its sentence; anything else that a library attaches is left out."""


def configure(*, level: str, form: str, stream: TextIO | None = None) -> None:
    """Replaces the handlers of the root logger. `level` is that of memserver's own lines; a
    library's are shown from WARNING on, since what some say below that quotes statements with
    their values. `form` is `text` or `json`."""
    out = sys.stderr if stream is None else stream
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[
                _without_messages,
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(form, coloured=out.isatty()),
            ],
        )
    )
    wanted = logging.getLevelNamesMapping()[level.upper()]
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(wanted, logging.WARNING))
    logging.getLogger(OWN).setLevel(wanted)
    threading.excepthook = _log_thread_end


def _first_line(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Of a library's record only the first line: asyncio, for one, goes on with the values
    of what failed."""
    if not event["_record"].name.startswith(OWN):
        event["event"] = str(event["event"]).split("\n", 1)[0]
    return event


def _without_messages(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Puts the frames of an exception in the place of the exception."""
    found = event.pop("exc_info", None)
    error = found[1] if isinstance(found, tuple) else None
    if error is not None:
        event["exception"] = frames(error).rstrip()
    return event


_SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(allow=REQUEST_FIELDS),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _first_line,
)


def _renderers(form: str, *, coloured: bool) -> tuple[Processor, ...]:
    if form == "json":
        return (
            structlog.processors.EventRenamer("message"),
            structlog.processors.JSONRenderer(ensure_ascii=False),
        )
    return (structlog.dev.ConsoleRenderer(colors=coloured, pad_event_to=0),)


def _log_thread_end(ended: threading.ExceptHookArgs) -> None:
    """What Python would print with the exception's message."""
    if ended.exc_type is SystemExit or ended.exc_value is None:
        return
    name = ended.thread.name if ended.thread is not None else "unknown"
    where: Any = (ended.exc_type, ended.exc_value, ended.exc_traceback)
    logging.getLogger(OWN).error("The thread %s has died.", name, exc_info=where)
