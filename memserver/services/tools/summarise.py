"""`memory_summarise`: few words in place of the turns so far."""

from typing import Annotated, ClassVar

from pydantic import Field

from memserver.domain.ports import Writer
from memserver.domain.sessions.events import Message, SummaryNote
from memserver.domain.sessions.state import State
from memserver.services.sessions.reading import Sessions
from memserver.services.sessions.recording import Beginning, NewEvent, Recording
from memserver.services.sessions.summing_up import SummingUp
from memserver.services.tools.tool import Answer, Arguments, Place, Write

BEFORE = "before"


class SummariseArguments(Arguments):
    budget_tokens: Annotated[
        int, Field(ge=20, le=5_000, description="How long the summary may be, in tokens.")
    ] = 200


class SummariseTool:
    name: ClassVar[str] = "memory_summarise"
    description: ClassVar[str] = (
        "Make room in this conversation: the turns so far are replaced by a summary of them. "
        "Nothing is lost; the turns stay in the record."
    )
    arguments: ClassVar[type[Arguments]] = SummariseArguments
    in_session: ClassVar[bool] = True

    def __init__(self, sessions: Sessions, recording: Recording, summing_up: SummingUp) -> None:
        self._sessions = sessions
        self._recording = recording
        self._summing_up = summing_up

    def call(self, place: Place, asked: SummariseArguments) -> Answer | Write:
        session = place.session
        assert session is not None, "a tool of the working memory is called with one"
        state = self._sessions.standing(place.scope, session).state
        summed = self._summing_up.summed(
            place.scope.tenant, _of_turns(state), _said(state), budget=asked.budget_tokens
        )
        if summed is None:
            return Answer("There is nothing to sum up yet.", {"operation": "NOOP"})
        note = SummaryNote(summed.text, through=state.last)

        def write(tx: Writer) -> Answer:
            done = self._recording.append(
                tx,
                place.scope,
                session,
                Beginning(None),
                [NewEvent(note, size=len(note.text.encode()))],
            )
            return Answer(
                content=summed.text,
                data={
                    "operation": "SUMMARY",
                    "through": note.through,
                    "seq": done.seqs[0],
                    "worded_by": summed.by,
                },
            )

        return write


def _of_turns(state: State) -> State:
    """The turns alone: the rest of the state stays, and needs no summary."""
    return State(turns=state.turns, summary=state.summary, last=state.last)


def _said(state: State) -> list[Message]:
    before = [] if state.summary is None else [Message(BEFORE, state.summary.text)]
    return before + [turn.said for turn in state.turns if isinstance(turn.said, Message)]
