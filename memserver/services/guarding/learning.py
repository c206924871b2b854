"""From one report to what is learnt: which guards it agrees with, and which it calls into being.

A failure becomes a broad rule. Where its labels come to mix, what sets the cases apart (a belief)
gets local rules of its own, for and against; a place that the reporter names gets them at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from memserver.services.guarding.bounds import DEFAULT_BOUND
from memserver.services.guarding.situations import (
    SPEAKS_FOR,
    Condition,
    Guard,
    Label,
    Situation,
    Verdict,
    condition_of,
)


@dataclass(frozen=True, slots=True)
class NewGuard:
    verdict: Verdict
    condition: Condition | None


@dataclass(frozen=True, slots=True)
class Lesson:
    """`agreed` and `refuted` gain one report each, `new` begin with one."""

    agreed: tuple[Guard, ...] = ()
    refuted: tuple[Guard, ...] = ()
    new: tuple[NewGuard, ...] = ()


def learn(situation: Situation, label: Label, guards: Sequence[Guard]) -> Lesson:
    """`guards` are those that match the situation, proven or not."""
    says = SPEAKS_FOR[label]
    if situation.local_to:
        return _local_only(Condition(True, situation.local_to), says, guards)
    local = [guard for guard in guards if guard.condition is not None]
    broad = [guard for guard in guards if guard.condition is None]
    heard = [*local, *([] if _explained(says, local) else broad)]
    new: list[NewGuard] = []
    if says is Verdict.BLOCK and not broad:
        new.append(NewGuard(says, None))
    condition = condition_of(situation)
    if condition is not None and _mixed(says, broad) and not _has(says, local):
        new.append(NewGuard(says, condition))
    return _lesson(says, heard, new)


def _local_only(condition: Condition, says: Verdict, guards: Sequence[Guard]) -> Lesson:
    """The reporter says that it holds in one place: no other rule hears of it."""
    there = [guard for guard in guards if guard.condition is not None and guard.condition.named]
    new = [] if _has(says, there) else [NewGuard(says, condition)]
    return _lesson(says, there, new)


def _explained(says: Verdict, local: Sequence[Guard]) -> bool:
    """Whether a proven exception accounts for the report: then it is not held against the rule."""
    return says is Verdict.ALLOW and any(
        guard.verdict is says and guard.bound >= DEFAULT_BOUND for guard in local
    )


def _mixed(says: Verdict, broad: Sequence[Guard]) -> bool:
    return any(
        guard.verdict is not says or (guard.successes > 0 and guard.failures > 0) for guard in broad
    )


def _has(verdict: Verdict, guards: Sequence[Guard]) -> bool:
    return any(guard.verdict is verdict for guard in guards)


def _lesson(says: Verdict, heard: Sequence[Guard], new: Sequence[NewGuard]) -> Lesson:
    return Lesson(
        agreed=tuple(guard for guard in heard if guard.verdict is says),
        refuted=tuple(guard for guard in heard if guard.verdict is not says),
        new=tuple(new),
    )
