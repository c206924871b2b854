"""Where a task stands, in a block of text that is no longer at the end than at the beginning, and
what each step of the way is worth.

Constant-context skill learning keeps a deterministic tracker beside the model: it sees every step,
renders the state compactly, and pays for subgoals reached. Both follow from the stored run alone,
so that they replay exactly."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memserver.domain.items import SkillBody
from memserver.domain.trajectories import Step, Trajectory
from memserver_skills.evolution.following import matches
from memserver_skills.grounding import ground
from memserver_skills.words import shorten

LINE = 120
RECENT = 3
LISTED = 12


@dataclass(frozen=True, slots=True)
class Tracked:
    """The subgoals of a task, in order, how many of them are reached, and the last few things that
    were done and seen."""

    goal: str
    subgoals: tuple[str, ...]
    reached: int = 0
    steps: int = 0
    recent: tuple[str, ...] = ()
    seen: str = ""

    @property
    def next_subgoal(self) -> str | None:
        return self.subgoals[self.reached] if self.reached < len(self.subgoals) else None

    def after(self, step: Step) -> "Tracked":
        """A subgoal is reached by the action that does it, in their order, one an action."""
        done = self.next_subgoal is not None and matches(self.next_subgoal, step.action)
        recent = self.recent
        if step.action.strip():
            recent = (*recent, shorten(step.action, LINE))[-RECENT:]
        return replace(
            self,
            reached=self.reached + done,
            steps=self.steps + bool(step.action.strip()),
            recent=recent,
            seen=shorten(step.observation, LINE) if step.observation.strip() else self.seen,
        )


def begun(body: SkillBody, goal: str) -> Tracked:
    """The state before the first step, with a skill's steps, fitted to the goal, as subgoals."""
    fitted = ground(body, goal) or body
    return Tracked(shorten(goal, LINE), tuple(step.action for step in fitted.steps))


def render(state: Tracked) -> str:
    """A block of at most `LONGEST` characters, however many steps were done."""
    listed = state.subgoals[state.reached : state.reached + LISTED]
    more = len(state.subgoals) - state.reached - len(listed)
    lines = [
        f"Goal: {state.goal}",
        f"Reached: {state.reached} of {len(state.subgoals)}",
        *(f"{'Next' if n == 0 else 'Then'}: {shorten(one, LINE)}" for n, one in enumerate(listed)),
        *([f"Then {more} more"] if more > 0 else []),
        *(f"Did: {one}" for one in state.recent),
        *([f"Saw: {state.seen}"] if state.seen else []),
    ]
    return "\n".join(lines)


LONGEST = (LISTED + RECENT + 2) * (LINE + 8) + 2 * 40
"""Of a rendered block: a goal, the listed subgoals, what was done and seen last, and two counts."""


def states(body: SkillBody, run: Trajectory) -> tuple[Tracked, ...]:
    """The state before the first step and after each."""
    found = [begun(body, run.task.goal)]
    for step in run.steps:
        found.append(found[-1].after(step))
    return tuple(found)


def rewards(body: SkillBody, run: Trajectory) -> tuple[float, ...]:
    """What each step earns: its share of the subgoals where it reaches one, else nothing. They add
    up to the share of the subgoals that the run reached, at most 1."""
    along = states(body, run)
    share = 1 / len(along[0].subgoals) if along[0].subgoals else 0.0
    return tuple(
        share * (after.reached - before.reached) for before, after in itertools.pairwise(along)
    )


def blocks(body: SkillBody, run: Trajectory) -> Sequence[str]:
    """What a model is shown at each step: the state before it, and nothing of what lies further
    back."""
    return [render(state) for state in states(body, run)[:-1]]
