"""What edits show by rules, and what they do not."""

import time
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver.services.preferring.edits import STATEMENTS, About, Leaning, infer
from memserver.services.preferring.voting import NEAR, Voter, elect, kernel

ORDERS = "We check the orders of every customer in the new tool each day at noon."


def seen(before: str, after: str) -> set[tuple[str, str]]:
    return {(leaning.about.value, leaning.wants) for leaning in infer(before, after)}


@pytest.mark.parametrize(
    ("before", "after", "shows"),
    [
        (f"Hi Bob,\n\n{ORDERS}", ORDERS, {("greeting", "without")}),
        (ORDERS, f"Dear Ms Lee,\n\n{ORDERS}", {("greeting", "with")}),
        (f"{ORDERS}\n\nBest regards,\nAnn", ORDERS, {("sign-off", "without")}),
        (ORDERS, f"{ORDERS}\n\nCheers,\nAnn", {("sign-off", "with")}),
        (f"# Orders\n{ORDERS}", ORDERS, {("headings", "without")}),
        ("Great news 🎉 we shipped it.", "Great news, we shipped it.", {("emoji", "without")}),
        (
            "First wash it. Then cut it. Then fry it.",
            "- First wash it.\n- Then cut it.\n- Then fry it.",
            {("layout", "bullets")},
        ),
        (
            "* First wash it.\n* Then cut it.\n* Then fry it.",
            "First wash it. Then cut it. Then fry it.",
            {("layout", "prose")},
        ),
        (
            "It's great, don't worry, we're gonna fix that part of it for you.",
            "It is great, do not worry, we are going to fix that part of it for you.",
            {("tone", "formal")},
        ),
        (
            "It is late, and we do not know why, but we will look at it now.",
            "It's late, and we don't know why, but we'll look at it now.",
            {("tone", "informal")},
        ),
        (
            "The colour of the organisation is grey and the centre is white.",
            "The color of the organization is gray and the center is white.",
            {("spelling", "american")},
        ),
        (
            "I wrote the plan and I sent it to the board before noon.",
            "We wrote the plan and we sent it to the board before noon.",
            {("person", "plural")},
        ),
        (
            "The tool will check the order and the tool will send a mail.",
            "The tool checks the order and the tool sends a mail.",
            {("tense", "present")},
        ),
        (
            "The meeting is on the first floor, and it is for all of the staff.",
            "Das Treffen ist für alle und ist nicht auf der Liste mit den Namen.",
            {("language", "de")},
        ),
        (
            "The meeting is on the first floor, and it is for all of the staff.",
            "会议在一楼举行,所有员工都要参加。",
            {("language", "zh")},
        ),
        ("We utilise the tool to check it.", "We use the tool to check it.", {("term", "use")}),
    ],
)
def test_an_edit_shows_what_it_changed(
    before: str, after: str, shows: set[tuple[str, str]]
) -> None:
    assert seen(before, after) == shows


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The meeting is on Monday with all.", "The meeting is on Tuesday with all."),
        ("It costs 12 euros in total.", "It costs 15 euros in total."),
        ("We asked Anna about the invoice.", "We asked Peter about the invoice."),
        ("Teh cat sat on the mat.", "The cat sat on the mat."),
        ("你好,世界", "你好,世界"),
        ("", ""),
        ("x", ""),
    ],
)
def test_facts_names_and_slips_show_nothing(before: str, after: str) -> None:
    assert infer(before, after) == ()


def test_one_swap_of_words_may_be_chance_and_two_of_one_kind_are_not() -> None:
    once = infer("Please see the ticket about it", "Please see the issue about it")
    twice = infer(
        "See the ticket and then close the ticket at once",
        "See the issue and then close the issue at once",
    )

    assert once == (Leaning(About.TERM, "issue", of="ticket", clear=False),)
    assert twice == (Leaning(About.TERM, "issue", of="ticket", clear=True),)


