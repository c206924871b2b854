"""Which observations say that an action changed nothing, as the runs themselves show it: no list
of one environment's error messages."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memserver.domain.trajectories import Step, Trajectory
from memserver_skills.words import forms, one_line, stems

# An answer that so many kinds of action get, and that none of them is named in, is about none
# of them.
HEADS = 3
# What is longer describes a place.
LONGEST = 160
KEPT = 40
# Among many answers one names its action by chance, or comes with a reward that was due anyway.
SLIPS = 0.05

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Answer:
    """What was seen after an action, and whether the action was worth something."""

    action: str
    seen: str
    rewarded: bool


def answers(steps: Sequence[Step], *, success: bool = False) -> Iterator[Answer]:
    """Every action with what was seen next; what ends a success was worth something."""
    for place, (step, following) in enumerate(pairwise(steps)):
        if step.action.strip() and following.observation.strip():
            last = place + 2 == len(steps)
            yield Answer(
                step.action, following.observation, (step.reward or 0) > 0 or (success and last)
            )


def seen_after(steps: Sequence[Step], position: int) -> str:
    """What was seen after the action of a step; empty where nothing came after it."""
    following = steps[position + 1 : position + 2]
    return following[0].observation if following else ""


def normal_answer(seen: str) -> str:
    """The form in which observations are compared: one line, folded, numbers left open."""
    return _NUMBER.sub("#", one_line(seen).casefold())


def did_nothing(steps: Sequence[Step], position: int, failed: Collection[str]) -> bool:
    """Whether the answer to a step's action is one of those that say so."""
    return normal_answer(seen_after(steps, position)) in failed


def failed_answers(runs: Iterable[Trajectory]) -> tuple[str, ...]:
    """Observations, in their normal form, that say that an action did nothing: they came after
    actions of at least three kinds, and (but for a few slips) name nothing of those actions,
    ended no success and came with no reward. The commonest first; at most 40."""
    return _failed(answer for run in runs for answer in answers(run.steps, success=run.succeeded))


def failed_in(steps: Sequence[Step]) -> tuple[str, ...]:
    """The same of one run that is not over."""
    return _failed(answers(steps))


def _failed(seen: Iterable[Answer]) -> tuple[str, ...]:
    heads: dict[str, set[str]] = defaultdict(set)
    actions: dict[str, set[str]] = defaultdict(set)
    told: Counter[str] = Counter()
    silent: Counter[str] = Counter()
    for answer in seen:
        normal = normal_answer(answer.seen)
        spoken = forms(answer.action)
        if len(normal) > LONGEST or not spoken:
            continue
        if answer.rewarded or stems(normal) & stems(answer.action):
            told[normal] += 1
        else:
            silent[normal] += 1
            heads[normal].add(spoken[0])
            actions[normal].add(one_line(answer.action).casefold())
    common = [
        (-len(actions[normal]), normal)
        for normal, held in heads.items()
        if len(held) >= HEADS and told[normal] <= SLIPS * silent[normal]
    ]
    return tuple(normal for _, normal in sorted(common)[:KEPT])
