"""What all request and response models share."""

from datetime import UTC, datetime
from typing import Annotated, Generic, TypeVar
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

R = TypeVar("R")


class Model(BaseModel):
    """Unknown fields are refused, so that a misspelt one never passes unnoticed. The client
    reads replies with `extra="ignore"`, so that an older client understands a newer server."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


class Page(Model, Generic[R]):
    """One page of a list. `next_cursor` is null on the last."""

    rows: list[R]
    next_cursor: str | None = None


class Receipt(Model):
    """What every write answers: the change that was made (null where nothing was new), its
    position in the log, and whether it can already be found by retrieve."""

    change_id: str | None = None
    position: int = 0
    searchable: bool = True


NamespacePath = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200),
    Field(examples=["team/web-agent"], description="A namespace, such as `team/web-agent`."),
]
NamespacePattern = Annotated[
    str,
    StringConstraints(min_length=1, max_length=203),
    Field(
        examples=["team/**"],
        description="A namespace, a subtree such as `team/**`, or `**` for all.",
    ),
]


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("in UTC the time lies outside the years 1 to 9999") from None


OF_NO_PLACE = frozenset({"localtime", "posixrules", "Factory"})
"""Files beside the zones; the first is wherever the server happens to stand."""


def _known_zone(name: str) -> str:
    try:
        if name in OF_NO_PLACE:
            raise ValueError(name)
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # a name that is no name, a folder, or not there
        raise ValueError(f"there is no time zone {name!r} in the IANA database") from None
    return name


TimeZone = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100),
    AfterValidator(_known_zone),
    Field(examples=["Europe/Oslo"]),
]
Time = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A time with its offset, kept in UTC. Naive times are refused."""
Subject = Annotated[str, StringConstraints(min_length=1, max_length=500)]
"""The person whom something is about, by a name of the sender's own."""
ShortText = Annotated[str, StringConstraints(max_length=500)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
