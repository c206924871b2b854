"""Rules from mistakes: told ones that are the same, and steps that only failures take."""

import random

from memserver.domain.items import Kind, RuleBody
from memserver.domain.trajectories import Trajectory
from memserver_skills.mistakes import distil_mistakes
from memserver_skills.proposals import Proposal
from tests.unit.skills.runs import put, run

LOOP = "Looping between the same empty cabinets instead of opening new ones."
LOOPS = "Loop between the same empty cabinets again and again instead of opening new cabinets."
WRONG = "Taking a similar object that the goal does not name."


def body(proposal: Proposal) -> RuleBody:
    assert isinstance(proposal.body, RuleBody)
    return proposal.body


def told(n: int, *mistakes: str) -> Trajectory:
    return run(f"find thing {n}", [], success=False, mistakes=mistakes, day=n)


def test_tellings_in_other_words_become_one_rule_with_all_sources() -> None:
    runs = [told(0, LOOP), told(1, LOOPS), told(2, WRONG)]

    rules = distil_mistakes(runs)

    assert [rule.metadata["runs"] for rule in rules] == [2, 1]
    assert rules[0].kind is Kind.RULE
    assert len(rules[0].sources) == 2
    assert rules[0].title.startswith("Avoid: loop")
    assert len(rules[0].title) <= 90


def test_among_many_runs_a_mistake_of_one_is_not_common() -> None:
    runs = [told(n, LOOP) for n in range(9)] + [told(9, WRONG)]

    [rule] = distil_mistakes(runs)

    assert rule.metadata["runs"] == 9


def test_when_and_avoid_are_kept_apart() -> None:
    [rule] = distil_mistakes([told(0, f"When: The cabinet is closed.\nAvoid: {LOOP}")])

    assert body(rule).when == "The cabinet is closed."
    assert body(rule).text == f"Avoid: {LOOP}"


def test_a_rule_keeps_its_signature_when_later_runs_tell_it_too() -> None:
    [before] = distil_mistakes([told(0, LOOP)])
    [after] = distil_mistakes([told(0, LOOP), told(1, LOOPS), told(2, LOOPS)])

    assert before.signature == after.signature


def test_steps_that_only_failures_take_become_a_rule() -> None:
    good = put("mug", "cart", "shelf")
    bad = [
        run(f"put some {thing} on cart.", ["go to shelf", "sing loudly"], success=False)
        for thing in ["cup", "pen", "vase"]
    ]

    [rule] = distil_mistakes([good, *bad])

    assert body(rule).text.startswith("Avoid: sing loudly.")
    assert {source.steps for source in rule.sources} == {(1,)}


def test_without_a_success_or_with_few_failures_no_step_is_blamed() -> None:
    good = put("mug", "cart", "shelf")
    bad = [
        run(f"put some {thing} on cart.", ["sing loudly"], success=False)
        for thing in ["cup", "pen", "vase"]
    ]

    assert distil_mistakes(bad) == []
    assert distil_mistakes([good, *bad[:2]]) == []


def test_the_order_of_the_runs_does_not_matter() -> None:
    runs = [told(n % 3, [LOOP, LOOPS, WRONG][n % 3], str(n)) for n in range(12)]
    shuffled = random.Random(1).sample(runs, len(runs))

    assert distil_mistakes(shuffled) == distil_mistakes(runs)
