"""What is dropped, and above all what is not."""

import pytest

from memserver.services.writing.small_talk import is_rubbish, is_small_talk
from memserver.services.writing.understood import Known


@pytest.mark.parametrize(
    "text",
    [
        "Thanks!",
        "Let me think about that.",
        "OK, I see.",
        "Have a nice weekend!",
        "Haha 😀",
        "Hmm.",
    ],
)
def test_pleasantries_are_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "Thanks, Ana.",
        "I live here with 2 cats.",
        "The key is under the mat.",
        "Paris",
        "42",
        "I work nights.",
        "我住在这里",
        "No gluten please.",
    ],
)
def test_a_name_a_number_or_a_word_of_its_own_is_worth_keeping(text: str) -> None:
    assert not is_small_talk(text)


def test_a_known_entity_is_worth_keeping() -> None:
    assert is_small_talk("sweet")
    assert not is_small_talk("sweet", Known.of(["Sweet"]))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        "?!…",
        "🎉🎉",
        "aaaaaaaaaa",
        "lalalalala",
        "SGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQ=",
        "asdfghjkl qwrtpsdf",
    ],
)
def test_what_says_nothing_is_rubbish(text: str) -> None:
    assert is_rubbish(text)
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "1000000",
        "3f2a9c1e-1111-4222-8333-444455556666",
        "/home/user/projects/memserver/services",
        "https://example.com/a/b/c",
        "The token is aGVsbG8gd29ybGQhIHRoaXMgaXMgbm90.",
        "rhythm",
    ],
)
def test_what_could_be_of_use_is_no_rubbish(text: str) -> None:
    assert not is_rubbish(text)
