"""`memory_filter`: the conversation narrowed to what bears on a question."""

from collections.abc import Callable
from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from memserver.domain.ports import Writer
from memserver.domain.sessions.events import Filtering
from memserver.domain.sessions.state import State
from memserver.services.sessions.central import bearing
from memserver.services.sessions.reading import Sessions
from memserver.services.sessions.recording import Beginning, NewEvent, Recording
from memserver.services.sessions.rendering import candidate_text, turn_text
from memserver.services.tools.tool import Answer, Arguments, Place, Write

LATEST = 2
"""Turns that stay whatever is asked: without them an agent loses the thread."""


class FilterArguments(Arguments):
    query: Annotated[
        str,
        StringConstraints(min_length=1, max_length=20_000),
        Field(description="What matters now, in words."),
    ]
    budget_tokens: Annotated[
        int, Field(ge=20, le=20_000, description="How much may stay, in tokens.")
    ] = 800


class FilterTool:
    name: ClassVar[str] = "memory_filter"
    description: ClassVar[str] = (
        "Narrow this conversation to what matters now: turns and candidates that have nothing to "
        "do with the query are set aside. The state of the task, the report, the evidence and the "
        "latest turns stay."
    )
    arguments: ClassVar[type[Arguments]] = FilterArguments
    in_session: ClassVar[bool] = True

    def __init__(
        self, sessions: Sessions, recording: Recording, *, count: Callable[[str], int]
    ) -> None:
        self._sessions = sessions
        self._recording = recording
        self._count = count

    def call(self, place: Place, asked: FilterArguments) -> Answer | Write:
        session = place.session
        assert session is not None, "a tool of the working memory is called with one"
        state = self._sessions.standing(place.scope, session).state
        narrowed = self._narrowed(state, asked)
        if narrowed is None:
            return Answer(
                "Nothing here has to do with that: nothing was set aside.", {"operation": "NOOP"}
            )
        kept = [turn_text(turn) for turn in state.turns if turn.seq not in narrowed.hides]
        kept += [candidate_text(c) for c in state.candidates if c.name not in narrowed.drops]

        def write(tx: Writer) -> Answer:
            size = len(asked.query.encode()) + 12 * (len(narrowed.hides) + len(narrowed.drops))
            done = self._recording.append(
                tx, place.scope, session, Beginning(None), [NewEvent(narrowed, size=size)]
            )
            return Answer(
                content="\n".join(kept),
                data={
                    "operation": "FILTER",
                    "hidden": len(narrowed.hides),
                    "dropped": len(narrowed.drops),
                    "seq": done.seqs[0],
                },
            )

        return write

    def _narrowed(self, state: State, asked: FilterArguments) -> Filtering | None:
        """What is to be set aside; None where nothing bears on the question."""
        turns, pool = state.turns, state.candidates
        texts = [*map(turn_text, turns), *map(candidate_text, pool)]
        near = bearing(texts, asked.query)
        if not near:
            return None
        latest = list(range(len(turns)))[-LATEST:]
        kept: set[int] = set()
        left = asked.budget_tokens
        for place in dict.fromkeys([*reversed(latest), *near]):
            tokens = self._count(texts[place] + "\n")
            if tokens > left:
                continue
            kept.add(place)
            left -= tokens
        return Filtering(
            query=asked.query,
            hides=tuple(turn.seq for n, turn in enumerate(turns) if n not in kept),
            drops=tuple(c.name for n, c in enumerate(pool, len(turns)) if n not in kept),
        )
