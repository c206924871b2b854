"""Runs in terms of slots: goal, actions and what was seen, with the goal's own words left open."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memserver.domain.items import Slot
from memserver.domain.trajectories import Trajectory
from memserver_skills.failed_actions import seen_after
from memserver_skills.goal_templates import (
    INSTANCE,
    GoalTemplate,
    Grammar,
    goal_templates,
    read_grammar,
    spans_of,
)
from memserver_skills.words import SLOT, one_line, slot_type, words

SHORT = 80
_CLOSING = " .!?\t\n"


@dataclass(frozen=True, slots=True)
class Slotted:
    """A run with its goal and actions in terms of slots.

    `key` is the template in the form in which templates are compared, `earlier` what it was with
    fewer runs, `template` the same as this goal words it; `lines[n]` is the slotted action of
    step `positions[n]` (steps without an action are left out) and `after[n]` what was seen next,
    where it is short.
    """

    run: Trajectory
    key: str
    earlier: tuple[str, ...]
    template: str
    slots: tuple[Slot, ...]
    lines: tuple[str, ...]
    positions: tuple[int, ...]
    after: tuple[str, ...]

    @property
    def score(self) -> float:
        """That of its outcome; 0 while that is not known."""
        return self.run.outcome.score if self.run.outcome is not None else 0.0

    @property
    def values(self) -> dict[str, str]:
        return {slot.name: slot.example for slot in self.slots}


def slotted(runs: Sequence[Trajectory], grammar: Grammar | None = None) -> tuple[Slotted, ...]:
    """Every run with its slots, ordered by time and id. Templates are found over all runs."""
    ordered = sorted(runs, key=lambda run: (run.created_at, run.id.int))
    grammar = grammar or read_grammar(ordered)
    templates = goal_templates(ordered, grammar)
    return tuple(
        _slot_run(run, template, grammar) for run, template in zip(ordered, templates, strict=True)
    )


def _slot_run(run: Trajectory, found: GoalTemplate, grammar: Grammar) -> Slotted:
    goal, text = words(run.task.goal), run.task.goal
    values = {
        name: one_line(text[goal[start].start : goal[end - 1].end])
        for name, (start, end) in spans_of(found.key, run).items()
    }
    slot = _slotter(values, grammar)
    acted = [place for place, step in enumerate(run.steps) if step.action.strip()]
    return Slotted(
        run=run,
        key=found.key,
        earlier=found.earlier,
        template=slot(text).strip(_CLOSING),
        slots=tuple(Slot(name, slot_type(name), value) for name, value in sorted(values.items())),
        lines=tuple(slot(run.steps[place].action) for place in acted),
        positions=tuple(acted),
        after=tuple(slot(_next_seen(run, place)) for place in acted),
    )


def _next_seen(run: Trajectory, position: int) -> str:
    seen = seen_after(run.steps, position)
    return seen if len(seen) <= SHORT else ""


def put_in_slots(text: str, values: Mapping[str, str]) -> str:
    """The text in one line, with every value replaced by its slot."""
    return _slotter(values, Grammar(frozenset(), frozenset(), frozenset()))(text)


def _slotter(values: Mapping[str, str], grammar: Grammar) -> Callable[[str], str]:
    """A function that puts a text in one line with every value replaced by its slot, and without
    the numbers that only tell instances apart. What only looks like a slot gets other brackets."""
    names = {value.casefold(): name for name, value in values.items()}
    longest_first = sorted(values.values(), key=lambda value: (-len(value), value))
    phrases = "|".join(r"\s+".join(map(re.escape, value.split())) for value in longest_first)
    known = re.compile(rf"(?<!\w)({phrases})(?!\w)(?: \d+(?!\w))?", re.IGNORECASE)

    def named(found: re.Match[str]) -> str:
        name = names.get(found.group(1).casefold())
        return found.group() if name is None else "{" + name + "}"

    def unnumbered(found: re.Match[str]) -> str:
        word = found.group(1)
        return word if word.casefold() in grammar.numbered else found.group()

    def slot(text: str) -> str:
        text = INSTANCE.sub(unnumbered, SLOT.sub(r"<\1>", one_line(text)))
        return known.sub(named, text) if values else text

    return slot
