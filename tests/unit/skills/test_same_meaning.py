"""Whether another wording still says the same, as far as that can be read off it."""

import pytest

from memserver_skills.same_meaning import faults, things_of
from tests.unit.skills.runs import HEATS

THINGS = things_of(HEATS)


def rule(text: str, *, title: str = "Heat first", when: str = "") -> dict[str, str]:
    return {"title": title, "when": when, "text": text}


BEFORE = rule("Heat {object} with microwave 2 before you go to {place}. Do not sing to Ann.")


@pytest.mark.parametrize(
    "text",
    [
        "Heat {object} with microwave 2 before going to {place}. Never sing to Ann.",
        "Before you go to {place}, heat the {object} with microwave 2; do not sing to Ann.",
    ],
)
def test_another_wording_passes(text: str) -> None:
    assert faults(BEFORE, rule(text), things=THINGS) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Heat it with microwave 2 before going to {place}. Never sing to Ann.", "{object}"),
        ("Heat {object} with microwave 3 before {place}. Never sing to Ann.", "lost: 2"),
        ("Heat {object} with microwave 2 before going to {place}. Never sing to him.", "ann"),
        (
            "Heat {object} with oven 2 before you go to {place}. Do not sing to Ann.",
            "lost: microwav",
        ),
        ("Heat {object} with microwave 2 before you go to {place}. Sing to Ann.", "denies"),
        (
            "Do not heat {object} with microwave 2 before you go to {place}. Sing to Ann.",
            "no longer denied: sing",
        ),
        (
            "Do not heat {object} with microwave 2 before {place}. Do not sing to Ann.",
            "denied now: heat",
        ),
        ("{object} microwave 2 {place} not sing Ann cabinet", "made up: cabinet"),
        ("", "empty"),
    ],
)
def test_what_names_counts_or_denies_otherwise_is_refused(text: str, what: str) -> None:
    found = faults(BEFORE, rule(text), things=THINGS)

    assert what in "; ".join(map(str, found))


def test_a_text_that_goes_on_about_something_else_is_refused() -> None:
    long = BEFORE["text"] + " Kitchens are lovely places where families gather, chat, laugh daily."

    [found] = faults(BEFORE, rule(long), things=THINGS)

    assert found.what == "it says too much that was not said"


def test_an_empty_field_stays_empty() -> None:
    [found] = faults(BEFORE, rule(BEFORE["text"], when="always"), things=THINGS)

    assert str(found) == "when: it was empty"


def test_an_action_has_to_be_all_there_and_a_title_may_say_less() -> None:
    before = {"title": "Take {object} now", "do": "take {object} slowly", "avoid": "singing"}

    assert (
        faults(before, {"title": "Take", "do": "Slowly take the {object}", "avoid": "singing"})
        == []
    )
    [found] = faults(before, {"title": "Take", "do": "take {object}", "avoid": "singing"})
    assert found.what == "lost: slow"
