"""What is kept of a turn beside its words: a title, and what was said around it. An answer alone
("yes, last June") is found by nothing that its question names."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

BEFORE, AFTER = 2, 1
"""Messages around a turn in its context. More of them come before, since what a turn means follows
from what it answers. In `memserver-bench locomo` one more or one less on either side found less."""

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


class Message(Protocol):
    """One message of a conversation, in the order said. `speaker` is a name or a role."""

    @property
    def speaker(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def at(self) -> datetime | None: ...


def turn_title(speaker: str, at: datetime | None) -> str:
    """Who spoke, and on which day where that is known: what questions name a turn by."""
    return speaker if at is None else f"{speaker}, {day(at)}"


def turn_contexts(messages: Sequence[Message]) -> list[str]:
    """For each message the words around it, itself among them: the day, then a line a message.
    The messages are one stretch of one conversation; nothing outside it is known here."""
    return [_context(messages, place) for place in range(len(messages))]


def day(at: datetime) -> str:
    """As people write it, so that a question's words meet it."""
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}"


def _context(messages: Sequence[Message], place: int) -> str:
    around = messages[max(0, place - BEFORE) : place + AFTER + 1]
    at = messages[place].at
    lines = [f"{message.speaker}: {message.text}" for message in around]
    return "\n".join(lines if at is None else [day(at), *lines])
