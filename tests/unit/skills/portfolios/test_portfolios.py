"""A few skills that together do what a library does."""

import itertools
import math
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from memserver_skills.portfolios.covering import Member, covered, portfolio, undominated
from memserver_skills.portfolios.matching import Known, Tried, match, predicted

A, B, C = (UUID(int=number) for number in (1, 2, 3))
MEMBERS = st.lists(
    st.tuples(st.frozensets(st.sampled_from("abcdefgh"), max_size=5), st.integers(0, 2)),
    max_size=7,
).map(lambda of: [Member(UUID(int=n), covers, cost) for n, (covers, cost) in enumerate(of)])


@settings(max_examples=60)
@given(MEMBERS, st.integers(1, 4))
def test_greedy_covers_all_but_an_eth_of_the_best_portfolio(members: list[Member], k: int) -> None:
    some = itertools.combinations(members, min(k, len(members)))
    best = max(len(covered(each)) for each in some)
    found = portfolio(members, k=k)
    assert len(found.chosen) <= k
    assert len(found.covers) >= (1 - 1 / math.e) * best


@settings(max_examples=60)
@given(MEMBERS)
def test_leaving_out_what_is_dominated_loses_no_task_and_no_cheaper_way(
    members: list[Member],
) -> None:
    left = undominated(members)
    assert covered(left) == covered(members)
    for one in members:
        assert any(one.covers <= kept.covers and kept.cost <= one.cost for kept in left)


@settings(max_examples=30)
@given(MEMBERS, st.integers(1, 4))
def test_the_order_of_the_members_does_not_matter(members: list[Member], k: int) -> None:
    assert portfolio(members, k=k) == portfolio(members[::-1], k=k)


def test_what_another_does_as_well_for_no_more_is_left_out() -> None:
    small, large = Member(A, frozenset("x"), 1.0), Member(B, frozenset("xy"), 1.0)
    assert portfolio([small, large], k=2).dominated == (A,)
    cheap = Member(A, frozenset("x"), 0.5)
    assert portfolio([cheap, large], k=2).dominated == ()


def test_of_equals_one_stays() -> None:
    assert undominated([Member(B, frozenset("x")), Member(A, frozenset("x"))]) == [
        Member(A, frozenset("x"))
    ]


def test_each_member_says_what_it_adds() -> None:
    members = [Member(A, frozenset("abc")), Member(B, frozenset("cd")), Member(C, frozenset("bd"))]
    found = portfolio(members, k=3)
    assert [(one.member.skill, one.adds) for one in found.chosen] == [
        (A, frozenset("abc")),
        (B, frozenset("d")),
    ]


def test_a_task_goes_to_the_member_that_did_the_like_of_it() -> None:
    washing = Known(A, (Tried("wash the mug", 1.0), Tried("heat the egg", 0.0)))
    heating = Known(B, (Tried("heat the egg", 1.0), Tried("wash the mug", 0.0)))
    assert match("wash the plate", [washing, heating])[0].skill == A
    assert match("heat the soup", [washing, heating])[0].skill == B


def test_what_costs_too_much_is_not_matched() -> None:
    good = Known(A, (Tried("wash the mug", 1.0),), 4.0)
    fair = Known(B, (Tried("wash the mug", 0.6),), 1.0)
    assert match("wash the mug", [good, fair])[0].skill == A
    assert match("wash the mug", [good, fair], cost_weight=0.1)[0].skill == B


def test_of_a_task_like_no_other_one_half_is_expected() -> None:
    assert predicted("paint", [Tried("wash the mug", 1.0)]) == 0.5
