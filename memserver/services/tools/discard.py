"""`memory_discard`: forget something. An undo of the change brings it back."""

from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import Field

from memserver.domain.errors import InvalidBody
from memserver.domain.ports import Writer
from memserver.services.access import Access
from memserver.services.remembering import Remembering
from memserver.services.tools.tool import (
    CHANGEABLE,
    Answer,
    Arguments,
    Place,
    Write,
    named_here,
)


class DiscardArguments(Arguments):
    id: Annotated[UUID, Field(description="The id of the memory, as memory_retrieve gave it.")]


class DiscardTool:
    name: ClassVar[str] = "memory_discard"
    description: ClassVar[str] = (
        "Forget a memory that is wrong or of no more use: it will not be found again."
    )
    arguments: ClassVar[type[Arguments]] = DiscardArguments
    in_session: ClassVar[bool] = False

    def __init__(self, access: Access, remembering: Remembering) -> None:
        self._access = access
        self._remembering = remembering

    def call(self, place: Place, asked: DiscardArguments) -> Write:
        self._access.require_writable(place.scope, place.namespace)

        def write(tx: Writer) -> Answer:
            entry = named_here(tx, place, asked.id)
            if entry.item.kind not in CHANGEABLE:
                raise InvalidBody(f"A {entry.item.kind} is not discarded by this tool.")
            change = self._remembering.forget(tx, place.scope, asked.id, kinds=CHANGEABLE)
            return Answer(
                content=f"Discarded (id {asked.id}).",
                data={"operation": "DELETE", "id": str(asked.id)},
                change=change,
            )

        return write
