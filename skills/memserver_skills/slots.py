"""Finding the slots of goals: words of a goal that recur in what was done for it.

Nothing here knows an environment. A word of the goal is a candidate if the run's own actions
hold it and it neither opens actions (then it is a verb) nor carries grammar. Goals that agree
in all other words share a template."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memserver.domain.items import Slot
from memserver.domain.trajectories import Trajectory
from memserver_skills.grounding import match
from memserver_skills.words import (
    FUNCTION_WORDS,
    SLOT,
    Word,
    forms,
    one_line,
    template_words,
    words,
)

WIDEST = 4
SHORT = 80
_CLOSING = " .!?\t\n"
_INSTANCE = re.compile(r"(?<!\w)([^\W\d][\w'’-]*) (\d+)(?!\w)")
_PLACE = frozenset({"in", "into", "inside", "on", "onto", "to", "at"})
_TOOL = frozenset({"with", "using", "under", "by", "via"})


@dataclass(frozen=True, slots=True)
class Slotted:
    """A run with its goal and actions in terms of slots.

    `key` is the template in the form in which templates are compared, `template` as this goal
    words it; `lines[n]` is the slotted action of step `positions[n]` (steps without an action
    are left out) and `after[n]` what was seen next, where it is short.
    """

    run: Trajectory
    key: str
    template: str
    slots: tuple[Slot, ...]
    lines: tuple[str, ...]
    positions: tuple[int, ...]
    after: tuple[str, ...]

    @property
    def values(self) -> dict[str, str]:
        return {slot.name: slot.example for slot in self.slots}


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the actions of all runs show together: `heads` are words that open different actions,
    `numbered` are words that come with changing numbers, as in "drawer 3"."""

    heads: frozenset[str]
    numbered: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Phrase:
    start: int
    end: int


def slotted(runs: Sequence[Trajectory], grammar: Grammar | None = None) -> tuple[Slotted, ...]:
    """Every run with its slots, ordered by time and id. Templates are found over all runs."""
    ordered = sorted(runs, key=lambda run: (run.created_at, run.id.int))
    grammar = grammar or read_grammar(ordered)
    phrases = {run.id: _candidates(run, grammar) for run in ordered}
    own = {run.id: _key(run, phrases[run.id]) for run in ordered}
    support = Counter(own.values())
    index = _KeyIndex(support)
    result = []
    for run in ordered:
        key = index.broadest(run, own[run.id], phrases[run.id], grammar)
        spans = match(template_words(key), words(run.task.goal), _widest(key)) or {}
        result.append(_slot_run(run, key, spans, grammar))
    return tuple(result)


def read_grammar(runs: Sequence[Trajectory]) -> Grammar:
    actions = {step.action.casefold() for run in runs for step in run.steps if step.action}
    opened: dict[str, set[str]] = defaultdict(set)
    numbers: dict[str, set[str]] = defaultdict(set)
    for action in sorted(actions):
        spoken = forms(action)
        if len(spoken) > 1:
            opened[spoken[0]].add(action)
        for found in _INSTANCE.finditer(action):
            numbers[found.group(1)].add(found.group(2))
    heads = frozenset(word for word, seen in opened.items() if len(seen) > 1)
    return Grammar(
        heads=heads,
        numbered=frozenset(
            word for word, seen in numbers.items() if len(seen) > 1 and word not in heads
        ),
    )


def _candidates(run: Trajectory, grammar: Grammar) -> tuple[_Phrase, ...]:
    """The goal's phrases that recur in the run's own actions."""
    spoken = [forms(step.action) for step in run.steps]
    held = {word for action in spoken for word in action}
    pairs = {pair for action in spoken for pair in pairwise(action)}
    phrases: list[_Phrase] = []
    goal = words(run.task.goal)
    for position, word in enumerate(goal):
        if word.form not in held or not _fills_a_slot(word.form, grammar):
            continue
        last = phrases[-1] if phrases else None
        if (
            last is not None
            and last.end == position
            and position - last.start < WIDEST
            and (goal[position - 1].form, word.form) in pairs
        ):
            phrases[-1] = _Phrase(last.start, position + 1)
        else:
            phrases.append(_Phrase(position, position + 1))
    if len(goal) == sum(phrase.end - phrase.start for phrase in phrases):
        return ()  # a template needs a word of its own, or it would fit every goal
    return tuple(phrases)


def _fills_a_slot(form: str, grammar: Grammar) -> bool:
    return form not in FUNCTION_WORDS and form not in grammar.heads and not form.isdigit()


def _key(run: Trajectory, phrases: Sequence[_Phrase]) -> str:
    return _write(words(run.task.goal), phrases)


def _write(goal: Sequence[Word], phrases: Sequence[_Phrase]) -> str:
    """The goal's compared form with the phrases as named slots."""
    names = _names(goal, phrases)
    starts = {phrase.start: phrase for phrase in phrases}
    out: list[str] = []
    position = 0
    while position < len(goal):
        phrase = starts.get(position)
        if phrase is None:
            out.append(goal[position].form)
            position += 1
        else:
            out.append("{" + names[position] + "}")
            position = phrase.end
    return " ".join(out)


