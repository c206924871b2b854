"""A skill put right where the runs that used it went wrong.

What failed runs did at one step and successful ones did not becomes part of the skill: an action
that successes had before that step is put in as a step of its own; else the text says what not to
do there. A version a failure, as code skills are revised by RATs and LearnAct."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memserver.domain.items import SkillBody, SkillStep
from memserver.domain.trajectories import Trajectory
from memserver_skills.evolution.following import Followed, follow
from memserver_skills.grounding import ground
from memserver_skills.slots import put_in_slots
from memserver_skills.steps_score import normal_line

LEAST_FAILURES = 2
MOST_OF = 0.5


@dataclass(frozen=True, slots=True)
class Refined:
    """`runs` are all that the new words were taken from: who they are about is found by them."""

    body: SkillBody
    reason: str
    runs: tuple[Trajectory, ...]


def refine(
    body: SkillBody, *, failed: Sequence[Trajectory], succeeded: Sequence[Trajectory]
) -> Refined | None:
    """The skill with a correction of the step at which most of its failed runs parted from it,
    two at least; None where there is no such step, or where nothing is known that would be
    better."""
    parted: dict[int, list[tuple[Trajectory, Followed]]] = defaultdict(list)
    for run in failed:
        found = follow(body, run)
        if found.parted is not None:
            parted[found.parted].append((run, found))
    if not parted:
        return None
    step = max(parted, key=lambda number: (len(parted[number]), -number))
    wrong = parted[step]
    if len(wrong) < LEAST_FAILURES:
        return None
    runs = tuple(run for run, _ in wrong)
    said = f"{len(runs)} runs that used it failed where step {step + 1} was to be done"
    before = _before(body, step, succeeded)
    if before is not None:
        steps = (*body.steps[:step], SkillStep(before.action), *body.steps[step:])
        return Refined(
            replace(body, steps=steps),
            f"{said}; successes did “{before.action}” first",
            (*runs, *before.runs),
        )
    instead = _commonest(body, [(run, found.instead) for run, found in wrong])
    if instead is None:
        return None
    hint = (
        f"At step {step + 1} ({body.steps[step].action}): do not “{instead}” instead; "
        f"runs that did so failed."
    )
    if hint in body.text:
        return None
    text = f"{body.text.rstrip()}\n{hint}".strip()
    return Refined(replace(body, text=text), f"{said}; they did “{instead}” instead", runs)


@dataclass(frozen=True, slots=True)
class _Shown:
    """An action, and the runs that showed it."""

    action: str
    runs: tuple[Trajectory, ...]


def _before(body: SkillBody, step: int, succeeded: Sequence[Trajectory]) -> _Shown | None:
    """What more than half of the successes did, as the last thing before that step, that the
    skill does not say."""
    done: list[tuple[Trajectory, str | None]] = []
    for run in succeeded:
        found = follow(body, run)
        if found.parted is None:
            last = found.between[step][-1:]
            done.append((run, last[0] if last else None))
    action = _commonest(body, done)
    if action is None or _known(body, action) is not None:
        return None
    showed = (run for run, did in done if did is not None and _in_slots(body, run, did) == action)
    return _Shown(action, tuple(showed))


def _commonest(body: SkillBody, done: Sequence[tuple[Trajectory, str | None]]) -> str | None:
    """The action of more than half of these runs, in the skill's own slots."""
    said = Counter(_in_slots(body, run, action) for run, action in done if action is not None)
    if not said:
        return None
    action, times = max(said.items(), key=lambda pair: (pair[1], pair[0]))
    return action if times > MOST_OF * len(done) else None


def _in_slots(body: SkillBody, run: Trajectory, action: str) -> str:
    fitted = ground(body, run.task.goal)
    if fitted is None:
        return action.strip()
    own = {slot.name for slot in body.slots}
    values = {slot.name: slot.example for slot in fitted.slots if slot.example}
    return put_in_slots(action, {k: v for k, v in values.items() if k in own}).strip()


def _known(body: SkillBody, action: str) -> SkillStep | None:
    wanted = normal_line(action)
    return next((step for step in body.steps if normal_line(step.action) == wanted), None)
