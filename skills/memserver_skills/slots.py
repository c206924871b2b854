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
from memserver_skills.grounding import Span, fill, match
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
CONSTANT_AFTER = 5
MANY_GOALS = 10
NEARLY_ALL = 0.8
SHORT = 80
_CLOSING = " .!?\t\n"
_INSTANCE = re.compile(r"(?<!\w)([^\W\d][\w'’-]*) (\d+)(?!\w)")
_TOWARDS = frozenset({"to", "into", "onto"})
_PLACE = _TOWARDS | frozenset({"in", "inside", "on", "at", "around", "near"})
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
    """What all runs show together: `heads` are words that open different actions, `numbered` come
    with changing numbers, as in "drawer 3", and `everywhere` are in nearly all goals."""

    heads: frozenset[str]
    numbered: frozenset[str]
    everywhere: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Phrase:
    start: int
    end: int


def slotted(runs: Sequence[Trajectory], grammar: Grammar | None = None) -> tuple[Slotted, ...]:
    """Every run with its slots, ordered by time and id. Templates are found over all runs."""
    ordered = sorted(runs, key=lambda run: (run.created_at, run.id.int))
    grammar = grammar or read_grammar(ordered)
    phrases = {run.id: _candidates(run, grammar) for run in ordered}
    own = {run.id: _key(run, phrases[run.id], grammar) for run in ordered}
    support = Counter(own.values())
    templates = _Templates(support)
    keys = _without_constants(
        ordered, [templates.broadest(run, own[run.id], phrases[run.id], grammar) for run in ordered]
    )
    return tuple(
        _slot_run(run, key, _spans(key, run), grammar)
        for run, key in zip(ordered, keys, strict=True)
    )


def _without_constants(runs: Sequence[Trajectory], keys: Sequence[str]) -> list[str]:
    """The keys with slots that never vary written out: over enough different goals, a word that
    is always the same belongs to the template."""
    values: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    goals: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for run, key in zip(runs, keys, strict=True):
        goal = words(run.task.goal)
        goals[key].add(tuple(word.form for word in goal))
        for name, (start, end) in _spans(key, run).items():
            values[key][name].add(" ".join(word.form for word in goal[start:end]))
    constant = {
        key: {name: min(held) for name, held in slots.items() if len(held) == 1}
        for key, slots in values.items()
        if len(goals[key]) >= CONSTANT_AFTER
    }
    return [fill(key, constant.get(key, {})) for key in keys]


def _spans(key: str, run: Trajectory) -> Mapping[str, Span]:
    parsed = template_words(key)
    return match(parsed, words(run.task.goal), _widest(parsed)) or {}


def _widest(parsed: Sequence[Word]) -> dict[str, int]:
    return {word.slot: WIDEST for word in parsed if word.slot is not None}


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
    goals = {forms(run.task.goal) for run in runs}
    held = Counter(word for goal in goals for word in set(goal))
    return Grammar(
        heads=heads,
        numbered=frozenset(
            word for word, seen in numbers.items() if len(seen) > 1 and word not in heads
        ),
        everywhere=frozenset(
            word
            for word, count in held.items()
            if len(goals) >= MANY_GOALS and count >= NEARLY_ALL * len(goals)
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
    return not (
        form in FUNCTION_WORDS
        or form in grammar.heads
        or form in grammar.everywhere
        or form.isdigit()
    )


def _key(run: Trajectory, phrases: Sequence[_Phrase], grammar: Grammar) -> str:
    """The goal's compared form with the phrases as named slots."""
    goal = words(run.task.goal)
    names = _names(goal, phrases, grammar)
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


def _names(goal: Sequence[Word], phrases: Sequence[_Phrase], grammar: Grammar) -> dict[int, str]:
    """A name for the phrase at each start: its role, numbered; equal phrases share a name."""
    by_text: dict[str, str] = {}
    counts: Counter[str] = Counter()
    names: dict[int, str] = {}
    for phrase in phrases:
        text = " ".join(word.form for word in goal[phrase.start : phrase.end])
        if text not in by_text:
            role = _role([word.form for word in goal[: phrase.start]], grammar)
            counts[role] += 1
            by_text[text] = role if counts[role] == 1 else f"{role}_{counts[role]}"
        names[phrase.start] = by_text[text]
    return names


def _role(before: Sequence[str], grammar: Grammar) -> str:
    """What a phrase is for, from the preposition before it. Right after a verb the preposition
    belongs to the verb ("look at the clock", "focus on the clock"), save where it says whither."""
    if not before:
        return "object"
    preposition = before[-1]
    verb = len(before) == 2 or (len(before) > 2 and before[-2] in grammar.heads)
    if preposition in _TOWARDS:
        return "place"
    if preposition in _TOOL:
        return "tool"
    return "place" if preposition in _PLACE and not verb else "object"


class _Templates:
    """Finds the templates that a goal may fit without trying all of them: each is listed under
    its rarest literal word."""

    def __init__(self, support: Mapping[str, int]) -> None:
        self._support = support
        self._parsed = {key: template_words(key) for key in support}
        self._literals = {
            key: sum(word.slot is None for word in parsed) for key, parsed in self._parsed.items()
        }
        forms_of = {
            key: {word.form for word in parsed if word.slot is None}
            for key, parsed in self._parsed.items()
        }
        frequency = Counter(form for held in forms_of.values() for form in held)
        self._by_word: dict[str, list[str]] = defaultdict(list)
        for key, held in sorted(forms_of.items()):
            if held:
                self._by_word[min(held, key=lambda form: (frequency[form], form))].append(key)

    def broadest(
        self, run: Trajectory, own: str, phrases: Sequence[_Phrase], grammar: Grammar
    ) -> str:
        """The best supported template with more slots than the run's own that fits its goal.

        A run that never names an object of its goal (it failed early, or had it at hand) gets
        the template of its siblings this way.
        """
        goal = words(run.task.goal)
        mine = {(phrase.start, phrase.end) for phrase in phrases}
        fits = []
        for form in sorted({word.form for word in goal}):
            for key in self._by_word.get(form, ()):
                if self._literals[key] >= self._literals[own]:
                    continue
                spans = match(self._parsed[key], goal, _widest(self._parsed[key]))
                if spans is not None and all(
                    span in mine
                    or (span[1] - span[0] == 1 and _fills_a_slot(goal[span[0]].form, grammar))
                    for span in spans.values()
                ):
                    fits.append(key)
        return min(fits, key=lambda key: (-self._support[key], key), default=own)


def _slot_run(run: Trajectory, key: str, spans: Mapping[str, Span], grammar: Grammar) -> Slotted:
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
