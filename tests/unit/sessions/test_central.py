"""Sentences are ranked by what the others are about, and by what bears on a question."""

from memserver.services.sessions.central import bearing, central

TALK = [
    "The oven must be repaired before the bakery opens.",
    "Good morning.",
    "The bakery cannot open while the oven is broken.",
    "My cousin plays chess.",
    "A technician will repair the oven on Tuesday.",
]


def test_what_others_resemble_comes_before_what_none_does() -> None:
    ranked = central(TALK)
    assert set(ranked[:3]) == {0, 2, 4}


def test_the_same_sentence_is_not_chosen_twice() -> None:
    assert len(central([TALK[0], TALK[0], TALK[3]])) == 2


def test_what_has_no_words_of_content_is_not_chosen() -> None:
    assert central(["Is it?", "…", ""]) == []
    assert central([]) == []


def test_what_bears_on_a_question_is_found_by_its_words() -> None:
    assert bearing(TALK, "who repairs ovens?")[:2] in ([0, 4], [4, 0])
    assert 3 not in bearing(TALK, "who repairs ovens?")
    assert bearing(TALK, "what about zebras?") == []
    assert bearing([], "ovens") == []
