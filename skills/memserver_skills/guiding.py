"""Where a run stands on the way that a milestone skill describes, what is still to do, and what
to do otherwise after an action that failed.

After HiPlan's step hints {where you are, gap, correction} (Li et al. 2025)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memserver.domain.items import SkillBody
from memserver.domain.trajectories import Step
from memserver_skills.failed_actions import did_nothing, failed_in, seen_after
from memserver_skills.goal_templates import INSTANCE, WIDEST
from memserver_skills.grounding import bind, fill
from memserver_skills.milestones import FAILED, SEGMENTS
from memserver_skills.structures import operation
from memserver_skills.words import SLOT, one_line, shorten, stems, words

SEEN = 160
# What is seen is what a milestone expects when it has this share of the words expected.
SAME = 0.8


@dataclass(frozen=True, slots=True)
class Milestone:
    """`number` counts from 1; `at` is the step whose action reached it, None where none has."""

    number: int
    action: str
    expect: str
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Guidance:
    """`milestone` is the one to reach next, None where all are reached; `done` those reached, in
    order; `gap` the actions that lead to it and are still to do; `correction` what to do after an
    action that failed, None after one that did not."""

    milestone: Milestone | None
    done: tuple[Milestone, ...]
    gap: tuple[str, ...]
    correction: str | None = None


@dataclass(frozen=True, slots=True)
class _Way:
    """One segment: its lines for comparing (what the goal does not name is open) and for
    showing (open slots as they mostly were)."""

    patterns: tuple[str, ...]
    shown: tuple[str, ...]
    expect: str


def guide(
    body: SkillBody, metadata: Mapping[str, Any], steps: Sequence[Step], *, goal: str
) -> Guidance | None:
    """None where the skill does not fit the goal. A step's action answers the observation before
    it, so that the last step may be an observation alone."""
    ways = _ways(body, metadata, goal)
    if ways is None:
        return None
    failed = {*_texts(metadata.get(FAILED)), *failed_in(steps)}
    acted = list(_acted(steps, failed))
    reached: list[Milestone] = []
    since = 0
    for place, (position, action, seen, worked) in enumerate(acted):
        if not worked:
            continue
        number = _reached(ways, len(reached), action, seen)
        if number is None:
            continue
        for passed in range(len(reached), number + 1):
            way = ways[passed]
            at = position if passed == number else None
            reached.append(Milestone(passed + 1, way.shown[-1], way.expect, at))
        since = place + 1
    done = tuple(reached)
    correction = None
    if len(done) == len(ways):
        return Guidance(None, done, ())
    way = ways[len(done)]
    tried = [action for _, action, _, worked in acted[since:] if worked]
    gap = _gap(way, tried)
    if acted and not acted[-1][3]:
        _, action, seen, _ = acted[-1]
        correction = _correction(way, gap, action, seen)
    return Guidance(Milestone(len(done) + 1, way.shown[-1], way.expect), done, gap, correction)


def _ways(body: SkillBody, metadata: Mapping[str, Any], goal: str) -> tuple[_Way, ...] | None:
    widths = {slot.name: max(1, len(words(slot.example))) for slot in body.slots}
    fits = (bind(template, goal, widths=widths) for template in body.goal.splitlines())
    bound = next((found for found in fits if found is not None), None if body.goal else {})
    if bound is None:
        return None
    usual = {slot.name: slot.example for slot in body.slots if slot.example} | bound
    segments = metadata.get(SEGMENTS)
    lines: list[Sequence[str]] = [(step.action,) for step in body.steps]
    if isinstance(segments, list) and len(segments) == len(body.steps):
        # Steps that a person has rewritten since are led to by nothing that is known here.
        lines = [
            held if (held := _texts(way))[-1:] == (step.action,) else (step.action,)
            for way, step in zip(segments, body.steps, strict=True)
        ]
    return tuple(
        _Way(
            tuple(fill(line, bound) for line in way),
            tuple(fill(line, usual) for line in way),
            fill(step.expect, usual),
        )
        for way, step in zip(lines, body.steps, strict=True)
    )


def _texts(held: object) -> tuple[str, ...]:
    """What metadata says, where it has the shape of a list of texts."""
    return tuple(one for one in held if isinstance(one, str)) if isinstance(held, list) else ()


def _acted(steps: Sequence[Step], failed: set[str]) -> Iterator[tuple[int, str, str, bool]]:
    """For each action: its step, itself, what was seen next, and whether it did anything."""
    for position, step in enumerate(steps):
        if step.action.strip():
            worked = not did_nothing(steps, position, failed)
            yield position, step.action, seen_after(steps, position), worked


def _reached(ways: Sequence[_Way], start: int, action: str, seen: str) -> int | None:
    """The first milestone from `start` on that the action reaches; a later one that is reached
    takes those before it along."""
    for number in range(start, len(ways)):
        if _does(ways[number].patterns[-1], action):
            return number
    if start < len(ways) and _shows(ways[start].expect, seen):
        return start
    return None


def _does(pattern: str, action: str) -> bool:
    """Whether the action is the line's, its open slots standing for any words; numbers that tell
    instances apart do not matter."""
    opens = SLOT.match(pattern) or operation(pattern) == operation(action)
    widths = dict.fromkeys(SLOT.findall(pattern), WIDEST)
    said = one_line(action)
    return bool(opens) and any(
        bind(pattern, text, widths=widths) is not None for text in (said, INSTANCE.sub(r"\1", said))
    )


def _shows(expect: str, seen: str) -> bool:
    wanted = stems(expect)
    return bool(wanted) and len(wanted & stems(seen)) >= SAME * len(wanted)


def _gap(way: _Way, tried: Sequence[str]) -> tuple[str, ...]:
    """The lines after the last one that was done since the milestone before."""
    done = 0
    for action in tried:
        for place in range(done, len(way.patterns) - 1):
            if _does(way.patterns[place], action):
                done = place + 1
                break
    return way.shown[done:]


def _correction(way: _Way, gap: Sequence[str], action: str, seen: str) -> str:
    """What to do instead: the next action of the gap; where that is what failed, the one before
    it once more, whose effect it must have lacked."""
    told = f"“{one_line(action)}” did nothing (seen: {shorten(seen, SEEN)})."
    at = len(way.shown) - len(gap)
    if not _does(way.patterns[at], action):
        return f"{told} Do “{gap[0]}” instead."
    if at > 0:
        return f"{told} Do “{way.shown[at - 1]}” again first, then “{gap[0]}”."
    return f"{told} Look for what “{gap[0]}” needs and is not there yet."
