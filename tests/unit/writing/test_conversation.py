"""Which messages of a conversation are stored already."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from memserver.domain.items import Entry, Kind, TextBody, Turn
from memserver.services.writing.conversation import stored_before
from memserver.services.writing.telling import Message
from tests.unit.writing.told import NOW, an_entry

SESSION = uuid4()


def stored(texts: str) -> list[Entry]:
    """One turn a letter, A by Ana and b by Bo."""
    return [
        an_entry(Kind.NOTE, who, TextBody(text), turn=Turn(SESSION, number, who))
        for number, text in enumerate(texts)
        for who in ["Ana" if text.isupper() else "Bo"]
    ]


def sent(texts: str, *, at: datetime | None = None) -> list[Message]:
    return [Message("Ana" if text.isupper() else "Bo", text, at) for text in texts]


@pytest.mark.parametrize(
    ("there", "new", "known"),
    [
        ("", "AbC", 0),
        ("AbC", "AbC", 3),
        ("AbC", "AbCdE", 3),
        ("AbC", "CdE", 1),
        ("AbCdE", "bC", 2),
        ("AbCdE", "bCx", 0),
        ("AbCdE", "b", 0),
        ("AbCdE", "E", 1),
        ("AbAbA", "AbAbAb", 5),
        ("AbC", "AxC", 0),
    ],
)
def test_what_ends_a_session_or_stands_in_it_as_a_whole_is_stored(
    there: str, new: str, known: int
) -> None:
    assert stored_before(stored(there), sent(new)) == known


def test_a_dated_message_is_the_same_only_at_its_time() -> None:
    since = stored("AbC")[1].version.valid_from

    assert stored_before(stored("AbC"), sent("b", at=since)) == 1
    assert stored_before(stored("AbC"), sent("C", at=NOW)) == 0
    assert stored_before(stored("AbC"), sent("AbC", at=datetime(2020, 1, 1, tzinfo=UTC))) == 0


def test_the_same_words_of_another_speaker_are_another_message() -> None:
    assert stored_before(stored("A"), [Message("Bo", "A")]) == 0