def _names(goal: Sequence[Word], phrases: Sequence[_Phrase]) -> dict[int, str]:
    """A name for the phrase at each start: its role, numbered; equal phrases share a name."""
    by_text: dict[str, str] = {}
    counts: Counter[str] = Counter()
    names: dict[int, str] = {}
    for number, phrase in enumerate(phrases):
        text = " ".join(word.form for word in goal[phrase.start : phrase.end])
        if text not in by_text:
            before = goal[phrase.start - 1].form if phrase.start else ""
            role = _role(before, first=number == 0)
            counts[role] += 1
            by_text[text] = role if counts[role] == 1 else f"{role}_{counts[role]}"
        names[phrase.start] = by_text[text]
    return names


def _role(before: str, *, first: bool) -> str:
    """What a phrase is for, from the preposition before it. The first phrase after "at" is what
    the sentence is about ("look at the clock"), later ones are places."""
    if before in _TOOL:
        return "tool"
    if before in _PLACE and not (first and before == "at"):
        return "place"
    return "object"


class _KeyIndex:
    """Finds the templates that a goal may fit without trying all of them: each is listed under
    its rarest literal word."""

    def __init__(self, support: Mapping[str, int]) -> None:
        self._support = support
        literals = {
            key: sorted({word.form for word in template_words(key) if word.slot is None})
            for key in support
        }
        frequency = Counter(word for held in literals.values() for word in held)
        self._by_word: dict[str, list[str]] = defaultdict(list)
        for key, held in sorted(literals.items()):
            if held:
                self._by_word[min(held, key=lambda word: (frequency[word], word))].append(key)

    def broadest(
        self, run: Trajectory, own: str, phrases: Sequence[_Phrase], grammar: Grammar
    ) -> str:
        """The best supported template with more slots than the run's own that fits its goal.

        A run that never names an object of its goal (it failed early, or had it at hand) gets
        the template of its siblings this way.
        """
        goal = words(run.task.goal)
        literals = _literals(own)
        mine = {(phrase.start, phrase.end) for phrase in phrases}
        fits = []
        for form in sorted({word.form for word in goal}):
            for key in self._by_word.get(form, ()):
                if _literals(key) >= literals:
                    continue
                spans = match(template_words(key), goal, _widest(key))
                if spans is not None and all(
                    span in mine
                    or (span[1] - span[0] == 1 and _fills_a_slot(goal[span[0]].form, grammar))
                    for span in spans.values()
                ):
                    fits.append(key)
        return min(fits, key=lambda key: (-self._support[key], key), default=own)


def _literals(key: str) -> int:
    return sum(word.slot is None for word in template_words(key))


def _widest(key: str) -> dict[str, int]:
    return {word.slot: WIDEST for word in template_words(key) if word.slot is not None}


def _slot_run(
    run: Trajectory, key: str, spans: Mapping[str, tuple[int, int]], grammar: Grammar
) -> Slotted:
    goal = words(run.task.goal)
    text = run.task.goal
    values = {
        name: text[goal[start].start : goal[end - 1].end] for name, (start, end) in spans.items()
    }
    names = {value.casefold(): name for name, value in values.items()}
    numbered = [
        (position, line)
        for position, step in enumerate(run.steps)
        if (line := slot_text(step.action, names, grammar))
    ]
    return Slotted(
        run=run,
        key=key,
        template=slot_text(text, names, grammar).strip(_CLOSING),
        slots=tuple(
            Slot(name, name.rstrip("0123456789").rstrip("_"), value)
            for name, value in sorted(values.items())
        ),
        lines=tuple(line for _, line in numbered),
        positions=tuple(position for position, _ in numbered),
        after=tuple(
            slot_text(_next_seen(run, position), names, grammar) for position, _ in numbered
        ),
    )


def _next_seen(run: Trajectory, position: int) -> str:
    later = run.steps[position + 1 : position + 2]
    return later[0].observation if later and len(later[0].observation) <= SHORT else ""


def slot_text(text: str, names: Mapping[str, str], grammar: Grammar) -> str:
    """`text` in one line with every value that has a name replaced by its slot, and without the
    numbers that only tell instances apart. What only looks like a slot gets other brackets."""
    text = SLOT.sub(r"<\1>", one_line(text))
    text = _INSTANCE.sub(
        lambda found: (
            found.group(1) if found.group(1).casefold() in grammar.numbered else found.group()
        ),
        text,
    )
    if not names:
        return text
    values = "|".join(
        r"\s+".join(re.escape(part) for part in value.split())
        for value in sorted(names, key=lambda value: (-len(value), value))
    )
    return re.sub(
        rf"(?<!\w)({values})(?!\w)(?: \d+(?!\w))?",
        lambda found: "{" + names[one_line(found.group(1)).casefold()] + "}",
        text,
        flags=re.IGNORECASE,
    )
