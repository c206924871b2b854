"""A chat model chooses among what the rules admit, or is not heard."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

import pytest

from memserver.domain.errors import ChatFailed
from memserver.domain.policy.write_features import Operation
from memserver.domain.ports import Store
from memserver.services.asking import Asking
from memserver.services.model_budget import ModelBudget
from memserver.services.writing.candidates import Candidate, Neighbour
from memserver.services.writing.deciding import Verdict
from memserver.services.writing.judging import judge
from tests.fakes.chat import ScriptedModel, UseStore
from tests.unit.writing.told import a_fact, a_text, neighbour_of

TENANT = UUID(int=1)
KNOWN = neighbour_of(a_text("The lift in the hall is loud."), cosine=0.8)
NEW = a_text("The lift in the hall is slow and loud.")


def asking(model: ScriptedModel, *, tokens: int = 100_000) -> Asking:
    budget = ModelBudget(
        cast(Store, UseStore()), clock=lambda: datetime(2026, 5, 1, tzinfo=UTC), tokens_a_day=tokens
    )
    return Asking(model, budget)


def verdict_on(
    judging: Asking, candidate: Candidate, neighbours: Sequence[Neighbour]
) -> Verdict | None:
    return judge(judging, TENANT, [(candidate, neighbours)], most=16).get(candidate.text)


def test_the_model_sees_the_options_and_its_choice_names_the_item() -> None:
    model = ScriptedModel('{"option": 3, "reason": "says more"}')

    verdict = verdict_on(asking(model), NEW, [KNOWN])

    assert verdict is not None
    assert (verdict.operation, verdict.target) == (Operation.UPDATE, KNOWN.entry.item.id)
    assert verdict.reason == "says more"
    ((_, question, _),) = model.asked
    assert NEW.text in question
    assert f"3. UPDATE, replacing: {KNOWN.entry.version.text}" in question
    assert "DELETE" not in question


@pytest.mark.parametrize(
    "said", ['{"option": 0}', '{"option": 99}', "no idea", ChatFailed("it is down")]
)
def test_an_answer_that_is_no_option_leaves_it_to_the_rules(said: str | Exception) -> None:
    assert verdict_on(asking(ScriptedModel(said)), NEW, [KNOWN]) is None


def test_where_the_rules_bind_or_nothing_is_like_it_the_model_is_not_asked() -> None:
    model = ScriptedModel('{"option": 1}')
    told = a_fact("Ana", "office", "B12")

    assert verdict_on(asking(model), told, [neighbour_of(told)]) is None
    assert verdict_on(asking(model), NEW, []) is None
    assert model.asked == []


def test_a_spent_budget_leaves_it_to_the_rules() -> None:
    model = ScriptedModel('{"option": 3}')

    assert verdict_on(asking(model, tokens=1), NEW, [KNOWN]) is None
    assert model.asked == []


def many(count: int) -> list[tuple[Candidate, Sequence[Neighbour]]]:
    return [
        (a_text(f"The lift in the hall is slow and loud{'!' * n}"), [KNOWN]) for n in range(count)
    ]


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ("no idea", 2 * 3),
        ('{"option": 99}', 3),
        (ChatFailed("it is down"), 1),
    ],
)
def test_questions_are_bounded_whether_or_not_they_are_answered(
    said: str | Exception, calls: int
) -> None:
    """A long conversation must not wait for an endpoint once for each thing that was said."""
    model = ScriptedModel(said)

    assert judge(asking(model), TENANT, many(20), most=3) == {}
    assert len(model.asked) == calls
