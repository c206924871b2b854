"""Every text of a value is looked at, and a name says more of what stands under it."""

from typing import Any

import pytest

from memserver.services.privacy.walking import Walk


def hidden(value: Any) -> Any:
    walk = Walk(str.upper, lambda name, text: "***" if name == "password" else text.upper())
    return walk(value)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"password": "hunter2"}, {"PASSWORD": "***"}),
        ({"password": ["hunter2", "swordfish"]}, {"PASSWORD": ["***", "***"]}),
        ({"password": [["hunter2"], 7]}, {"PASSWORD": [["***"], 7]}),
        ({"password": {"hint": "a fish"}}, {"PASSWORD": {"HINT": "A FISH"}}),
        ({"login": {"password": ["x"]}}, {"LOGIN": {"PASSWORD": ["***"]}}),
        ({"note": ["a", 1, None]}, {"NOTE": ["A", 1, None]}),
    ],
)
def test_what_stands_under_a_name_is_read_by_it(value: Any, wanted: Any) -> None:
    assert hidden(value) == wanted


def test_a_value_without_texts_is_the_very_same() -> None:
    value = {"password": [1, 2], "n": 3.5}
    walk = Walk(lambda text: text, lambda name, text: text)
    assert walk(value) is value
