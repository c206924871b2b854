"""The state of a session follows from its events, one after the other."""

from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.sessions.events import (
    CandidateNote,
    EvidenceNote,
    Filtering,
    LedgerEdit,
    Link,
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
from memserver.domain.sessions.state import Folding, fold
from tests.unit.sessions.said import HISTORIES, NO_TWO_REFUNDS, state


def test_ledger_keys_are_set_and_unset_at_once() -> None:
    found = state(
        LedgerEdit({"a": 1, "b": 2}),
        LedgerEdit({"a": 3}, unset=("b", "never")),
        LedgerEdit({"c": 1}),
    )
    assert list(found.ledger.items()) == [("a", 3), ("c", 1)]


def test_a_key_set_again_is_the_newest() -> None:
    assert list(state(LedgerEdit({"a": 1}), LedgerEdit({"b": 1}), LedgerEdit({"a": 2})).ledger) == [
        "b",
        "a",
    ]


def test_a_section_is_continued_replaced_and_emptied_in_its_place() -> None:
    begun = (ReportEdit("plan", "look"), ReportEdit("found", "nothing"))
    assert dict(state(*begun, ReportEdit("plan", "then buy", append=True)).report) == {
        "plan": "look\nthen buy",
        "found": "nothing",
    }
    assert list(state(*begun, ReportEdit("plan", "buy")).report) == ["plan", "found"]
    assert state(*begun, ReportEdit("plan", "buy")).report["plan"] == "buy"
    assert dict(state(*begun, ReportEdit("plan", "")).report) == {"found": "nothing"}


def test_evidence_is_verified_when_one_supports_it_and_none_refutes_it() -> None:
    claim = EvidenceNote("price", "it costs 5", (Link("url", "https://example.org"),))

    def verdict(*judged: tuple[str, Verdict]) -> Verdict:
        (found,) = state(claim, *(Verification("price", v, by) for by, v in judged)).evidence
        return found.verdict

    assert verdict() is Verdict.UNCLEAR
    assert verdict(("ann", Verdict.SUPPORTED)) is Verdict.SUPPORTED
    assert verdict(("ann", Verdict.SUPPORTED), ("bob", Verdict.REFUTED)) is Verdict.REFUTED
    assert verdict(("ann", Verdict.REFUTED), ("ann", Verdict.SUPPORTED)) is Verdict.SUPPORTED


def test_what_verified_one_claim_does_not_verify_another_of_its_name() -> None:
    judged = Verification("price", Verdict.SUPPORTED, "ann")
    said = (EvidenceNote("price", "it costs 5"), judged)

    assert state(*said, EvidenceNote("price", "it costs 5")).evidence[0].verdict == "supported"
    assert state(*said, EvidenceNote("price", "it costs 6")).evidence[0].verdict == "unclear"
    links = (Link("url", "https://elsewhere.example"),)
    assert state(*said, EvidenceNote("price", "it costs 5", links)).evidence[0].verdict == "unclear"


def test_candidates_are_replaced_by_name_and_removed() -> None:
    found = state(
        CandidateNote("a", "one", 0.5), CandidateNote("b", "two"), CandidateNote("a", "three"),
        CandidateNote("b", removed=True), CandidateNote("never", removed=True),
    )  # fmt: skip
    assert [(one.name, one.text, one.score) for one in found.candidates] == [("a", "three", None)]


def test_a_summary_stands_for_the_turns_before_it() -> None:
    found = state(
        Message("ann", "hello"), ToolCall("look"), ToolResult("look", "a door"),
        SummaryNote("ann greeted and looked", through=2), Message("ann", "bye"),
    )  # fmt: skip
    assert [turn.seq for turn in found.turns] == [3, 5]
    assert found.summary is not None
    assert found.summary.text == "ann greeted and looked"
    assert found.calls == {"look": 1}  # it was made all the same


def test_a_filter_hides_turns_and_drops_candidates() -> None:
    found = state(
        Message("ann", "hello"), Message("ann", "the key"), CandidateNote("a"), CandidateNote("b"),
        Filtering("where is the key", hides=(1,), drops=("a",)),
    )  # fmt: skip
    assert [turn.seq for turn in found.turns] == [2]
    assert [one.name for one in found.candidates] == ["b"]


def test_a_rule_of_the_same_name_takes_the_place_of_the_first() -> None:
    assert state(RuleEdit(NO_TWO_REFUNDS), RuleEdit(NO_TWO_REFUNDS)).rules == (NO_TWO_REFUNDS,)
    assert state(RuleEdit(NO_TWO_REFUNDS), RuleEdit(remove="no_refund_twice")).rules == ()


@given(HISTORIES, st.data())
def test_folding_on_from_anywhere_gives_the_same_state(
    history: list[SessionEvent], data: st.DataObject
) -> None:
    stops = data.draw(st.sets(st.integers(0, len(history))))
    folding = Folding()
    for n, event in enumerate(history):
        folding.add(event)
        if n in stops:
            assert folding.state == fold(history[: n + 1])
    assert folding.state == fold(history)


@given(HISTORIES)
def test_a_state_already_taken_is_not_changed_by_what_follows(history: list[SessionEvent]) -> None:
    folding = Folding()
    taken = []
    for event in history:
        folding.add(event)
        taken.append((folding.state, repr(folding.state)))
    assert all(repr(found) == shown for found, shown in taken)