def test_a_text_that_was_written_anew_shows_no_terms() -> None:
    assert "term" not in {
        about for about, _ in seen(ORDERS, "Nobody knows what happened to that parcel so far.")
    }


def test_contraries_contradict_and_other_words_do_not() -> None:
    use = Leaning(About.TERM, "use", of="utilise")

    assert Leaning(About.LENGTH, "shorter").contradicts(Leaning(About.LENGTH, "longer"))
    assert not Leaning(About.LENGTH, "shorter").contradicts(Leaning(About.LENGTH, "shorter"))
    assert not Leaning(About.LENGTH, "shorter").contradicts(Leaning(About.EMOJI, "with"))
    assert use.contradicts(Leaning(About.TERM, "utilise", of="use"))
    assert use.contradicts(Leaning(About.TERM, "employ", of="utilise"))
    assert not use.contradicts(Leaning(About.TERM, "begin", of="commence"))


def test_every_pair_of_contraries_has_its_words() -> None:
    for about in set(About) - {About.TERM, About.LANGUAGE}:
        assert len([wants for each, wants in STATEMENTS if each is about]) == 2


@given(st.text(max_size=300), st.text(max_size=300))
def test_anything_may_be_edited_into_anything(before: str, after: str) -> None:
    for leaning in infer(before, after):
        assert leaning.statement
    assert infer(before, before) == ()


def test_long_texts_without_end_take_seconds_at_most() -> None:
    begun = time.perf_counter()

    infer("a b " * 20_000, "b a " * 19_000)
    infer("x" * 100_000, "y" * 99_999)
    infer("- a\n" * 20_000, "# a\n" * 20_000)
    infer(
        " ".join(f"w{n % 97}" for n in range(2_000)), " ".join(f"w{n % 89}" for n in range(2_000))
    )

    assert time.perf_counter() - begun < 10


# --- the vote ----------------------------------------------------------------------------

SHORTER, LONGER = Leaning(About.LENGTH, "shorter"), Leaning(About.LENGTH, "longer")


def voter(
    leaning: Leaning,
    similarity: float,
    *,
    support: float = 1,
    against: float = 0,
    context: str = "",
) -> Voter:
    return Voter(
        UUID(int=int(similarity * 1000)),
        context or f"at {similarity}",
        leaning,
        similarity,
        support,
        against,
    )


def test_the_kernel_is_one_at_hand_falls_with_distance_and_ends() -> None:
    assert kernel(1.0) == 1.0
    assert kernel(0.9) > kernel(0.7) > kernel(NEAR) > 0
    assert kernel(NEAR - 0.01) == 0.0


def test_the_nearer_context_has_it_against_a_farther_one() -> None:
    (elected,) = elect([voter(SHORTER, 0.6, support=10), voter(LONGER, 1.0)], k=5)

    assert elected.leaning == LONGER


def test_contexts_beyond_the_nearest_k_are_not_heard() -> None:
    voters = [voter(SHORTER, 0.95), voter(LONGER, 0.9, support=50)]

    (elected,) = elect(voters, k=1)

    assert elected.leaning == SHORTER


def test_a_draw_elects_nobody_and_far_contexts_have_no_vote() -> None:
    drawn = [voter(SHORTER, 0.9, context="one"), voter(LONGER, 0.9, context="other")]

    assert elect(drawn, k=5) == ()
    assert elect([voter(SHORTER, NEAR - 0.01)], k=5) == ()
    assert elect([voter(SHORTER, 1.0, support=2, against=2)], k=5) == ()
    assert elect([], k=5) == ()


def test_what_agrees_adds_up() -> None:
    alone = elect([voter(SHORTER, 0.9)], k=5)[0].weight
    (both,) = elect([voter(SHORTER, 0.9), voter(SHORTER, 0.8)], k=5)

    assert both.weight > alone
    assert [each.similarity for each in both.voters] == [0.9, 0.8]
