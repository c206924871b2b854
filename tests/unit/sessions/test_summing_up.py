"""What a session comes to: by rules, or in a model's words, and never over the budget."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memserver.domain.errors import ChatFailed
from memserver.domain.sessions.events import (
    EvidenceNote,
    LedgerEdit,
    Message,
    ReportEdit,
    RuleEdit,
    SessionEvent,
    Verdict,
    Verification,
)
from memserver.domain.sessions.state import State, fold
from memserver.services.asking import Asking
from memserver.services.model_budget import ModelBudget
from memserver.services.sessions.ending import messages
from memserver.services.sessions.summing_up import SummingUp
from tests.fakes.chat import ScriptedModel, UseStore
from tests.unit.sessions.said import HISTORIES, NO_TWO_REFUNDS, events

TENANT = uuid4()
TALK = events(
    Message("ann", "Good morning. The oven of the bakery must be repaired before it opens."),
    Message("bob", "The bakery cannot open while the oven is broken! My cousin plays chess."),
    Message("ann", "A technician will repair the oven of the bakery on Tuesday."),
    LedgerEdit({"oven": "broken"}),
    RuleEdit(NO_TWO_REFUNDS),
    ReportEdit("plan", "have the oven repaired"),
    EvidenceNote("tuesday", "the technician comes on Tuesday"),
    Verification("tuesday", Verdict.SUPPORTED, "the technician"),
    EvidenceNote("cousin", "the cousin plays chess"),
)


def by_words(text: str) -> int:
    return len(text.split())


def summing_up(*script: str | Exception) -> SummingUp:
    if not script:
        return SummingUp(count=by_words)
    clock = lambda: datetime(2026, 3, 1, tzinfo=UTC)  # noqa: E731
    budget = ModelBudget(UseStore(), clock=clock, tokens_a_day=1_000_000)
    return SummingUp(count=by_words, asking=Asking(ScriptedModel(*script), budget))


def summed(budget: int, *script: str | Exception) -> tuple[str, str]:
    found = summing_up(*script).summed(TENANT, fold(TALK), messages(TALK), budget=budget)
    assert found is not None
    return found.text, found.by


def test_without_a_model_it_has_the_state_and_the_central_sentences_in_order() -> None:
    text, by = summed(80)

    assert by == "rules"
    assert text.startswith(
        'State of the task:\noven = "broken"\n\nReport so far:\nplan: have the oven repaired'
    )
    assert "tuesday: the technician comes on Tuesday" in text
    assert "no_refund_twice" not in text
    assert "cousin: the cousin" not in text  # nobody verified it
    said = text.split("Said:\n")[1]
    assert said.index("must be repaired") < said.index("on Tuesday.")
    assert text == summed(80)[0]


def test_with_little_room_the_most_central_is_what_is_left_of_what_was_said() -> None:
    text, _ = summed(47)
    assert "Said:\n" in text
    assert "oven" in text.split("Said:\n")[1]
    assert "chess" not in text.split("Said:\n")[1]


def test_a_model_words_it_where_there_is_one() -> None:
    text = "The oven is broken; a technician comes on Tuesday."
    assert summed(80, json.dumps({"summary": text})) == (text, "scripted")


@pytest.mark.parametrize(
    "answer",
    [
        "no JSON at all",
        json.dumps({"summary": ""}),
        json.dumps({"summary": "word " * 81}),
        json.dumps({"sum": "mary"}),
        ChatFailed("the model is away"),
    ],
)
def test_an_answer_that_does_not_fit_gives_way_to_the_extract(answer: str | Exception) -> None:
    assert summed(80, answer) == (summed(80)[0], "rules")


def test_of_nothing_there_is_no_summary() -> None:
    assert summing_up("{}").summed(TENANT, State(), [], budget=100) is None


@settings(deadline=None)
@given(HISTORIES, st.integers(1, 200), st.sampled_from([by_words, len]))
def test_a_summary_is_never_over_its_budget(
    history: list[SessionEvent], budget: int, count: object
) -> None:
    found = SummingUp(count=count).extracted(  # type: ignore[arg-type]
        fold(history), messages(history), budget=budget
    )
    assert found is None or 0 < count(found.text) <= budget  # type: ignore[operator]
