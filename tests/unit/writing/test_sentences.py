"""Where a sentence ends, and where a full stop ends none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver.services.writing.sentences import sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Ng saw Mr. O'Hara.", ["Dr. Ng saw Mr. O'Hara."]),
        ("Take 3.5 mg. Then rest.", ["Take 3.5 mg.", "Then rest."]),
        ("J. Smith called. I left.", ["J. Smith called.", "I left."]),
        ("Dara I. Bob's mood is fine. Good.", ["Dara I. Bob's mood is fine.", "Good."]),
        ("I. Newton called.", ["I. Newton called."]),
        ("So did I. Bob left.", ["So did I.", "Bob left."]),
        ("She is older than I. bob left.", ["She is older than I.", "bob left."]),
        ("Use e.g. tea. Or milk.", ["Use e.g. tea.", "Or milk."]),
        ("At 5 p.m. we met. Later not.", ["At 5 p.m. we met.", "Later not."]),
        ("It ended at 5 p.m. Ana left.", ["It ended at 5 p.m.", "Ana left."]),
        ("See example.com. It works.", ["See example.com.", "It works."]),
        ("她的办公室是B12。今天很好！", ["她的办公室是B12。", "今天很好！"]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("First line\nsecond line", ["First line", "second line"]),
        ("ok. her office is b12", ["ok.", "her office is b12"]),
        ("Well... yes.", ["Well...", "yes."]),
        ("  ", []),
    ],
)
def test_sentences_end_where_people_end_them(text: str, parts: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == parts


@given(st.text(max_size=200))
def test_nothing_but_white_space_is_lost_and_spans_are_true(text: str) -> None:
    found = sentences(text)
    assert "".join("".join(one.text.split()) for one in found) == "".join(text.split())
    assert all(text[one.span.start : one.span.end] == one.text for one in found)
