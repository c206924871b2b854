"""Asking a model: whatever it says, the answer has the form that was wanted, or there is none."""

from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

import pytest
from pydantic import BaseModel

from memserver.domain.errors import ChatFailed
from memserver.domain.ports import Store
from memserver.domain.ports.chat import Completion
from memserver.domain.ports.meter import ModelOutcome, Unmetered
from memserver.services.asking import Asking, Unfit, fitted
from memserver.services.model_budget import ModelBudget
from tests.fakes.chat import ScriptedModel, UseStore

TENANT, OTHER = UUID(int=1), UUID(int=2)
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Wording(BaseModel):
    text: str
    certain: bool = True


class Noting(Unmetered):
    def __init__(self) -> None:
        self.outcomes: list[ModelOutcome] = []

    def asked(self, outcome: ModelOutcome) -> None:
        self.outcomes.append(outcome)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


class Desk:
    """An `Asking` with all that it stands on."""

    def __init__(self, *script: str | Completion | Exception, tokens_a_day: int = 100_000) -> None:
        self.model = ScriptedModel(*script)
        self.clock = Clock()
        self.meter = Noting()
        self.budget = ModelBudget(
            cast(Store, UseStore()), clock=self.clock, tokens_a_day=tokens_a_day
        )
        self.asking = Asking(self.model, self.budget, meter=self.meter)

    def ask(self, user: str = "Say it.", **how: Any) -> Wording | None:
        return self.asking.ask(TENANT, "You word things.", user, Wording, **how)


@pytest.mark.parametrize(
    "said",
    [
        '{"text": "x"}',
        '```json\n{"text": "x"}\n```',
        '```\n{"text": "x"}\n``` I hope that this helps {really}.',
        'Sure! Here is the JSON:\n\n{"text": "x"}',
        '<think>{"text": "not this"}</think>\n{"text": "x"}',
        'In the form {"wrong": 1} no, {"text": "x"}',
        '{"text": "x"}{"text": "y"}',
        '\ufeff{"text": "x"}',
    ],
)
def test_an_answer_is_found_whatever_stands_around_it(said: str) -> None:
    desk = Desk(said)

    assert desk.ask() == Wording(text="x")
    assert len(desk.model.asked) == 1
    assert desk.meter.outcomes == ["answered"]


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("", "it was empty"),
        ("  \n", "it was empty"),
        ("I cannot do that.", "no complete JSON object"),
        ('{"text": "cut of', "no complete JSON object"),
        ('["x"]', "no complete JSON object"),
        ('{"text": 5}', "text: Input should be a valid string"),
        ('{"other": "x"}', "text: Field required"),
        ('{"text": "a\\u0000b"}', "NUL"),
        ('{"text": "\\ud83d"}', "surrogate"),
        ('{"text": NaN}', "no complete JSON object"),
        ('{"text": ' + "[" * 100_000, "no complete JSON object"),
    ],
)
def test_an_answer_without_the_form_is_refused_with_what_is_wrong(said: str, fault: str) -> None:
    with pytest.raises(Unfit, match=fault):
        fitted(said, Wording)


def test_one_repair_says_what_was_wrong_and_is_never_the_same_request() -> None:
    desk = Desk('{"text": 5}', '{"text": "x"}')

    assert desk.ask() == Wording(text="x")

    first, second = desk.model.asked
    assert first != second
    assert second[1].startswith("Say it.")
    assert "text: Input should be a valid string" in second[1]
    assert desk.meter.outcomes == ["repaired"]


def test_an_answer_that_was_cut_off_is_asked_for_again_and_shorter() -> None:
    desk = Desk(Completion('{"text": "and so', 20, cut=True), '{"text": "x"}')

    assert desk.ask() == Wording(text="x")
    assert "shorter" in desk.model.asked[1][1]


def test_after_one_repair_there_is_no_answer_and_no_third_request() -> None:
    desk = Desk("no")

    assert desk.ask() is None
    assert len(desk.model.asked) == 2
    assert desk.meter.outcomes == ["unfit"]


def test_a_model_that_fails_is_not_asked_again() -> None:
    desk = Desk(ChatFailed("status 500"))

    assert desk.ask() is None
    assert len(desk.model.asked) == 1
    assert desk.meter.outcomes == ["unavailable"]
    assert desk.budget.use(TENANT).tokens == 0


def test_tokens_that_a_failed_call_may_have_used_stay_spent() -> None:
    desk = Desk(ChatFailed("no reply in time", spent=True))

    assert desk.ask() is None
    system, user, most = desk.model.asked[0]
    assert desk.budget.use(TENANT).tokens == len(system) + len(user) + most


def test_what_a_call_used_is_what_it_costs_and_what_was_reserved_comes_back() -> None:
    desk = Desk(Completion('{"text": "x"}', 77))

    desk.ask()

    use = desk.budget.use(TENANT)
    assert (use.tokens, use.calls) == (77, 1)


def test_a_question_that_could_cost_more_than_is_left_is_not_asked() -> None:
    desk = Desk(Completion('{"text": "x"}', 900), tokens_a_day=1_500)
    assert desk.ask(max_tokens=100) == Wording(text="x")

    answer = desk.asking.asked(TENANT, "You word things.", "Say it.", Wording, max_tokens=600)

    assert answer.value is None
    assert answer.outcome == "budget spent"
    assert len(desk.model.asked) == 1
    assert desk.budget.use(TENANT).tokens == 900


def test_the_repair_is_paid_for_too() -> None:
    desk = Desk(Completion("no", 1_000), tokens_a_day=1_500)

    assert desk.ask(max_tokens=100) is None
    assert len(desk.model.asked) == 1
    assert desk.meter.outcomes == ["budget spent"]


def test_a_tenants_budget_is_its_own_and_a_new_day_brings_a_new_one() -> None:
    desk = Desk(Completion('{"text": "x"}', 1_000), tokens_a_day=1_200)
    desk.ask(max_tokens=10)
    assert desk.ask(max_tokens=10) is None

    other = desk.asking.ask(OTHER, "You word things.", "Say it.", Wording, max_tokens=10)
    desk.clock.now += timedelta(hours=12)

    assert other == Wording(text="x")
    assert desk.ask(max_tokens=10) == Wording(text="x")


def test_every_character_of_an_answer_is_kept() -> None:
    said = "你好 🧑‍🚀 e\u0301 é ﷽ \u202eabc"
    desk = Desk(f'{{"text": "{said}"}}')

    answer = desk.ask(f"Word this: {said}")

    assert answer is not None
    assert answer.text == said
    assert said in desk.model.asked[0][1]
    assert "language" in desk.model.asked[0][0]
