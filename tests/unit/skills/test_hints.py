"""Hints: where failures left the path of a success of the same task."""

from memserver.domain.items import HintBody, Kind
from memserver_skills.hints import distil_hints
from memserver_skills.proposals import Proposal
from tests.unit.skills.runs import put, run

GOOD = put("mug", "cart", "shelf")
GOAL = GOOD.task.goal


def body(proposal: Proposal) -> HintBody:
    assert isinstance(proposal.body, HintBody)
    return proposal.body


def failed(*actions: str, **kwargs: str) -> Proposal:
    [hint] = distil_hints([GOOD, run(GOAL, actions, success=False, **kwargs)])
    return hint


def test_the_hint_says_what_the_success_did_where_the_failure_left_it() -> None:
    hint = failed("go to shelf", "take mug from shelf", "go to sink", "drop mug")

    assert hint.kind is Kind.HINT
    assert body(hint).do == "go to {place}"
    assert body(hint).avoid == "go to sink"
    assert "put some {object} on {place}" in body(hint).when
    assert "after take {object} from shelf" in body(hint).when


def test_a_run_that_stopped_is_told_how_to_go_on() -> None:
    hint = failed("go to shelf", "take mug from shelf")

    assert body(hint).do == "go to {place}"
    assert body(hint).avoid == ""


def test_runs_that_part_at_once_part_at_the_start() -> None:
    assert "at the start" in body(failed("sing")).when


def test_the_success_that_the_failure_follows_longest_is_compared() -> None:
    other = run(GOAL, ["go to desk", "take mug from desk", "go to cart", "move mug to cart"])
    bad = run(GOAL, ["go to desk", "take mug from desk", "wait"], success=False)

    [hint] = distil_hints([GOOD, other, bad])

    assert (body(hint).do, body(hint).avoid) == ("go to {place}", "wait")


def test_what_other_successes_did_there_too_is_no_mistake() -> None:
    other = run(GOAL, ["look around", "go to shelf", "take mug from shelf", "go to cart"])
    elsewhere = put("cup", "sofa", "desk")
    bad = run(GOAL, ["look around", "sing"], success=False)
    innocent = run(elsewhere.task.goal, ["look around"], success=False)

    hints = distil_hints([GOOD, other, elsewhere, bad, innocent])

    assert [body(hint).avoid for hint in hints] == ["sing"]


def test_failures_at_one_point_make_one_hint_with_all_sources() -> None:
    bad = [
        run(GOAL, ["go to shelf", what], success=False) for what in ["sing", "dance", "sing now"]
    ]

    [hint] = distil_hints([GOOD, *bad])

    assert hint.metadata["failures"] == 3
    assert {source.trajectory_id for source in hint.sources} == {one.id for one in [GOOD, *bad]}
    assert {source.steps for source in hint.sources} == {(1,)}


def test_siblings_by_template_id_are_compared_where_the_goal_has_no_success() -> None:
    sibling = put("cup", "cart", "shelf", template_id="t")
    bad = run("put some pen on cart", ["go to shelf", "sing"], success=False, template_id="t")

    [hint] = distil_hints([sibling, bad])

    assert body(hint).avoid == "sing"


def test_a_failure_that_did_all_that_the_success_did_gives_no_hint() -> None:
    done = [step.action for step in GOOD.steps]

    assert distil_hints([GOOD, run(GOAL, [*done, "sing"], success=False)]) == []
    assert distil_hints([run(GOAL, ["sing"], success=False)]) == []


def test_the_order_of_the_runs_does_not_matter() -> None:
    runs = [GOOD, *(run(GOAL, ["go to shelf", what], success=False) for what in "abc")]

    assert distil_hints(runs[::-1]) == distil_hints(runs)
