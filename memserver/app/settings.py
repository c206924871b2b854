"""Settings, read once from `MEMSERVER_*`; a name that does not exist is an error."""

import difflib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from memserver.domain.errors import MemserverError

PREFIX = "MEMSERVER_"
OF_OTHERS = frozenset({"MEMSERVER_URL", "MEMSERVER_API_KEY", "MEMSERVER_TEST_QDRANT_URL"})
"""Names that the client and the tests read."""


class UnknownSetting(MemserverError):
    """A misspelt variable must not silently leave the default in place."""

    code = "unknown_setting"

    def __init__(self, name: str, nearest: str | None) -> None:
        hint = f" Did you mean {nearest}?" if nearest else ""
        super().__init__(f"There is no setting {name}.{hint}")


class InvalidSetting(MemserverError):
    """The value is not told: it may be a secret."""

    code = "invalid_setting"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} cannot be used: {reason}.")


class Settings(BaseSettings):
    """Each field is the variable `MEMSERVER_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    data: Annotated[Path, Field(description="Folder for all that the server keeps.")] = Path(
        "memserver-data"
    )
    host: Annotated[str, Field(description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="Port; 0 takes a free one.")] = 8765
    database_url: Annotated[
        str | None,
        Field(description="PostgreSQL URL; without it, SQLite in the data folder."),
    ] = None
    qdrant_url: Annotated[
        str | None, Field(description="Qdrant server; without it, the embedded engine.")
    ] = None
    qdrant_api_key: Annotated[str | None, Field(description="The Qdrant server's key.")] = None
    encoder: Annotated[
        str | None,
        Field(description="Hub id or folder of a sentence-transformers model."),
    ] = None
    encoder_url: Annotated[
        str | None,
        Field(description="OpenAI-compatible endpoint to embed with; `encoder` is the model."),
    ] = None
    encoder_api_key: Annotated[str | None, Field(description="The endpoint's key.")] = None
    encoder_device: Annotated[str, Field(description="PyTorch device to embed on.")] = "cpu"
    encoder_threads: Annotated[
        int | None, Field(ge=1, description="PyTorch threads; by default its own choice.")
    ] = None
    chat_url: Annotated[
        str | None,
        Field(description="OpenAI-compatible endpoint of a chat model; `chat_model` names it."),
    ] = None
    chat_model: Annotated[
        str | None,
        Field(description="The endpoint's model; without one, a local one: hub id, folder, GGUF."),
    ] = None
    chat_api_key: Annotated[str | None, Field(description="The chat endpoint's key.")] = None
    chat_device: Annotated[str, Field(description="PyTorch device of a local chat model.")] = "cpu"
    chat_tokens_a_day: Annotated[
        int, Field(ge=0, description="Tokens of the chat model that a tenant may use in a day.")
    ] = 200_000
    guardrail_bound: Annotated[
        float, Field(ge=0, le=1, description="Least lower bound of a guardrail that is used.")
    ] = 0.5
    language: Annotated[str, Field(description="Stemming of the sparse vectors.")] = "english"
    workers: Annotated[int, Field(ge=1, le=64, description="Operations at a time.")] = 2
    body_limit: Annotated[int, Field(ge=1024, description="Bytes of a request body.")] = (
        8 * 1024 * 1024
    )
    json_depth: Annotated[int, Field(ge=4, le=200, description="Nesting of a body.")] = 32
    text_limit: Annotated[int, Field(ge=100, description="Characters of one string.")] = 1_000_000
    page_default: Annotated[int, Field(ge=1, description="Rows of a page.")] = 100
    page_most: Annotated[int, Field(ge=1, description="Rows of a page at most.")] = 500
    wait_s: Annotated[
        float,
        Field(
            gt=0, allow_inf_nan=False, description="Seconds that a write waits to be searchable."
        ),
    ] = 10.0
    restore_limit: Annotated[
        int, Field(ge=1024, description="Bytes of a backup's archive that may be restored.")
    ] = 64 * 1024**3
    flush_every_s: Annotated[
        float, Field(gt=0, le=5, description="Seconds between flushes of the index.")
    ] = 1.0
    log_format: Annotated[
        Literal["text", "json"], Field(description="How a line of the log looks.")
    ] = "text"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        BeforeValidator(lambda given: given.lower() if isinstance(given, str) else given),
        Field(description="The least that memserver logs of itself."),
    ] = "warning"
    decisions_kept_days: Annotated[
        int, Field(ge=1, le=36_500, description="Days for which decisions are kept.")
    ] = 90
    decisions_kept: Annotated[
        int, Field(ge=1, description="Decisions that a tenant keeps; the oldest go first.")
    ] = 1_000_000
    housekeeping_s: Annotated[
        float,
        Field(
            gt=0,
            le=86_400,
            allow_inf_nan=False,
            description="Seconds between looks at policies that serve and decisions to forget.",
        ),
    ] = 10.0
    session_events: Annotated[
        int, Field(ge=1, le=1_000_000, description="Events that one session may have.")
    ] = 5_000
    session_event_bytes: Annotated[
        int, Field(ge=256, description="Bytes of what one event of a session says.")
    ] = 65_536
    sealing_key: Annotated[
        str | None,
        Field(
            description="Key that encrypts what privacy takes out of texts, or several with commas "
            "between, of which the first encrypts; without one, nothing of it is kept."
        ),
    ] = None
    personal_data_detector: Annotated[
        Literal["shapes", "presidio"],
        Field(description="What finds personal data, where a namespace wants it taken out."),
    ] = "shapes"
    inherited_share: Annotated[
        float, Field(ge=0, le=1, description="Part of its parent's belief a version starts with.")
    ] = 0.5


def read_settings(**given: Any) -> Settings:
    """Settings from the environment, overridden by what is given and not None.

    Raises `UnknownSetting`, and `InvalidSetting` for the first value that does not fit.
    """
    for error in unknown_settings():
        raise error
    return known_settings(**given)


def unknown_settings() -> Iterator[UnknownSetting]:
    """One for each variable that looks like a setting and is none."""
    known = {PREFIX + field.upper() for field in Settings.model_fields} | OF_OTHERS
    for name in os.environ:
        if name.startswith(PREFIX) and name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            yield UnknownSetting(name, close[0] if close else None)


def known_settings(**given: Any) -> Settings:
    """As `read_settings`, whatever other variables there are."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        fault = error.errors()[0]
        name = PREFIX + str(fault["loc"][0]).upper()
        raise InvalidSetting(name, fault["msg"].lower()) from None
