"""What a tool is: its name, what a model is told of it, its arguments, and what it does."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memserver.domain.changes import Change
from memserver.domain.errors import ItemNotFound
from memserver.domain.items import (
    Body,
    Entry,
    FactBody,
    Kind,
    RuleBody,
    TextBody,
    first_line,
)
from memserver.domain.ports import Writer
from memserver.domain.scope import Namespace, Scope

CHANGEABLE = frozenset(
    {Kind.NOTE, Kind.PREFERENCE, Kind.PRINCIPLE, Kind.FACT, Kind.RULE, Kind.SUMMARY}
)
"""What a model may rewrite or discard. Skills, cases and hints are what runs have taught; they are
changed by whoever keeps the bank."""


class Arguments(BaseModel):
    """Unknown arguments are refused, so that a model learns of a misspelt one."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call acts: who makes it, in which namespace, within which session (if any), and
    whom that is about."""

    scope: Scope
    namespace: Namespace
    session: UUID | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """`content` is for the model, `data` the same as values; `change` is what was written."""

    content: str
    data: dict[str, Any] = field(default_factory=dict)
    is_error: bool = False
    change: Change | None = None


Write = Callable[[Writer], Answer]
"""What is left to be done in one transaction."""


class Tool(Protocol):
    """`in_session` says that it acts on a session's working memory."""

    name: ClassVar[str]
    description: ClassVar[str]
    arguments: ClassVar[type[Arguments]]
    in_session: ClassVar[bool]

    def call(self, place: Place, asked: Any) -> Answer | Write:
        """Does what only reads, and gives the answer; or says what is to be written. `asked` is
        an instance of `arguments`. Raises a `MemserverError`."""


def named_here(tx: Writer, place: Place, item_id: UUID) -> Entry:
    """The item that a call names. One of another namespace is `ItemNotFound`, even where the key
    reaches it: a call acts in one place."""
    entry = tx.item(place.scope, item_id)
    if entry is None or entry.item.namespace != place.namespace:
        raise ItemNotFound(item_id)
    return entry


def titled(text: str) -> str:
    """A title for words that have none: their first line."""
    return first_line(text)


def words_of(body: Body) -> str | None:
    """What a model may rewrite of a body: a fact's value, a text; None of all others."""
    match body:
        case FactBody(value=words) | RuleBody(text=words) | TextBody(text=words):
            return words
        case _:
            return None
