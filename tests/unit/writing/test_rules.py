"""What the rules do with each sort of candidate, and what they let nobody overrule."""

from datetime import timedelta
from uuid import uuid4

import pytest

from memserver.domain.items import Status, Turn
from memserver.domain.policy.write_features import Operation
from memserver.services.writing.candidates import Candidate, Neighbour, Ruling
from memserver.services.writing.rules import rule
from tests.unit.writing.told import NOW, a_fact, a_text, neighbour_of

B12 = a_fact("Ana", "office", "B12")


def decided(ruling: Ruling) -> tuple[str, str, bool]:
    return ruling.choice.operation.value, ruling.reason, ruling.binds


@pytest.mark.parametrize(
    ("candidate", "known", "wanted"),
    [
        (B12, [], ("ADD", "new", False)),
        (B12, [neighbour_of(B12)], ("NOOP", "restated", True)),
        (a_fact("ANA", " Office", "b12."), [neighbour_of(B12)], ("NOOP", "restated", True)),
        (a_fact("ana", "office", "C14"), [neighbour_of(B12)], ("UPDATE", "new value", False)),
        (
            a_fact("Ana", "office", "C14", at=NOW - timedelta(days=9)),
            [neighbour_of(B12)],
            ("UPDATE", "earlier value", False),
        ),
        (B12, [neighbour_of(B12, live=False)], ("UPDATE", "holds again", False)),
        (B12, [neighbour_of(B12, status=Status.DELETED)], ("ADD", "new", False)),
        (a_fact("Ana", "phone", "555"), [neighbour_of(B12)], ("ADD", "new", False)),
        (a_fact("Bo", "office", "B12"), [neighbour_of(B12)], ("ADD", "new", False)),
    ],
)
def test_a_fact_goes_by_its_entity_key_and_value(
    candidate: Candidate, known: list[Neighbour], wanted: tuple[str, str, bool]
) -> None:
    assert decided(rule(candidate, known)) == wanted


@pytest.mark.parametrize(
    ("value", "known", "wanted"),
    [
        ("", [neighbour_of(B12)], ("DELETE", "retracted", True)),
        ("b12", [neighbour_of(B12)], ("DELETE", "retracted", True)),
        ("C14", [neighbour_of(B12)], ("NOOP", "another value holds", True)),
        ("", [neighbour_of(B12, live=False)], ("NOOP", "nothing to retract", True)),
        ("", [neighbour_of(a_fact("Bo", "office", "B12"))], ("NOOP", "nothing to retract", True)),
        ("", [], ("NOOP", "nothing to retract", True)),
    ],
)
def test_a_retraction_ends_what_it_names_and_nothing_else(
    value: str, known: list[Neighbour], wanted: tuple[str, str, bool]
) -> None:
    assert decided(rule(a_fact("ana", "office", value, retracts=True), known)) == wanted


def test_only_a_retraction_may_delete_whatever_is_admitted() -> None:
    for candidate in (B12, a_fact("Ana", "office", "C14"), a_text("Ana has a new office.")):
        for known in (B12, a_fact("Ana", "desk", "B12"), a_text("Ana has an office.")):
            for cosine in (0.0, 0.8, 1.0):
                ruling = rule(candidate, [neighbour_of(known, cosine=cosine)])
                assert all(one.operation is not Operation.DELETE for one in ruling.admitted)


def test_what_was_said_again_can_neither_be_updated_nor_dropped() -> None:
    for said in (B12, a_text("The kettle leaks.")):
        ruling = rule(said, [neighbour_of(said, cosine=1.0)])
        assert decided(ruling) == ("NOOP", "restated", True)
        assert ruling.choice.target is not None, "so that it counts as said again"


KEY = "The spare key of the boat house hangs behind the green door in the kitchen."


@pytest.mark.parametrize(
    ("text", "cosine", "wanted"),
    [
        ("A spare key of the boat house hangs behind the green door in the kitchen.", 0.97, "NOOP"),
        ("A spare key of the boat house hangs behind the green door in the kitchen.", 0.6, "ADD"),
        ("The spare key of the boat house hangs behind the red door in the kitchen.", 0.99, "ADD"),
        ("The 2 spare keys of the boat house hang behind the green door in it.", 0.99, "ADD"),
        ("Key, door, kitchen.", 0.95, "ADD"),
    ],
)
def test_a_near_duplicate_is_one_by_its_vector_and_by_its_words(
    text: str, cosine: float, wanted: str
) -> None:
    ruling = rule(a_text(text), [neighbour_of(a_text(KEY), cosine=cosine)])

    assert ruling.choice.operation.value == wanted


def test_a_text_may_replace_only_what_differs_in_no_name_number_or_not_and_is_no_turn() -> None:
    new = a_text("The lift in the hall is slow and loud.")
    like, turn = (
        neighbour_of(a_text("The lift in the hall is loud."), cosine=0.9, turn=place)
        for place in (None, Turn(uuid4(), 0, "Ana"))
    )
    unlike = neighbour_of(a_text("The lift in Bergen is loud."), cosine=0.9)

    options = [
        (one.operation.value, one.target) for one in rule(new, [like, turn, unlike]).admitted
    ]

    assert options == [
        ("ADD", None),
        ("NOOP", None),
        ("UPDATE", like),
        ("NOOP", like),
        ("NOOP", turn),
    ]


def test_what_is_refused_is_refused_whatever_is_known() -> None:
    said = a_text("thanks a lot!", refused="small talk")

    assert decided(rule(said, [neighbour_of(said, cosine=1.0)])) == ("NOOP", "small talk", True)
