"""Whether what was distilled may come into use, and whether it may stay.

Three ways: at once; on trial, judged by its first uses; or not before it tells runs that it was not
made from better than the library does. A subgoal that no success has shown yet is a hypothesis and
waits in every case (SDG; Yunjue, which has nothing but success and failure to go by)."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from memserver.domain.evidence import Belief
from memserver.domain.items import Kind, SkillBody, Status, Version
from memserver.domain.namespace_settings import Admission
from memserver.domain.trajectories import Trajectory
from memserver_skills.evolution.following import (
    actions_of,
    contains,
    grounded_actions,
    unnumbered,
)
from memserver_skills.plans import Rated
from memserver_skills.steps_score import normal_line, score_steps

AWAITS = "awaits"
"""Under this key the metadata of what is not in use yet says what it waits for."""
HYPOTHESIS = "hypothesis"
"""Under this key a distiller says that no success has shown what it proposes."""
FIRST_USES = 5
LEAST_BOUND = 0.2
RUNS_LOOKED_AT = 60
RIVALS_LOOKED_AT = 60


def awaited(kind: Kind, metadata: Mapping[str, Any], admission: str) -> str | None:
    """What something new has to wait for before it is used, None for nothing."""
    if metadata.get(HYPOTHESIS) is True:
        return "verification"
    if admission == Admission.HELD_OUT and kind is Kind.SKILL:
        return Admission.HELD_OUT.value
    return None


def waits_for(rated: Rated) -> str | None:
    """What an item waits for that is kept out of use by its admission, and by nobody else."""
    if rated.entry.item.status is not Status.QUARANTINED:
        return None
    version = rated.entry.version
    # Anybody may write metadata; only what was distilled waits for anything.
    reason = version.metadata.get(AWAITS) if version.method.startswith("distill") else None
    return reason if isinstance(reason, str) else None


def on_trial(version: Version, belief: Belief, admission: str) -> bool:
    """In use and offered, but not counted as proven: too few of its uses have spoken."""
    return (
        admission == Admission.FIRST_USES
        and version.method.startswith("distill")
        and belief.outcomes < FIRST_USES
    )


def failed_trial(version: Version, belief: Belief, admission: str) -> bool:
    """Enough of its uses have spoken, and against it."""
    return (
        admission == Admission.FIRST_USES
        and version.method.startswith("distill")
        and belief.outcomes >= FIRST_USES
        and belief.lower_bound < LEAST_BOUND
    )


def verified_by(body: SkillBody, runs: Sequence[Trajectory]) -> tuple[Trajectory, ...]:
    """The successes that did what it says."""
    return tuple(
        run
        for run in runs
        if run.succeeded and contains(grounded_actions(body, run.task.goal), run)
    )


class Agreeing:
    """How well the steps of skills tell what runs did, each pair looked at once: newcomers of one
    kind are held against the same runs and the same rivals."""

    def __init__(self) -> None:
        self._known: dict[tuple[UUID, UUID], float] = {}
        self._lines: dict[UUID, frozenset[str]] = {}

    def __call__(self, skill: Rated, run: Trajectory) -> float:
        """In [0, 1]; the steps are fitted to the run's goal."""
        pair = (skill.version, run.id)
        if pair not in self._known:
            self._known[pair] = _agreement(skill, run)
        return self._known[pair]

    def rivals(self, new: Rated, bank: Sequence[Rated]) -> list[Rated]:
        """Those in use that say most of what the newcomer says, for its kind of task."""
        own = self._said(new)
        able = [one for one in bank if _is_rival(one, new)]
        able.sort(key=lambda one: (-len(own & self._said(one)), one.item))
        return able[:RIVALS_LOOKED_AT]

    def _said(self, one: Rated) -> frozenset[str]:
        if one.version not in self._lines:
            body = one.entry.version.body
            steps = body.steps if isinstance(body, SkillBody) else ()
            self._lines[one.version] = frozenset(normal_line(step.action) for step in steps)
        return self._lines[one.version]


def gain(
    new: Rated, bank: Sequence[Rated], runs: Sequence[Trajectory], agreeing: Agreeing
) -> tuple[float, tuple[Trajectory, ...]]:
    """By how much the newcomer raises what the bank tells of successful runs that the newcomer
    was not made from, as a mean of how the best skill's steps agree with what was done; and those
    runs. Runs of its own type of task, the newest first, which is how they come."""
    version = new.entry.version
    own = {source.trajectory_id for source in version.sources}
    held_out = list(
        itertools.islice(
            (
                run
                for run in runs
                if run.succeeded
                and run.id not in own
                and version.task_type in (None, run.task.type)
                and actions_of(run)
            ),
            RUNS_LOOKED_AT,
        )
    )
    if not held_out:
        return 0.0, ()
    rivals = agreeing.rivals(new, bank)
    gained = 0.0
    for run in held_out:
        known = max((agreeing(rival, run) for rival in rivals), default=0.0)
        gained += max(0.0, agreeing(new, run) - known)
    return gained / len(held_out), tuple(held_out)


def _agreement(skill: Rated, run: Trajectory) -> float:
    body = skill.entry.version.body
    if not isinstance(body, SkillBody):
        return 0.0
    offered = map(unnumbered, grounded_actions(body, run.task.goal))
    return score_steps(list(offered), list(map(unnumbered, actions_of(run)))).score


def _is_rival(one: Rated, new: Rated) -> bool:
    types = (None, new.entry.version.task_type)
    return (
        one.item != new.item
        and isinstance(one.entry.version.body, SkillBody)
        and (new.entry.version.task_type is None or one.entry.version.task_type in types)
    )
