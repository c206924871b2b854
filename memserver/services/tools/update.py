"""`memory_update`: other words for what is remembered. The same words again change nothing."""

from dataclasses import replace
from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import Field, StringConstraints

from memserver.domain.errors import InvalidBody
from memserver.domain.items import Body, Entry, FactBody, RuleBody, TextBody
from memserver.domain.ports import Writer
from memserver.services.access import Access
from memserver.services.remembering import Content, Remembering
from memserver.services.tools.tool import (
    CHANGEABLE,
    Answer,
    Arguments,
    Place,
    Write,
    named_here,
    titled,
    words_of,
)


class UpdateArguments(Arguments):
    id: Annotated[UUID, Field(description="The id of the memory, as memory_retrieve gave it.")]
    text: Annotated[
        str,
        StringConstraints(min_length=1, max_length=20_000),
        Field(description="What it should say from now on; for a fact, its new value."),
    ]


class UpdateTool:
    name: ClassVar[str] = "memory_update"
    description: ClassVar[str] = (
        "Change what a memory says, when it is no longer true or can be said better. The version "
        "before stays in the history. Update only what has changed: the same content again "
        "changes nothing, and says so."
    )
    arguments: ClassVar[type[Arguments]] = UpdateArguments
    in_session: ClassVar[bool] = False

    def __init__(self, access: Access, remembering: Remembering) -> None:
        self._access = access
        self._remembering = remembering

    def call(self, place: Place, asked: UpdateArguments) -> Write:
        self._access.require_writable(place.scope, place.namespace)

        def write(tx: Writer) -> Answer:
            entry = named_here(tx, place, asked.id)
            now = words_of(entry.version.body)
            if entry.item.kind not in CHANGEABLE or now is None:
                raise InvalidBody(f"A {entry.item.kind} is not changed by this tool.")
            if now.strip() == asked.text.strip() and self._remembering.stands(entry):
                return _nothing_new(entry)
            done = self._remembering.add_version(
                tx, place.scope, asked.id, _content(entry, asked.text), kinds=CHANGEABLE
            )
            if done.change is None:
                return _nothing_new(done.entry)
            return Answer(
                content=f"Updated (id {asked.id}).",
                data={
                    "operation": "UPDATE",
                    "id": str(asked.id),
                    "version_id": str(done.entry.version.id),
                },
                change=done.change,
            )

        return write


def _nothing_new(entry: Entry) -> Answer:
    return Answer(
        content="That is what it says already: nothing was changed.",
        data={
            "operation": "NOOP",
            "id": str(entry.item.id),
            "version_id": str(entry.version.id),
            "reason": "the content is equal to the present one",
        },
    )


def _content(entry: Entry, text: str) -> Content:
    """The same memory with other words. A title that was only its first line follows them."""
    head = entry.version
    named_after_itself = head.title == titled(words_of(head.body) or "")
    return Content(
        title=titled(text) if named_after_itself else head.title,
        body=_reworded(head.body, text),
        task_type=head.task_type,
        metadata=head.metadata,
        method="tool/update",
    )


def _reworded(body: Body, text: str) -> Body:
    match body:
        case FactBody():
            return replace(body, value=text)
        case RuleBody() | TextBody():
            return replace(body, text=text)
        case _:
            return body
