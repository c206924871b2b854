"""`memory_store`: keep something for later."""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints, model_validator

from memserver.domain.items import FactBody, Kind, TextBody
from memserver.domain.ports import Writer
from memserver.services.access import Access
from memserver.services.remembering import Content, Remembering
from memserver.services.tools.tool import Answer, Arguments, Place, Write, titled

METHOD = "tool/store"
Words = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


class FactArguments(Arguments):
    entity: Annotated[Words, Field(description="Who or what it is about.")]
    key: Annotated[Words, Field(description="Which property, such as 'email'.")]
    value: Annotated[Words, Field(description="What it is now.")]


class StoreArguments(Arguments):
    text: Annotated[Words | None, Field(description="What to remember, in words.")] = None
    fact: Annotated[
        FactArguments | None,
        Field(description="Instead of a text: one property of something, with its present value."),
    ] = None
    kind: Annotated[
        Literal["note", "preference", "principle"],
        Field(description="What a text is: a note, what somebody prefers, a principle to act by."),
    ] = "note"

    @model_validator(mode="after")
    def says_one_thing(self) -> "StoreArguments":
        if (self.text is None) == (self.fact is None):
            raise ValueError("give either a text or a fact")
        return self


class StoreTool:
    name: ClassVar[str] = "memory_store"
    description: ClassVar[str] = (
        "Remember something beyond this conversation. Give a text, or a fact (entity, key, "
        "value): a new value for a known entity and key replaces the old one, which stays in the "
        "history. What is known already is not stored twice."
    )
    arguments: ClassVar[type[Arguments]] = StoreArguments
    in_session: ClassVar[bool] = False

    def __init__(self, access: Access, remembering: Remembering) -> None:
        self._access = access
        self._remembering = remembering

    def call(self, place: Place, asked: StoreArguments) -> Write:
        namespace = place.namespace
        self._access.require_writable(place.scope, namespace)
        if asked.fact is not None:
            fact = FactBody(**asked.fact.model_dump())
            kind, content = Kind.FACT, Content(title=fact.about, body=fact, method=METHOD)
        else:
            text = asked.text or ""
            kind = Kind(asked.kind)
            content = Content(title=titled(text), body=TextBody(text), method=METHOD)
        # What is said in somebody's session goes with them when they are erased.
        content = replace(content, subject=place.subject)

        def write(tx: Writer) -> Answer:
            stored = self._remembering.remember(tx, place.scope, namespace, kind, content)
            item, version = stored.entry.item, stored.entry.version
            operation = _operation(stored.change is None, version.number)
            return Answer(
                content=f"{SAID[operation]} (id {item.id}).",
                data={"operation": operation, "id": str(item.id), "version_id": str(version.id)},
                change=stored.change,
            )

        return write


SAID = {
    "ADD": "Stored",
    "UPDATE": "Stored as the new value of what was known",
    "NOOP": "Known already, nothing was stored",
}


def _operation(known: bool, number: int) -> str:
    if known:
        return "NOOP"
    return "ADD" if number == 1 else "UPDATE"
