"""Remember: what was said in, what became of each thing in it out."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from memserver.wire.base import Model, NamespacePath, Receipt, Time, TimeZone
from memserver.wire.items import FactBody, Words

MOST_TOGETHER = 500
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Message(Model):
    """One message of a conversation, by a `speaker` (a name) or a `role` (`user`, `assistant` …).
    What an `assistant`, `system` or `tool` says is kept and never taken for a fact."""

    speaker: Name | None = None
    role: Name | None = None
    text: Words
    at: Time | None = None

    @model_validator(mode="after")
    def names_who_spoke(self) -> "Message":
        if (self.speaker is None) == (self.role is None):
            raise ValueError("give either speaker or role")
        return self


class NewFact(FactBody):
    valid_from: Time | None = None


class Remember(Model):
    """What was said: exactly one of `text`, `messages` and `facts`.

    `at` is when it was said (by default now), in `time_zone` (by default the namespace's).
    `messages` belong to a `session` and go on where it ended; `keep_turns: false` keeps the
    facts in them, and as notes what was not understood, but not the messages themselves.
    `subject` is the person whom it is about.
    """

    namespace: NamespacePath
    text: Annotated[str, StringConstraints(min_length=1, max_length=200_000)] | None = None
    messages: Annotated[list[Message], Field(min_length=1, max_length=MOST_TOGETHER)] | None = None
    facts: Annotated[list[NewFact], Field(min_length=1, max_length=MOST_TOGETHER)] | None = None
    subject: Name | None = None
    session: UUID | None = None
    keep_turns: bool = True
    at: Time | None = None
    time_zone: TimeZone | None = None
    expires_at: Time | None = None
    metadata: dict[str, Any] | None = None

    @model_validator(mode="after")
    def says_one_thing(self) -> "Remember":
        if [self.text, self.messages, self.facts].count(None) != 2:
            raise ValueError("give exactly one of text, messages and facts")
        if self.messages is None and (self.session is not None or not self.keep_turns):
            raise ValueError("only messages have a session and turns")
        return self


Operation = Literal["ADD", "UPDATE", "DELETE", "NOOP"]


class WrittenItem(Model):
    """What became of one thing that was told. `target` is the version that it bore on, `item` and
    `version` what stands now; null where nothing was kept. `by` says who decided, `decision` is
    its place in the log, `message` the number of the message that it came from."""

    operation: Operation
    kind: str
    item: UUID | None
    version: UUID | None
    target: UUID | None
    decision: UUID
    reason: str
    by: Literal["rules", "policy", "model"]
    message: int | None = None


class Remembered(Receipt):
    """What became of all that was told, in the order in which it was said, and how often."""

    session: UUID | None = None
    written: list[WrittenItem]
    added: int
    updated: int
    deleted: int
    unchanged: int
