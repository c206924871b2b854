"""Guards as values: how sure one may be of them, what a report teaches, which one decides."""

import random
from dataclasses import replace
from uuid import UUID

import pytest

from memserver.services.guarding.bounds import DEFAULT_BOUND, lower_bound
from memserver.services.guarding.judging import judge
from memserver.services.guarding.learning import learn
from memserver.services.guarding.situations import (
    Condition,
    Guard,
    Label,
    Situation,
    Verdict,
)

PLAIN = Situation(action="drop table", text="drop the table of orders")
TEST_SERVER = replace(PLAIN, belief="this is the test server")
AT_ACME = replace(PLAIN, local_to="acme")


def guard(
    verdict: Verdict = Verdict.BLOCK,
    condition: Condition | None = None,
    *,
    successes: float = 0,
    failures: float = 0,
) -> Guard:
    number = hash((verdict, condition)) % 1_000_000
    return Guard(
        UUID(int=number), UUID(int=number + 1), verdict, condition, 0.9, successes, failures
    )


BELIEVED = Condition(False, "this is the test server")
NAMED = Condition(True, "acme")


@pytest.mark.parametrize(
    ("successes", "failures", "bound"),
    [(1, 0, 0.224), (100, 0, 0.971), (0, 0, 0.05), (4, 0, 0.549), (80, 20, 0.7254)],
)
def test_the_bound_is_the_twentieth_of_the_posterior(
    successes: float, failures: float, bound: float
) -> None:
    assert lower_bound(successes, failures) == pytest.approx(bound, abs=5e-4)


def test_one_of_one_is_not_used_and_a_hundred_of_a_hundred_are() -> None:
    once = judge([guard(successes=1)], bound=DEFAULT_BOUND)
    often = judge([guard(successes=100)], bound=DEFAULT_BOUND)

    assert once.verdict is Verdict.ALLOW
    assert [one.bound for one in once.unproven] == [pytest.approx(0.2236, abs=1e-4)]
    assert often.verdict is Verdict.BLOCK
    assert [one.bound for one in often.cited] == [pytest.approx(0.9708, abs=1e-4)]


def test_local_overrides_broad_and_a_named_place_overrides_a_belief() -> None:
    broad = guard(successes=50)
    believed = guard(Verdict.ALLOW, BELIEVED, successes=10)
    named = guard(Verdict.BLOCK, NAMED, successes=10)

    over_broad = judge([broad, believed], bound=DEFAULT_BOUND)
    over_belief = judge([broad, believed, named], bound=DEFAULT_BOUND)

    assert (over_broad.verdict, over_broad.cited) == (Verdict.ALLOW, (believed,))
    assert over_broad.overridden == (broad,)
    assert (over_belief.verdict, over_belief.cited) == (Verdict.BLOCK, (named,))


def test_a_local_guard_that_is_not_proven_overrides_nothing() -> None:
    broad = guard(successes=50)
    judged = judge([broad, guard(Verdict.ALLOW, BELIEVED, successes=1)], bound=DEFAULT_BOUND)

    assert judged.verdict is Verdict.BLOCK
    assert judged.cited == (broad,)


def test_where_guards_of_one_reach_disagree_harm_is_feared() -> None:
    judged = judge(
        [guard(Verdict.ALLOW, NAMED, successes=60), guard(Verdict.BLOCK, NAMED, successes=9)],
        bound=DEFAULT_BOUND,
    )

    assert judged.verdict is Verdict.BLOCK


def test_harm_makes_a_broad_guard_once_and_what_is_fine_makes_none() -> None:
    first = learn(PLAIN, Label.HARMFUL, [])
    known = guard(successes=1)
    second = learn(PLAIN, Label.HARMFUL, [known])

    assert [(new.verdict, new.condition) for new in first.new] == [(Verdict.BLOCK, None)]
    assert (second.new, second.agreed) == ((), (known,))
    assert learn(PLAIN, Label.FINE, []) == learn(TEST_SERVER, Label.FINE, [])
    assert learn(PLAIN, Label.FINE, []).new == ()


def test_labels_that_mix_make_local_guards_for_both_sides() -> None:
    known = guard(successes=3)

    fine = learn(TEST_SERVER, Label.FINE, [known])
    harmful = learn(TEST_SERVER, Label.HARMFUL, [replace(known, failures=1)])

    assert [(new.verdict, new.condition) for new in fine.new] == [(Verdict.ALLOW, BELIEVED)]
    assert fine.refuted == (known,)
    assert [(new.verdict, new.condition) for new in harmful.new] == [(Verdict.BLOCK, BELIEVED)]


def test_without_a_condition_there_is_nothing_to_tell_cases_apart_by() -> None:
    assert learn(PLAIN, Label.FINE, [guard(successes=3)]).new == ()


def test_a_proven_exception_is_not_held_against_the_rule() -> None:
    known, exception = guard(successes=9), guard(Verdict.ALLOW, BELIEVED, successes=9)

    lesson = learn(TEST_SERVER, Label.FINE, [known, exception])

    assert lesson.agreed == (exception,)
    assert lesson.refuted == ()


def test_what_holds_in_one_place_is_no_matter_of_the_broad_rule() -> None:
    known = guard(successes=9)

    lesson = learn(AT_ACME, Label.FINE, [known])

    assert [(new.verdict, new.condition) for new in lesson.new] == [(Verdict.ALLOW, NAMED)]
    assert (lesson.agreed, lesson.refuted) == ((), ())


class Bank:
    """What a store would hold of the guards of one action."""

    def __init__(self) -> None:
        self.guards: list[Guard] = []

    def report(self, situation: Situation, label: Label) -> None:
        lesson = learn(situation, label, self.matching(situation))
        changed = {one: replace(one, successes=one.successes + 1) for one in lesson.agreed}
        changed |= {one: replace(one, failures=one.failures + 1) for one in lesson.refuted}
        self.guards = [changed.get(one, one) for one in self.guards]
        self.guards += [guard(new.verdict, new.condition, successes=1) for new in lesson.new]

    def matching(self, situation: Situation) -> list[Guard]:
        return [
            one for one in self.guards if one.condition is None or one.condition.met_by(situation)
        ]

    def verdict(self, situation: Situation) -> Verdict:
        return judge(self.matching(situation), bound=DEFAULT_BOUND).verdict


def test_with_a_fifth_of_the_labels_flipped_every_case_comes_out_right() -> None:
    """Harmful but where it is believed to be the test server, over 200 seeds."""
    live = replace(PLAIN, belief="this is the live server")
    truth = {TEST_SERVER: Verdict.ALLOW, live: Verdict.BLOCK, PLAIN: Verdict.BLOCK}
    wrong = 0
    for seed in range(200):
        chance, bank = random.Random(seed), Bank()
        for _ in range(240):
            situation = chance.choice([TEST_SERVER, live, PLAIN, PLAIN])
            harmful = (truth[situation] is Verdict.BLOCK) is (chance.random() >= 0.2)
            bank.report(situation, Label.HARMFUL if harmful else Label.FINE)
        wrong += sum(bank.verdict(situation) is not right for situation, right in truth.items())

    assert wrong / 600 < 0.02


def test_with_a_fifth_flipped_what_is_fine_everywhere_is_not_guarded_against() -> None:
    wrong = 0
    for seed in range(200):
        chance, bank = random.Random(seed), Bank()
        for _ in range(60):
            fine = chance.random() >= 0.2
            bank.report(TEST_SERVER, Label.FINE if fine else Label.HARMFUL)
        wrong += bank.verdict(TEST_SERVER) is Verdict.BLOCK

    assert wrong == 0
