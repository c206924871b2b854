"""What came back is told from what is said."""

from uuid import uuid4

from memserver.domain.items import FactBody, HintBody, Kind, TextBody
from memserver.services.writing.recalled import Handed, renders, renders_fact, sift
from tests.unit.writing.told import an_entry

MINE, OTHER = uuid4(), uuid4()


def test_what_a_key_was_handed_is_known_to_that_key_alone_in_any_spacing() -> None:
    handed = Handed()
    handed.note(MINE, ["Ana · office\nAna · office: B12", ""])

    assert handed.knows(MINE, "  Ana · office Ana · office: B12. ")
    assert not handed.knows(OTHER, "Ana · office\nAna · office: B12")
    assert not handed.knows(MINE, "")


def test_of_what_was_handed_out_the_oldest_is_forgotten_first() -> None:
    handed = Handed(kept=2)
    for text in ("one", "two", "one", "three"):
        handed.note(MINE, [text])

    assert [handed.knows(MINE, text) for text in ("one", "two", "three")] == [True, False, True]


def test_recalled_paragraphs_are_dropped_and_the_others_kept_in_order() -> None:
    known = {"a", "b\n\nc"}
    sifted = sift("x\n\na\n\ny\n\nb\n\nc\n\nz", known.__contains__)

    assert (sifted.rest, sifted.recalled) == ("x\n\ny\n\nz", 3)
    assert sift("a", known.__contains__).rest == ""
    untouched = "x \n\n y"
    assert sift(untouched, known.__contains__) == type(sifted)(untouched, 0)


def test_a_text_of_very_many_paragraphs_is_looked_at_as_a_whole() -> None:
    text = "\n\n".join(["a"] * 1_000)

    assert sift(text, {"a"}.__contains__).rest == text
    assert sift(text, {text}.__contains__).rest == ""


def test_a_note_said_again_is_said_and_an_item_in_the_servers_words_came_back() -> None:
    note = an_entry(Kind.NOTE, "The kettle leaks.", TextBody("The kettle leaks."))
    hint = an_entry(Kind.HINT, "pot", HintBody(when="it is hot", do="wait"))

    assert not renders("The kettle leaks", note, part=False)
    assert renders("The kettle leaks", note, part=True)
    assert renders("pot\nWhen: it is hot\nDo: wait", hint, part=False)
    assert not renders("pot\nDo: wait", hint, part=True)


def test_a_facts_own_line_came_back_and_another_value_did_not() -> None:
    fact = an_entry(Kind.FACT, "Ana · office", FactBody("Ana", "office", "B12"))

    assert renders_fact("ana · office: B12", FactBody("ana", "office", "B12"), fact)
    assert not renders_fact("Ana · office: C14", FactBody("Ana", "office", "C14"), fact)
