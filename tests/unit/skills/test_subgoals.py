"""Subgoals: what runs do again and again is a hypothesis until one of them succeeded with it."""

from memserver.domain.items import Kind, SkillBody
from memserver.domain.trajectories import Trajectory
from memserver_skills.evolution.admission import HYPOTHESIS, awaited, verified_by
from memserver_skills.proposals import Proposal
from memserver_skills.subgoals import distil_subgoals
from tests.unit.skills.runs import run


def body(proposal: Proposal) -> SkillBody:
    assert isinstance(proposal.body, SkillBody)
    return proposal.body


def opened(name: str, *, success: bool, last: str) -> Trajectory:
    actions = ["go to safe", "turn the dial", "open safe", last]
    return run("fetch the ring from the vault", actions, success=success, name=name)


def test_a_stretch_that_no_success_has_shown_is_a_hypothesis() -> None:
    failed = [opened("a", success=False, last="leave"), opened("b", success=False, last="wait")]
    (found,) = distil_subgoals(failed)
    assert [step.action for step in body(found).steps] == [
        "go to safe",
        "turn the dial",
        "open safe",
    ]
    assert found.metadata == {HYPOTHESIS: True}
    assert awaited(Kind.SKILL, found.metadata, "none") == "verification"
    assert {source.steps for source in found.sources} == {(0, 1, 2)}


def test_one_success_with_it_makes_it_a_skill() -> None:
    seen = [opened("a", success=False, last="leave"), opened("b", success=True, last="take ring")]
    (found,) = distil_subgoals(seen)
    assert found.metadata == {HYPOTHESIS: False}
    assert awaited(Kind.SKILL, found.metadata, "none") is None


def test_a_later_success_verifies_it_and_a_later_failure_does_not() -> None:
    failed = [opened("a", success=False, last="leave"), opened("b", success=False, last="wait")]
    (found,) = distil_subgoals(failed)
    success = opened("c", success=True, last="take ring")
    other = run("fetch the ring from the vault", ["open safe", "go to safe"], success=True)
    assert verified_by(body(found), [*failed, success, other]) == (success,)


def test_what_was_done_once_is_no_subgoal() -> None:
    assert distil_subgoals([opened("a", success=False, last="leave")]) == []
