"""Which facts a question names: runs of its words, with the punctuation that belongs to names."""

from collections.abc import Sequence
from uuid import uuid4

import pytest

from memserver.domain.ports.arms import Linked
from memserver.services.retrieval.arms import Said


def linked(entity: str, key: str = "office") -> Linked:
    return Linked(uuid4(), uuid4(), entity, key)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is Ana's office?", "ana"),
        ("What is Ana B. Chen’s office?", "ana b. chen"),
        ("What is Ana B Chen's office?", "ana b chen"),
        ('Where does "St. John\'s Lab" stand?', "st. john's lab"),
        ("Does (Ana Chen) still sit there?", "ana chen"),
    ],
)
def test_a_name_is_found_with_the_punctuation_inside_of_it_and_without_that_around_it(
    question: str, name: str
) -> None:
    assert name in Said.of(question).names()


@pytest.mark.parametrize(
    ("key", "named"),
    [("office", True), ("office_floor", False), ("off", False), ("is ana", False)],
)
def test_a_key_is_named_where_all_its_words_stand_in_a_row(key: str, named: bool) -> None:
    assert Said.of("What is Ana's office?").names_key(linked("ana", key)) is named


def test_a_key_written_with_underscores_is_named_by_its_words() -> None:
    assert Said.of("What is the favourite colour of Ana?").names_key(
        linked("ana", "favourite_colour")
    )


def test_the_longest_name_goes_first_and_the_order_stays_otherwise() -> None:
    facts: Sequence[Linked] = [linked("ana"), linked("chen"), linked("ana b. chen")]

    ordered = Said.of("Ana B. Chen").longest_names_first(facts)

    assert ordered == [facts[2], facts[0], facts[1]]
