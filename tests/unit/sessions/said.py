"""Events of sessions, made quickly, and made at random."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from memserver.domain.sessions.events import (
    CandidateNote,
    EvidenceNote,
    Filtering,
    LedgerEdit,
    Link,
    Message,
    Payload,
    ReportEdit,
    RuleEdit,
    SessionEvent,
    SummaryNote,
    ToolCall,
    ToolResult,
    Verdict,
    Verification,
)
from memserver.domain.sessions.rules import Rule
from memserver.domain.sessions.state import State, fold

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NO_TWO_REFUNDS = Rule(
    name="no_refund_twice",
    because="it was refunded already",
    calls=("refund",),
    forbid={"state.refunded": {"eq": True}},
)


def events(*payloads: Payload) -> list[SessionEvent]:
    return [SessionEvent(n, payload, AT) for n, payload in enumerate(payloads, 1)]


def state(*payloads: Payload) -> State:
    return fold(events(*payloads))


def rule(**parts: Any) -> Rule:
    return Rule(name=parts.pop("name", "a_rule"), because="of a test", **parts)


# --- at random ---------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "c", "order", "état"])
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), TEXTS, st.lists(TEXTS, max_size=2).map(tuple)
)
LINKS = st.lists(st.builds(Link, st.sampled_from(["item", "turn", "url"]), TEXTS), max_size=2).map(
    tuple
)
PAYLOADS: st.SearchStrategy[Payload] = st.one_of(
    st.builds(Message, NAMES, TEXTS),
    st.builds(ToolCall, NAMES, st.dictionaries(NAMES, VALUES, max_size=2)),
    st.builds(ToolResult, NAMES, TEXTS, st.booleans()),
    st.builds(ReportEdit, NAMES, TEXTS, st.booleans()),
    st.builds(CandidateNote, NAMES, TEXTS, st.none() | st.floats(0, 1), LINKS, st.booleans()),
    st.builds(EvidenceNote, NAMES, TEXTS, LINKS),
    st.builds(Verification, NAMES, st.sampled_from(Verdict), NAMES, TEXTS),
    st.builds(LedgerEdit, st.dictionaries(NAMES, VALUES, max_size=3), st.just(())),
    st.builds(LedgerEdit, st.just({}), st.lists(NAMES, max_size=2).map(tuple)),
    st.builds(RuleEdit, st.just(NO_TWO_REFUNDS), st.none()),
    st.builds(RuleEdit, st.none(), st.just("no_refund_twice")),
    st.builds(SummaryNote, TEXTS, st.integers(0, 30)),
    st.builds(
        Filtering,
        TEXTS,
        st.lists(st.integers(1, 30), max_size=3).map(tuple),
        st.lists(NAMES, max_size=2).map(tuple),
    ),
)
HISTORIES = st.lists(PAYLOADS, max_size=30).map(lambda payloads: events(*payloads))
