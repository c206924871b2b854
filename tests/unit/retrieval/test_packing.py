"""Packing: what fits is handed out whole, and what comes alone is cut where that hurts least."""

from memserver.services.retrieval.packing import pack
from memserver.services.retrieval.query import Candidate, Packed
from tests.unit.retrieval.made import candidate


def words(text: str) -> int:
    return len(text.split())


def packed(*candidates: Candidate, budget: int) -> list[Packed]:
    return list(
        pack(
            [(one, 1.0) for one in candidates],
            k=10,
            budget_tokens=budget,
            count=words,
            length=lambda one: words(one.text),
            around={},
        )
    )


def test_what_fits_is_handed_out_whole() -> None:
    skill = candidate(1, "1. go → you went\n2. take → you took", brief="1. go\n2. take")

    [given] = packed(skill, budget=10)

    assert (given.text, given.truncated) == (skill.text, False)


def test_what_does_not_fit_loses_its_details_before_its_steps() -> None:
    skill = candidate(1, "1. go → you went\n2. take → you took", brief="1. go\n2. take")

    [given] = packed(skill, budget=5)

    assert (given.text, given.tokens, given.truncated) == ("1. go\n2. take", 4, True)


def test_what_is_too_long_even_then_is_cut_at_a_line() -> None:
    skill = candidate(1, "1. go → you went\n2. take → you took", brief="1. go\n2. take")

    [given] = packed(skill, budget=3)

    assert (given.text, given.truncated) == ("1. go", True)


def test_only_the_first_is_ever_cut() -> None:
    first, second = candidate(1, "one two"), candidate(2, "a b c d", brief="a b")

    assert [one.text for one in packed(first, second, budget=4)] == ["one two"]
