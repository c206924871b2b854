"""What is indexed of a turn beside its words."""

from dataclasses import dataclass
from datetime import UTC, datetime

from memserver.services.writing.turns import turn_contexts, turn_title


@dataclass(frozen=True)
class Said:
    speaker: str
    text: str
    at: datetime | None = None


JUNE = datetime(2026, 6, 9, 12, tzinfo=UTC)
TALK = [
    Said("Ada", "Did you get the cello?", JUNE),
    Said("Ben", "Yes!", JUNE),
    Said("Ada", "From whom?", JUNE),
    Said("Ben", "From my aunt.", JUNE),
    Said("Ada", "How kind.", JUNE),
]


def test_a_title_says_who_spoke_and_on_which_day() -> None:
    assert turn_title("Ada", JUNE) == "Ada, 9 June 2026"
    assert turn_title("user", None) == "user"


def test_a_context_holds_two_messages_before_and_one_after() -> None:
    assert turn_contexts(TALK)[3] == "\n".join(
        ["9 June 2026", "Ben: Yes!", "Ada: From whom?", "Ben: From my aunt.", "Ada: How kind."]
    )


def test_a_conversation_has_nothing_before_it_and_nothing_after() -> None:
    first, *_, last = turn_contexts(TALK)

    assert first == "9 June 2026\nAda: Did you get the cello?\nBen: Yes!"
    assert last == "9 June 2026\nAda: From whom?\nBen: From my aunt.\nAda: How kind."


def test_a_message_of_unknown_time_has_no_day() -> None:
    assert turn_contexts([Said("user", "Hello")]) == ["user: Hello"]


def test_no_message_has_no_context() -> None:
    assert turn_contexts([]) == []
