"""When a text says nothing that another one does not."""

import pytest

from memserver.services.writing.likeness import (
    differences,
    normal_text,
    says_no_more,
    words_of,
)

KNOWN = "The spare key of the boat house hangs behind the green door in the kitchen."


def no_more(new: str, known: str = KNOWN) -> bool:
    return says_no_more(words_of(new), words_of(known))


@pytest.mark.parametrize(
    "new",
    [
        KNOWN,
        "the spare key of the boat house hangs behind the green door in the kitchen",
        "A spare key of the boat house is hanging behind the green door in the kitchen!",
        "The spare key of the boat house hangs behind the green door.",
    ],
)
def test_other_small_words_endings_and_less_detail_say_no_more(new):
    assert no_more(new)


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("Ann Smith lives at the mill.", "Anna Smith lives at the mill."),
        ("The train goes from Oslo to Bergen.", "The train goes from Bergen to Oslo."),
        ("The train goes to Oslo from Bergen.", "The train goes from Oslo to Bergen."),
        ("Bob told Alice about the leak.", "Alice told Bob about the leak."),
        ("The tank holds 120 litres.", "The tank holds 12 litres."),
        ("The meeting is on the third floor.", "The meeting is on the fourth floor."),
        ("Ann may enter the vault.", "Ann may not enter the vault."),
        ("Ann may not enter the vault.", "Ann may enter the vault."),
        ("The valve isn't open.", "The valve is open."),
        ("Use build v1.2.3 there.", "Use build v1.2.4 there."),
        ("Ann likes tea and coffee.", "Ann likes tea."),
        ("Turn the tap left.", "Turn the tap right."),
        ("the file is report_a.txt", "the file is report_b.txt"),
        ("", "Ann likes tea."),
    ],
)
def test_a_name_a_number_a_negation_an_order_or_one_word_more_says_something_else(new, known):
    assert not no_more(new, known)


def test_each_kind_of_difference_is_told_apart():
    def found(left: str, right: str) -> tuple[bool, bool, bool]:
        told = differences(words_of(left), words_of(right))
        return told.names, told.numbers, told.negations

    assert found("Call Ann at noon.", "Call Bob at noon.") == (True, False, False)
    assert found("Call at 10.", "Call at 11.") == (False, True, False)
    assert found("Call at noon.", "Never call at noon.") == (False, False, True)
    assert found("The Kettle is loud.", "A kettle is loud.") == (False, False, False)


def test_case_space_and_composition_do_not_make_another_text():
    assert normal_text("Café  opens\nat ten.") == normal_text("CAFÉ opens at ten")
    assert normal_text("Café opens") != normal_text("Cafe opens")
    assert normal_text("\u200bCafé op\u00adens\u202c") == normal_text("Café opens")
