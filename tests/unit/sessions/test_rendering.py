"""A rendering never counts for more than its budget, and tells what matters most first."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memserver.domain.sessions.events import (
    CandidateNote,
    EvidenceNote,
    LedgerEdit,
    Message,
    ReportEdit,
    RuleEdit,
    SessionEvent,
    SummaryNote,
    ToolCall,
    ToolResult,
    Verdict,
    Verification,
)
from memserver.domain.sessions.state import State, fold
from memserver.services.sessions.fitting import Fitted
from memserver.services.sessions.rendering import render
from tests.fakes.encoder import HashEncoder
from tests.unit.sessions.said import HISTORIES, NO_TWO_REFUNDS, state


def by_words(text: str) -> int:
    return len(text.split())


COUNTERS: list[Callable[[str], int]] = [
    HashEncoder().count_tokens,
    by_words,
    len,
    # Counters for which texts put together are more than their sum, or less.
    lambda text: len(text) + len(text) ** 2 // 500,
    lambda text: 3 + len(text) // 4,
    lambda text: int(len(text) ** 0.5),
]
EVERYTHING = state(
    LedgerEdit({"order": "A7", "refunded": False}),
    RuleEdit(NO_TWO_REFUNDS),
    ReportEdit("plan", "find the order and give the money back"),
    EvidenceNote("paid", "the order was paid by card"),
    Verification("paid", Verdict.SUPPORTED, "the bank", "seen"),
    EvidenceNote("gone", "the parcel was lost"),
    EvidenceNote("never", "the parcel had wings"),
    Verification("never", Verdict.REFUTED, "ann"),
    *(Message("ann", f"this is turn number {n} of many") for n in range(20)),
    ToolCall("find", {"order": "A7"}),
    ToolResult("find", "one order", is_error=False),
    CandidateNote("slow", "send a letter", 0.1),
    CandidateNote("quick", "refund by card", 0.9),
)


def rendered(found: State, budget: int, count: Callable[[str], int] = by_words) -> Fitted:
    return render(found, budget=budget, count=count)


@settings(deadline=None)
@given(HISTORIES, st.integers(1, 400), st.sampled_from(COUNTERS))
def test_a_rendering_is_never_over_its_budget(
    history: list[SessionEvent], budget: int, count: Callable[[str], int]
) -> None:
    found = render(fold(history), budget=budget, count=count)

    assert found.text == "" or count(found.text) <= budget
    assert found.tokens == (count(found.text) if found.text else 0)
    assert render(fold(history), budget=budget, count=count) == found


@pytest.mark.parametrize("count", COUNTERS)
def test_no_budget_is_too_small_to_be_kept(count: Callable[[str], int]) -> None:
    for budget in range(1, 300):
        found = rendered(EVERYTHING, budget, count)
        assert found.text == "" or count(found.text) <= budget


def test_with_room_everything_is_there_in_the_order_of_what_matters() -> None:
    found = rendered(EVERYTHING, 10_000)

    places = [
        found.text.index(words)
        for words in (
            'order = "A7"', "refunded = false", "no_refund_twice: it was refunded already",
            "plan: find the order",
            "paid: the order was paid by card [supported by the bank (seen)]",
            "[9] ann: this is turn number 0", "[28] ann: this is turn number 19",
            '[29] calls find {"order": "A7"}', "[30] find: one order",
            "quick: refund by card [score 0.9]", "slow: send a letter", "gone: the parcel was lost",
        )
    ]  # fmt: skip
    assert places == sorted(places)
    assert found.left_out == {}
    assert found.cut == ()
    assert "wings" not in found.text


def test_what_matters_less_goes_first_and_the_newest_turns_stay() -> None:
    found = rendered(EVERYTHING, 75)

    assert "[30] find: one order" in found.text
    assert "[9] ann" not in found.text
    assert found.left_out.keys() == {"turns", "candidates", "unverified"}
    assert found.left_out["candidates"] == 2
    shown = found.text.count("\n[")
    assert found.left_out["turns"] + shown == 22
    assert f"Left out for want of room: turns {found.left_out['turns']}, candidates 2" in found.text


def test_the_newest_of_the_ledger_stays() -> None:
    found = rendered(state(*(LedgerEdit({f"key{n}": n}) for n in range(50))), 40)

    assert "key49 = 49" in found.text
    assert "key0 = 0" not in found.text
    assert found.text.index("key48") < found.text.index("key49")


def test_a_section_that_does_not_fit_is_cut_between_words() -> None:
    found = rendered(state(ReportEdit("plan", " ".join(f"w{n}" for n in range(500)))), 60)

    assert found.cut == ("report",)
    assert found.left_out == {}
    assert found.text.startswith("Report so far:\nplan: w0 w1")
    assert found.text.endswith(" …")
    assert 50 <= found.tokens <= 60


def test_a_summary_is_read_before_the_turns_that_follow_it() -> None:
    said = (Message("ann", "hello"), SummaryNote("ann greeted", through=1), Message("bob", "hi"))
    text = rendered(state(*said), 100).text

    assert text == "Recent turns:\nBefore: ann greeted\n[3] bob: hi"


def test_an_empty_session_is_an_empty_text() -> None:
    assert rendered(State(), 100) == Fitted("", 0, {}, ())


def test_the_room_is_used() -> None:
    """A budget that is kept by leaving everything out would be kept too."""
    whole = rendered(EVERYTHING, 10_000).tokens
    for budget in range(40, whole, 20):
        assert rendered(EVERYTHING, budget).tokens > budget - 20
