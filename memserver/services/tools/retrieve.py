"""`memory_retrieve`: what is remembered that bears on a question."""

from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from memserver.services.retrieval.query import Packed, Query
from memserver.services.retrieval.retrieve import Retrieve
from memserver.services.tools.tool import Answer, Arguments, Place

NOTHING = "Nothing was found."


class RetrieveArguments(Arguments):
    query: Annotated[
        str,
        StringConstraints(min_length=1, max_length=20_000),
        Field(description="What you want to know, in words."),
    ]
    k: Annotated[int, Field(ge=1, le=50, description="How many memories at most.")] = 5
    budget_tokens: Annotated[
        int, Field(ge=50, le=20_000, description="How long the answer may be, in tokens.")
    ] = 1_000


class RetrieveTool:
    name: ClassVar[str] = "memory_retrieve"
    description: ClassVar[str] = (
        "Search what is remembered. Gives the memories that bear on the query, best first, each "
        "with the id by which it can be updated or discarded."
    )
    arguments: ClassVar[type[Arguments]] = RetrieveArguments
    in_session: ClassVar[bool] = False

    def __init__(self, retrieve: Retrieve, *, count: Callable[[str], int]) -> None:
        self._retrieve = retrieve
        self._count = count

    def call(self, place: Place, asked: RetrieveArguments) -> Answer:
        found = self._retrieve(
            place.scope,
            Query(
                text=asked.query,
                namespaces=(place.namespace.path,),
                k=asked.k,
                budget_tokens=asked.budget_tokens,
            ),
        )
        shown = list(found.packed)
        # The ids take room too.
        while len(shown) > 1 and self._count(_content(shown)) > asked.budget_tokens:
            shown.pop()
        return Answer(
            content=_content(shown),
            data={
                "retrieval_id": str(found.retrieval_id),
                "items": [
                    {
                        "id": str(one.candidate.id),
                        "version_id": str(one.candidate.document),
                        "kind": one.candidate.kind,
                        "title": one.candidate.title,
                        "text": one.text,
                    }
                    for one in shown
                ],
            },
        )


def _content(shown: Sequence[Packed]) -> str:
    return "\n\n".join(f"[id {one.candidate.id}]\n{one.text}" for one in shown) or NOTHING
