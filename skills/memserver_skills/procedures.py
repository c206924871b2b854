"""Whether one procedure says the steps of another one, its slots standing for words of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memserver.domain.items import SkillBody
from memserver_skills.statements import ideas
from memserver_skills.words import SLOT

WIDEST = 4
MOST_TRIES = 20_000

Step = tuple[str, ...]
Binding = Mapping[str, Step]


@dataclass(frozen=True, slots=True)
class Fitted:
    """What each slot of the general procedure stands for in the other one."""

    binding: Binding

    def said(self, slot: str) -> str:
        return " ".join(self.binding[slot])


def steps_of(body: SkillBody) -> tuple[Step, ...]:
    return tuple(ideas(step.action) for step in body.steps)


def fits(steps: Sequence[Step], general: Sequence[Step]) -> Fitted | None:
    """How `general` says all of `steps`, in their order and with one meaning a slot; it may have
    steps between them. Two slots of `steps` are never one slot of `general`. None where it does
    not, or where finding out takes too long."""
    tries = 0
    # Each entry: place in `steps`, place in `general`, meanings so far.
    stack: list[tuple[int, int, dict[str, Step]]] = [(0, 0, {})]
    while stack:
        tries += 1
        if tries > MOST_TRIES:
            return None
        at, there, binding = stack.pop()
        if at == len(steps):
            return Fitted(binding)
        if len(general) - there < len(steps) - at:
            continue
        stack.append((at, there + 1, binding))
        stack += [
            (at + 1, there + 1, found) for found in _unify(steps[at], general[there], binding)
        ]
    return None


def _unify(step: Step, pattern: Step, binding: Binding) -> list[dict[str, Step]]:
    """The meanings of the pattern's slots under which it is the step, the shortest last."""
    if not pattern:
        return [] if step else [dict(binding)]
    head, rest = pattern[0], pattern[1:]
    if not SLOT.fullmatch(head):
        return _unify(step[1:], rest, binding) if step[:1] == (head,) else []
    known = binding.get(head)
    if known is not None:
        width = len(known)
        return _unify(step[width:], rest, binding) if step[:width] == known else []
    found = []
    for width in range(min(WIDEST, len(step) - len(rest)), 0, -1):
        value = step[:width]
        if value not in binding.values():
            found += _unify(step[width:], rest, {**binding, head: value})
    return found
