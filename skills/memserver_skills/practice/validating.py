"""Says which runs of practice may enter memory.

After Preping's validator (what is rejected informs the proposer only) and the step checks of RATs.
A run is believed by what its environment said, step by step and at the end, never by its agent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memserver.domain.items import SkillBody
from memserver.domain.practice import PracticeGoal, Refusal
from memserver.domain.trajectories import OutcomeSource, Step, Trajectory, normal_goal
from memserver_skills.failed_actions import answers, failed_answers, normal_answer
from memserver_skills.guiding import guide
from memserver_skills.words import forms, one_line, shorten

# More of the answered actions than this must have done something.
WORKED = 0.5
# A run is like the successes before it when it passed this share of what they all pass.
PASSED = 0.5
QUOTED = 120


@dataclass(frozen=True, slots=True)
class Expectation:
    """A skill whose steps say what successes pass on their way."""

    body: SkillBody
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`refusal` is None where the run may enter memory; `reason` says why not, in words."""

    refusal: Refusal | None = None
    reason: str = ""

    @property
    def passes(self) -> bool:
        return self.refusal is None


def validate(
    goal: PracticeGoal,
    run: Trajectory,
    *,
    others: Iterable[Trajectory] = (),
    expectations: Sequence[Expectation] = (),
) -> Verdict:
    """Judges a run of a goal that was proposed. `others` are the runs of the namespace, which show
    what their environment says when an action does nothing."""
    if not _same_task(goal, run):
        return Verdict(Refusal.ANOTHER_GOAL, "the run is of another goal or environment")
    outcome = run.outcome
    acted = [step for step in run.steps if step.action.strip()]
    if outcome is None:
        return Verdict(Refusal.NOT_JUDGED, "nobody said how the run went")
    if outcome.source is OutcomeSource.AGENT:
        return Verdict(Refusal.NOT_JUDGED, "only the agent itself said how the run went")
    if not outcome.success:
        return _failed(goal, run.steps, acted)
    if not acted:
        return Verdict(Refusal.NO_STEPS, "the run has no actions")
    idle = _idle(run, others)
    if idle is not None:
        return Verdict(Refusal.NOTHING_HAPPENED, idle)
    missed = _missed(run, expectations)
    return Verdict() if missed is None else Verdict(Refusal.UNVERIFIED, missed)


def _same_task(goal: PracticeGoal, run: Trajectory) -> bool:
    wanted, had = goal.task, run.task
    return normal_goal(wanted.goal) == normal_goal(had.goal) and (
        had.environment is None or had.environment == wanted.environment
    )


def _failed(goal: PracticeGoal, steps: Sequence[Step], acted: Sequence[Step]) -> Verdict:
    """Infeasible where nothing could be tried, or what the goal names was nowhere to be seen; else
    it was tried and not reached."""
    if not acted:
        return Verdict(Refusal.INFEASIBLE, "the goal could not even be begun")
    spoken = one_line(goal.task.goal).casefold().rstrip(".!?")
    seen = [forms(one_line(s.observation).casefold().replace(spoken, " ")) for s in steps]
    if any(seen):
        missing = [value for value in goal.values.values() if not _holds(seen, forms(value))]
        if missing:
            named = ", ".join(sorted(missing))
            return Verdict(Refusal.INFEASIBLE, f"never seen: {shorten(named, QUOTED)}")
    return Verdict(Refusal.FAILED, "the goal was not reached")


def _holds(seen: Sequence[Sequence[str]], value: Sequence[str]) -> bool:
    wanted = tuple(value)
    return any(
        tuple(said[start : start + len(wanted)]) == wanted
        for said in seen
        for start in range(len(said) - len(wanted) + 1)
    )


def _idle(run: Trajectory, others: Iterable[Trajectory]) -> str | None:
    """Why the run did next to nothing; None where it did something. The last action's answer is the
    outcome itself."""
    told = list(answers(run.steps))
    if not told:
        return None
    unclaimed = replace(run, outcome=None)  # the success that is claimed must not speak for itself
    failed = frozenset(failed_answers([*others, unclaimed]))
    worked = sum(normal_answer(answer.seen) not in failed for answer in told)
    if worked > WORKED * len(told):
        return None
    return f"{len(told) - worked} of {len(told)} actions did nothing"


def _missed(run: Trajectory, expectations: Sequence[Expectation]) -> str | None:
    """What the run did not pass; None where one skill for its goal is satisfied, or there is
    none."""
    missed: list[str] = []
    for one in expectations:
        found = guide(one.body, one.metadata, run.steps, goal=run.task.goal)
        if found is None or not one.body.steps:
            continue
        passed = len(found.done)
        if passed >= PASSED * len(one.body.steps):
            return None
        missed.append(f"it passed {passed} of the {len(one.body.steps)} steps that verify it")
    return missed[0] if missed else None
