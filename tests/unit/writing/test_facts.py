"""What sentences state and take back, and what they do not: rules of English, one test a rule."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memserver.services.writing.facts import Known, Understood, facts_in

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)  # a Monday
Said = list[tuple[str, str, str]]


def read(text: str, *, speaker: str | None = None, known: Known | None = None) -> Understood:
    return facts_in(text, at=AT, zone=UTC, speaker=speaker, known=known)


def stated(text: str, *, speaker: str | None = None, known: Known | None = None) -> Said:
    found = read(text, speaker=speaker, known=known)
    return [(fact.entity, fact.key, fact.value) for fact in found.facts]


def ended(text: str, *, known: Known | None = None) -> list[tuple[str, str, str | None]]:
    return [(one.entity, one.key, one.value) for one in read(text, known=known).retractions]


@pytest.mark.parametrize(
    "text",
    [
        "Ana's office is B12.",
        "Ana’s office is B12",
        "The office of Ana is B12.",
        "B12 is Ana's office.",
        "Ana has B12 as her office.",
        "For Ana, the office is B12.",
        "Ana → office → B12",
        'Ana\'s office is "B12".',
        "Ana's office was set to B12.",
        "Please note: the office of Ana is B12.",
        "Could you note down that Ana's office is B12?",
        "Ana told me that her office is B12.",
    ],
)
def test_one_fact_in_many_orders_of_words(text: str) -> None:
    assert stated(text) == [("Ana", "office", "B12")]
    assert read(text).rest == ""


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Dr. Mei Ng's blood type is O negative.", ("Dr. Mei Ng", "blood type", "O negative")),
        ("The date of birth of Ana is 3 May 1990.", ("Ana", "date of birth", "3 May 1990")),
        ("Ana's dosage is 3.5 mg.", ("Ana", "dosage", "3.5 mg")),
        ("James' office is C4.", ("James", "office", "C4")),
        ("Zoë's hometown is 上海.", ("Zoë", "hometown", "上海")),
        (
            "Server db-01's owner is the platform team.",
            ("Server db-01", "owner", "the platform team"),
        ),
        ("The printer's location is the hall.", ("The printer", "location", "the hall")),
        ("Ana's dog's name is Rex.", ("Ana", "dog's name", "Rex")),
        ("Ana's snack is salt and vinegar crisps.", ("Ana", "snack", "salt and vinegar crisps")),
        ("ana's office is b12", ("ana", "office", "b12")),
    ],
)
def test_names_keys_and_values_keep_their_words(text: str, fact: tuple[str, str, str]) -> None:
    assert stated(text) == [fact]


@pytest.mark.parametrize(
    "text",
    [
        "Ana's office is now C3.",
        "Ana's office has changed from B12 to C3.",
        "Correction: Ana's office is C3.",
        "Set Ana's office to C3.",
        "Ana has moved her office to C3.",
        "Ana's office is C3, not B12.",
        "Ana's office is not B12 but C3.",
        "Forget Ana's old office, it is C3 now.",
        "C3 replaces Ana's previous office.",
        "Ana's new office is C3.",
    ],
)
def test_a_change_is_called_one(text: str) -> None:
    assert stated(text) == [("Ana", "office", "C3")]
    assert read(text).facts[0].correction
    assert not read(text).retractions


def test_a_plain_statement_is_no_correction() -> None:
    assert not read("Ana's office is B12.").facts[0].correction


@pytest.mark.parametrize(
    "text",
    [
        "Forget Ana's office.",
        "Forget the office of Ana, it no longer applies.",
        "Ana no longer has an office.",
        "Ana's office no longer applies.",
        "Ana's office is void.",
        "Ana's office has been cancelled.",
        "There's no office for Ana any more.",
        "Disregard what I said about Ana's office.",
    ],
)
def test_a_retraction_names_the_fact_that_ended(text: str) -> None:
    assert ended(text) == [("Ana", "office", None)]
    assert not stated(text)


def test_where_one_value_is_said_to_have_ended_no_other_is_meant() -> None:
    assert ended("Ana's office is no longer B12.") == [("Ana", "office", "B12")]
    assert ended("Ana no longer lives in Berlin.") == [("Ana", "home", "Berlin")]


def test_that_there_is_none_ends_something_only_where_there_was_something() -> None:
    assert not ended("Ana has no allergy.")
    assert ended("Ana has no allergy.", known=Known.of(["Ana"], ["allergy"]))


@pytest.mark.parametrize(
    "text",
    [
        "Is Ana's office B12?",
        "If Ana's office is B12, call me.",
        "Ana's office is not B12.",
        "Ana's office isn't B12.",
        "Ana's office might be B12.",
        "I think Ana's office is B12.",
        "Ana's office is B12, I think.",
        "I don't know whether Ana's office is B12.",
        "Ana's office used to be B12.",
        "Ana's old office is B12.",
        "It is not true that Ana's office is B12.",
        "Don't forget Ana's office.",
        "It's raining.",
        "That's a good point.",
        "The end of the day is near.",
        "Bob's coming tomorrow.",
        "Sounds like fun!",
        "Yesterday's lunch is gone.",
        "Wow, Caroline, that painting is awesome!",
        "Our deadline is 3 May.",
    ],
)
def test_what_is_asked_doubted_denied_or_said_in_passing_stays_in_the_rest(text: str) -> None:
    assert read(text, speaker="Mia") == Understood(rest=text)


def test_several_facts_in_one_text_and_her_means_who_was_named() -> None:
    assert stated("Ana's office is B12 and her desk is 4. Her locker is 9; Bob's is 10.") == [
        ("Ana", "office", "B12"),
        ("Ana", "desk", "4"),
        ("Ana", "locker", "9"),
        ("Bob", "locker", "10"),
    ]


def test_a_pronoun_that_could_mean_two_means_nobody() -> None:
    found = read("Ana's office is B12 and Eva's is C3. Her desk is 4.")
    assert len(found.facts) == 2
    assert found.rest == "Her desk is 4."


def test_what_is_said_beside_a_fact_is_handed_back() -> None:
    found = read("Ana's office is B12, and the view from there pleases everybody. Bob called.")
    assert [fact.value for fact in found.facts] == ["B12"]
    assert found.rest == "the view from there pleases everybody\nBob called."


def test_the_last_word_on_a_fact_counts() -> None:
    assert stated("Ana's office is B12. Ana's Office is C3.") == [("Ana", "Office", "C3")]
    assert ended("Ana's office is B12. Forget Ana's office.") == [("Ana", "office", None)]


def test_the_speaker_is_whom_i_and_my_mean() -> None:
    text = "My office is B12. I live in Riga and work at Acme. I'm allergic to nuts."
    assert stated(text, speaker="Mia") == [
        ("Mia", "office", "B12"),
        ("Mia", "home", "Riga"),
        ("Mia", "employer", "Acme"),
        ("Mia", "allergic to nuts", "yes"),
    ]
    assert stated(text) == []


def test_liking_one_thing_says_nothing_of_another() -> None:
    found = stated("I like tea. I like coffee.", speaker="Mia")
    assert found == [("Mia", "likes tea", "yes"), ("Mia", "likes coffee", "yes")]
    assert [one.key for one in read("I no longer like tea.", speaker="Mia").retractions] == [
        "likes tea"
    ]


def test_a_date_beside_the_statement_says_since_when_it_holds() -> None:
    for text in ("Since last Monday Ana's office is C3.", "Ana's office is C3 since last Monday."):
        (fact,) = read(text).facts
        assert (fact.value, fact.valid_from) == ("C3", datetime(2026, 11, 23, tzinfo=UTC))
    (changed,) = read("Ana's office changed to C3 yesterday.").facts
    assert (changed.value, changed.valid_from) == ("C3", datetime(2026, 11, 29, tzinfo=UTC))
    (deadline,) = read("Ana's deadline is tomorrow.").facts
    assert (deadline.value, deadline.valid_from) == ("tomorrow", None)


def test_what_is_known_lets_an_unsure_sentence_be_read() -> None:
    known = Known.of(["Ana"], ["office"])
    assert stated("Make Ana's office remote.") == []
    assert stated("Make Ana's office remote.", known=known) == [("Ana", "office", "remote")]
    assert stated("Ana said the office is B12.", known=known) == [("Ana", "office", "B12")]
    assert stated("Ana said the weather is bad.", known=known) == []


def test_a_span_is_the_sentence_in_the_text() -> None:
    text = "Hello. Ana's office is B12. Bye."
    (fact,) = read(text).facts
    assert text[fact.span.start : fact.span.end] == "Ana's office is B12."


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error_and_nothing_of_it_vanishes(text: str) -> None:
    found = read(text, speaker="Mia")
    if not found.facts and not found.retractions:
        assert "".join(found.rest.split()) == "".join(text.split())


def test_a_sentence_made_to_be_parted_in_many_ways_takes_no_longer_than_others() -> None:
    started = datetime.now(UTC)
    read("Ana's office is B12, and " * 15)
    read(", but it is so and " * 20)
    assert (datetime.now(UTC) - started).total_seconds() < 5
