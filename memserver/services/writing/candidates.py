"""The values of a write decision: what is to be kept, what it is held against, what may be done."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any
from uuid import UUID

from memserver.domain.items import Body, Entry, FactBody, Kind, Status, Turn, normal_name
from memserver.domain.policy.write_features import Operation
from memserver.services.writing.likeness import Words, normal_text, words_of


class Sort(StrEnum):
    """How a candidate is dealt with: a fact by its entity and key, a retraction by what it takes
    back, a text by what says the same, a turn by its place in its session."""

    FACT = "fact"
    RETRACTION = "retraction"
    TEXT = "text"
    TURN = "turn"


@dataclass(frozen=True)
class Candidate:
    """One thing that a call would have kept, changed or taken back. `text` is what was said;
    `body` what is kept (of a retraction, the fact that it ends, its value empty where any is
    meant). `at` is when it holds from, or ended. `refused` says why the rules keep nothing of it
    before they look at any neighbour. `message` is the number of the message that it came from.

    `metadata`, `subject` and `expires_at` are the call's; None where it gave none. Where privacy
    takes something out of what was told, this is what is left, by which the candidate is compared
    and found, and `told` is what goes to the store, which takes it out and seals it.
    """

    sort: Sort
    kind: Kind
    text: str
    body: Body
    title: str
    at: datetime
    method: str
    correction: bool = False
    turn: Turn | None = None
    context: str = ""
    message: int | None = None
    refused: str | None = None
    metadata: dict[str, Any] | None = None
    subject: str | None = None
    expires_at: datetime | None = None
    told: "Candidate | None" = None

    @cached_property
    def words(self) -> Words:
        return words_of(self.text)

    @property
    def fact(self) -> FactBody | None:
        return self.body if isinstance(self.body, FactBody) else None


@dataclass(frozen=True)
class Neighbour:
    """An item that a candidate may bear on, by its head. `cosine` and `sparse` are what the index
    found, 0 where it was not asked or found another. `mentions`, `outcomes` and `mean` are its
    belief, where that was read. `had` is the value that a fact had when the candidate's begins,
    where that is before its present value's."""

    entry: Entry
    live: bool
    cosine: float = 0.0
    sparse: float = 0.0
    mentions: int = 0
    outcomes: int = 0
    mean: float = 0.0
    had: str | None = None

    @property
    def id(self) -> UUID:
        """By the version, as decisions name candidates."""
        return self.entry.version.id

    @property
    def fact(self) -> FactBody | None:
        body = self.entry.version.body
        return body if isinstance(body, FactBody) else None

    @property
    def active(self) -> bool:
        return self.entry.item.status is Status.ACTIVE

    @cached_property
    def words(self) -> Words:
        return words_of(self.entry.version.text)


@dataclass(frozen=True, slots=True)
class Option:
    """One way of dealing with a candidate."""

    operation: Operation
    target: Neighbour | None = None

    @property
    def target_id(self) -> UUID | None:
        return None if self.target is None else self.target.id


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the rules would do and why, and what else they let a policy or a model do instead.
    Where nothing else is admitted the rules bind."""

    choice: Option
    reason: str
    others: tuple[Option, ...] = field(default=())

    @property
    def binds(self) -> bool:
        return not self.others

    @property
    def admitted(self) -> tuple[Option, ...]:
        return (self.choice, *self.others)


def about_of(body: FactBody) -> tuple[str, str]:
    """The normal form of a fact's entity and key: equal for one fact in two spellings."""
    return (normal_name(body.entity), normal_name(body.key))


def same_value(one: str, other: str) -> bool:
    return normal_text(one) == normal_text(other)
