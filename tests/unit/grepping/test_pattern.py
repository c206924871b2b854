"""Patterns find what they say, and none takes more than its share of time."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memserver.domain.errors import InvalidPattern
from memserver.services.grepping.pattern import OVERLAP, SEARCHED, WINDOW, Found, Matcher, Pattern

CATASTROPHIC = [
    r"(a+)+$",
    r"(x+x+)+y",
    r"(a|aa)+b",
    r"(.*){400}z",
    r"(a?){300}a{300}b",
    r"(.*a){30}c",
    r"([a-z]+)*\d",
]


@pytest.mark.parametrize("text", CATASTROPHIC)
def test_a_pattern_that_others_choke_on_ends_at_once(text: str) -> None:
    matcher = Matcher(Pattern(text))
    began = time.perf_counter()

    matcher.find("a" * WINDOW)
    matcher.may_occur("x" * WINDOW)

    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    "text", ["[", "(", "*", r"(a)\1", "(?=a)", "(?<!a)b", r"\p{Nope}", "a{2000}", r"(\pL{50}){20}"]
)
def test_what_cannot_be_searched_for_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(InvalidPattern) as refused:
        Matcher(Pattern(text))

    assert len(str(refused.value)) > len("The pattern cannot be searched for: .")


def test_a_literal_takes_every_character_for_itself() -> None:
    assert Matcher(Pattern("a.b[", literal=True)).find("xa.b[c") == Found(1, 5)
    assert Matcher(Pattern("a.b", literal=True)).find("axb") is None
    assert Matcher(Pattern("ERR-é", literal=True, ignore_case=True)).find("err-É") == Found(0, 5)


def test_places_are_counted_in_characters_whatever_their_width() -> None:
    assert Matcher(Pattern("首都")).find("東京は日本の首都です") == Found(6, 8)
    assert Matcher(Pattern("😀b")).find("a😀b") == Found(1, 3)
    assert Matcher(Pattern("e\u0301")).find("cafe\u0301") == Found(3, 5)


@pytest.mark.parametrize("start", [0, WINDOW - 10, WINDOW, 2 * WINDOW - 5, SEARCHED - 5 * OVERLAP])
def test_a_match_in_a_very_long_line_is_found_wherever_it_lies(start: int) -> None:
    line = "x" * start + "needle" + "x" * (SEARCHED - start)

    assert Matcher(Pattern("needle")).find(line) == Found(start, start + 6)


def test_the_edges_of_a_window_are_no_edges_of_the_line() -> None:
    line = "ab" * WINDOW

    assert Matcher(Pattern("^b")).find(line) is None
    assert Matcher(Pattern("a$")).find(line) is None
    assert Matcher(Pattern(r"\bb")).find(line) is None
    assert Matcher(Pattern("b$")).find(line) == Found(len(line) - 1, len(line))
    assert OVERLAP < WINDOW


pieces = st.sampled_from(["a", "b", ".", "^", "$", r"\b", r"\B", "(?i:B)", "[^a]", "a*", "(a|b)"])


@settings(max_examples=300)
@given(
    text=st.lists(pieces, min_size=1, max_size=5).map("".join),
    lines=st.lists(st.text("abAB .", min_size=1, max_size=6), min_size=1, max_size=4),
)
def test_a_text_is_never_passed_over_that_holds_a_matching_line(
    text: str, lines: list[str]
) -> None:
    matcher = Matcher(Pattern(text))
    found = [matcher.find(line) is not None for line in lines]

    assert found == [re.search(text, line) is not None for line in lines]
    if any(found):
        assert matcher.may_occur("\n".join(lines))


@pytest.mark.parametrize("text", [r"\Ab", r"a\z", r"(?-m)^b", r"(?i-m:^B)"])
def test_patterns_that_speak_of_the_whole_text_mean_the_line(text: str) -> None:
    matcher = Matcher(Pattern(text))
    lines = ["aa", "b", "aa"]

    assert any(matcher.find(line) for line in lines)
    assert matcher.may_occur("\n".join(lines))
