"""A line of the log says what happened and where, in either shape, and quotes no exception."""

import json
import logging
import threading
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
import structlog

from memserver.app import logs

SECRET = "what the user wrote"
OWN = logging.getLogger("memserver.somewhere")
LIBRARY = logging.getLogger("a.library")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Logging belongs to the process."""
    root, own = logging.getLogger(), logging.getLogger("memserver")
    handlers, levels, hook = root.handlers[:], (root.level, own.level), threading.excepthook
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    own.setLevel(levels[1])
    threading.excepthook = hook


def written(form: str, *, level: str = "debug") -> StringIO:
    stream = StringIO()
    logs.configure(level=level, form=form, stream=stream)
    return stream


def entries(stream: StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def fail() -> None:
    try:
        raise KeyError(SECRET)
    except KeyError as error:
        raise RuntimeError(f"cannot store {SECRET}") from error


def test_a_line_of_json_has_its_time_level_logger_and_message() -> None:
    stream = written("json")
    OWN.warning("step %s waits", "one")

    (entry,) = entries(stream)
    assert entry.pop("timestamp").endswith("Z")
    assert entry == {
        "level": "warning",
        "logger": "memserver.somewhere",
        "message": "step one waits",
    }


def test_a_line_of_text_has_the_same() -> None:
    stream = written("text")
    OWN.warning("step one waits")

    (line,) = stream.getvalue().splitlines()
    for part in ("warning", "memserver.somewhere", "step one waits"):
        assert part in line
    assert "\x1b" not in line, "no colours where nobody looks"


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("logger", [OWN, LIBRARY], ids=["own", "library"])
def test_an_exception_is_told_by_type_and_frames(form: str, logger: logging.Logger) -> None:
    stream = written(form)
    try:
        fail()
    except RuntimeError:
        logger.exception("it failed")

    said = stream.getvalue()
    assert "it failed" in said
    assert "RuntimeError" in said
    assert "KeyError" in said
    assert "in fail" in said
    assert SECRET not in said


def test_a_thread_that_dies_is_told_without_what_it_died_of() -> None:
    stream = written("json")
    thread = threading.Thread(target=fail, name="sweeper")
    thread.start()
    thread.join()

    (entry,) = entries(stream)
    assert entry["message"] == "The thread sweeper has died."
    assert "in fail" in entry["exception"]
    assert SECRET not in stream.getvalue()


def test_libraries_are_heard_from_warning_on_whatever_memserver_is_asked_for() -> None:
    stream = written("json", level="debug")
    LIBRARY.info(SECRET)
    LIBRARY.warning("it is late")
    OWN.debug("a detail")

    assert [entry["message"] for entry in entries(stream)] == ["it is late", "a detail"]


def test_sqlalchemy_does_not_log_statements_at_any_level_of_ours() -> None:
    written("json", level="debug")

    assert not logging.getLogger("sqlalchemy.engine.Engine").isEnabledFor(logging.INFO)


def test_memserver_can_be_asked_for_less() -> None:
    stream = written("json", level="error")
    OWN.warning("it is late")
    LIBRARY.warning("it is late")
    OWN.error("it is too late")

    assert [entry["message"] for entry in entries(stream)] == ["it is too late"]


def test_of_a_library_only_the_first_line_and_no_fields_are_shown() -> None:
    stream = written("json")
    LIBRARY.error("Task failed\ntask: <Task %r>", SECRET, extra={"body": SECRET})

    (entry,) = entries(stream)
    assert entry["message"] == "Task failed"
    assert SECRET not in stream.getvalue()


def test_a_line_carries_the_request_that_it_belongs_to() -> None:
    stream = written("json")
    with structlog.contextvars.bound_contextvars(request_id="r1"):
        OWN.warning("inside")
    OWN.warning("outside")

    assert [entry.get("request_id") for entry in entries(stream)] == ["r1", None]


def test_what_was_configured_before_is_replaced() -> None:
    first = written("json")
    second = written("json")
    OWN.warning("once")

    assert first.getvalue() == ""
    assert len(entries(second)) == 1
