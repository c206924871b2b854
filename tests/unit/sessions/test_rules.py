"""Ledger rules are decided by what they say, and by nothing that a caller could run."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.errors import InvalidRule
from memserver.domain.sessions import conditions
from memserver.domain.sessions.conditions import Circumstances, check_shape, holds
from memserver.domain.sessions.events import LedgerEdit, RuleEdit, ToolCall
from memserver.domain.sessions.rules import Rule, blocked_by
from tests.unit.sessions.said import NO_TWO_REFUNDS, rule, state

AT = Circumstances(
    name="refund",
    arguments={"order_id": "A7", "amount": 120, "to": {"iban": "DE12"}, "tags": ["a", "b"]},
    ledger={"order_id": "A7", "refunded": True, "limit": 100, "regions": ("eu", "uk"), "n": 1},
    calls={"verify": 2},
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"state.refunded": {"eq": True}}, True),
        ({"state.refunded": {"ne": True}}, False),
        ({"state.refunded": {"eq": 1}}, False),  # true is not one
        ({"state.n": {"eq": 1.0}}, True),
        ({"state.n": {"eq": True}}, False),
        ({"state.absent": {"eq": None}}, False),  # what is missing is not even null
        ({"state.absent": {"ne": "x"}}, True),
        ({"state.absent": {"exists": False}}, True),
        ({"state.order_id": {"exists": True}}, True),
        ({"arg.order_id": {"eq": {"state": "order_id"}}}, True),
        ({"state.order_id": {"eq": {"arg": "order_id"}}}, True),
        ({"state.order_id": {"eq": {"arg": "absent"}}}, False),
        ({"state.absent": {"eq": {"arg": "absent"}}}, False),
        ({"arg.amount": {"gt": {"state": "limit"}}}, True),
        ({"arg.amount": {"gte": 120, "lt": 121}}, True),
        ({"arg.amount": {"lte": 119.5}}, False),
        ({"arg.to.iban": {"prefix": "DE"}}, True),
        ({"arg.to.iban": {"prefix": "D.*"}}, False),  # a prefix is no pattern
        ({"arg.to": {"eq": "DE12"}}, False),
        ({"arg.order_id.x": {"exists": True}}, False),
        ({"arg.order_id": {"in": ["A6", "A7"]}}, True),
        ({"arg.order_id": {"in": {"state": "regions"}}}, False),
        ({"calls.verify": {"gte": 2}}, True),
        ({"calls.refund": {"eq": 0}}, True),
        ({"all": [{"state.n": {"eq": 1}}, {"state.limit": {"eq": 100}}]}, True),
        ({"any": [{"state.n": {"eq": 2}}, {"state.limit": {"eq": 100}}]}, True),
        ({"any": [{"state.n": {"eq": 2}}, {"state.limit": {"eq": 2}}]}, False),
        ({"not": {"state.n": {"eq": 1}}}, False),
        ({"state.n": {"eq": 1}, "state.limit": {"eq": 1}}, False),
        ({"arg.order_id": {"gt": 5}}, None),  # a word is in no order with a number
        ({"arg.amount": {"prefix": "1"}}, None),
        ({"arg.amount": {"in": {"state": "limit"}}}, None),
        ({"not": {"arg.order_id": {"gt": 5}}}, None),
        ({"state.n": {"eq": 2}, "arg.order_id": {"gt": 5}}, False),
        ({"any": [{"state.n": {"eq": 1}}, {"arg.order_id": {"gt": 5}}]}, True),
    ],
)
def test_a_condition_holds_or_not_or_cannot_be_decided(
    condition: dict[str, Any], expected: bool | None
) -> None:
    check_shape(condition, "here")
    assert holds(condition, AT) is expected


@pytest.mark.parametrize(
    ("condition", "place"),
    [
        ({}, "here"),
        ([], "here"),
        ("state.a", "here"),
        ({"stat.a": {"eq": 1}}, "here"),
        ({"state.": {"eq": 1}}, "here"),
        ({"__class__": {"eq": 1}}, "here"),
        ({"state.a": {}}, "here.state.a"),
        ({"state.a": {"matches": ".*"}}, "here.state.a"),
        ({"state.a": {"eq": {"eval": "1"}}}, "here.state.a.eq"),
        ({"state.a": {"eq": {"arg": "x", "state": "y"}}}, "here.state.a.eq"),
        ({"state.a": {"eq": [1]}}, "here.state.a.eq"),
        ({"state.a": {"in": "abc"}}, "here.state.a.in"),
        ({"state.a": {"in": []}}, "here.state.a.in"),
        ({"state.a": {"exists": 1}}, "here.state.a.exists"),
        ({"state.a": {"lt": True}}, "here.state.a.lt"),
        ({"state.a": {"prefix": 3}}, "here.state.a.prefix"),
        ({"any": []}, "here.any"),
        ({"all": [{"state.a": {"eq": 1}}, {}]}, "here.all.1"),
        ({"state.a": {"eq": "x" * 1001}}, "here.state.a.eq"),
        ({"all": [{"state.a": {"eq": n}} for n in range(60)]}, "here.all"),
    ],
)
def test_what_is_no_condition_is_refused_at_its_place(condition: Any, place: str) -> None:
    with pytest.raises(InvalidRule, match=rf"written: {place}"):
        check_shape(condition, "here")


def test_conditions_nest_only_so_deep() -> None:
    condition: dict[str, Any] = {"state.a": {"eq": 1}}
    for _ in range(conditions.MOST_DEPTH - 1):
        condition = {"not": condition}
    check_shape(condition, "here")
    with pytest.raises(InvalidRule, match="deeper"):
        check_shape({"not": condition}, "here")


def test_a_rule_that_asks_for_nothing_is_refused() -> None:
    with pytest.raises(InvalidRule):
        Rule(name="idle", because="it has nothing to do")


def test_a_broken_rule_is_named_with_its_reason() -> None:
    found = state(RuleEdit(NO_TWO_REFUNDS), LedgerEdit({"refunded": True}))

    (blocked,) = found.blocked_by("refund", {})
    assert (blocked.rule, blocked.because) == ("no_refund_twice", "it was refunded already")
    assert found.blocked_by("verify", {}) == ()
    assert state(RuleEdit(NO_TWO_REFUNDS)).blocked_by("refund", {}) == ()


def test_a_rule_holds_where_its_when_does_and_where_that_cannot_be_decided() -> None:
    careful = rule(when={"arg.amount": {"gt": 100}}, require={"state.approved": {"eq": True}})
    found = state(RuleEdit(careful))

    assert found.blocked_by("refund", {"amount": 99}) == ()
    assert found.blocked_by("refund", {"amount": 101}) != ()
    assert found.blocked_by("refund", {"amount": "101"}) != ()  # a wrong type is no way around
    assert (
        state(RuleEdit(careful), LedgerEdit({"approved": True})).blocked_by(
            "refund", {"amount": 101}
        )
        == ()
    )


def test_what_cannot_be_decided_blocks_and_says_so() -> None:
    for condition in (
        {"forbid": {"arg.amount": {"gt": 100}}},
        {"require": {"arg.amount": {"lte": 100}}},
    ):
        (blocked,) = state(RuleEdit(rule(**condition))).blocked_by("refund", {"amount": "a lot"})
        assert blocked.undecided


def test_a_rule_counts_the_calls_that_were_recorded() -> None:
    once = rule(calls=("refund",), forbid={"calls.refund": {"gte": 1}})
    assert state(RuleEdit(once)).blocked_by("refund", {}) == ()
    assert state(RuleEdit(once), ToolCall("refund")).blocked_by("refund", {}) != ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(["state.a", "arg.a", "arg.a.b", "calls.a", "state.b"])
OPERANDS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3)
    | st.fixed_dictionaries({"arg": st.sampled_from(["a", "b"])})
    | st.fixed_dictionaries({"state": st.sampled_from(["a", "b"])})
)  # fmt: skip
ORDERED = st.integers(-3, 3) | st.text(max_size=3)
TESTS = st.one_of(
    st.dictionaries(st.sampled_from(["eq", "ne"]), OPERANDS, min_size=1, max_size=2),
    st.dictionaries(st.sampled_from(["lt", "lte", "gt", "gte"]), ORDERED, min_size=1, max_size=2),
    st.fixed_dictionaries({"exists": st.booleans()}),
    st.fixed_dictionaries({"prefix": st.text(max_size=2)}),
    st.fixed_dictionaries({"in": st.lists(ORDERED, min_size=1, max_size=3)}),
)
CONDITIONS = st.recursive(
    st.dictionaries(KEYS, TESTS, min_size=1, max_size=2),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"all": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"any": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=5,
)
THINGS = st.dictionaries(st.sampled_from(["a", "b"]), JSON)


@given(CONDITIONS, THINGS, THINGS)
def test_every_condition_is_decided_whatever_it_meets(
    condition: dict[str, Any], arguments: dict[str, Any], ledger: dict[str, Any]
) -> None:
    check_shape(condition, "here")
    at = Circumstances("a", arguments, ledger, {"a": 1})
    answer = holds(condition, at)

    assert answer in (True, False, None)
    assert holds({"not": condition}, at) == (None if answer is None else not answer)
    assert holds({"all": [condition]}, at) is holds({"any": [condition]}, at) is answer
    # Whatever is forbidden when it holds is required not to hold.
    forbids = blocked_by([rule(forbid=condition)], at)
    requires = blocked_by([rule(require={"not": condition})], at)
    assert [one.undecided for one in forbids] == [one.undecided for one in requires]


@given(JSON)
def test_any_json_is_a_condition_or_is_refused_as_none(found: Any) -> None:
    try:
        check_shape(found, "here")
    except InvalidRule:
        return
    assert holds(found, AT) in (True, False, None)
