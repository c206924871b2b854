"""Finding the templates of goals: words of a goal that recur in what was done for it.

Nothing here knows an environment. A word of the goal is a candidate if the run's own actions
hold it and it neither opens actions (then it is a verb) nor carries grammar. Goals that agree
in all other words share a template."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memserver.domain.trajectories import Trajectory
from memserver_skills.grounding import Span, fill, match
from memserver_skills.words import FUNCTION_WORDS, Word, forms, template_words, words

WIDEST = 4
CONSTANT_AFTER = 5
MANY_GOALS = 10
NEARLY_ALL = 0.8
INSTANCE = re.compile(r"(?<!\w)([^\W\d][\w'’-]*) (\d+)(?!\w)")
_TOWARDS = frozenset({"to", "into", "onto"})
_PLACE = _TOWARDS | frozenset({"in", "inside", "on", "at", "around", "near"})
_TOOL = frozenset({"with", "using", "under", "by", "via"})


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


@dataclass(frozen=True, slots=True)
class GoalTemplate:
    """The template of a goal, in the form in which templates are compared: folded words, no
    determiners, slots named by role. `earlier` are templates that the goal had, or would have,
    with fewer runs to compare with."""

    key: str
    earlier: tuple[str, ...]


def goal_templates(runs: Sequence[Trajectory], grammar: Grammar) -> list[GoalTemplate]:
    """For each run the template of its goal."""
    phrases = [_candidates(run, grammar) for run in runs]
    own = [_key(run, held, grammar) for run, held in zip(runs, phrases, strict=True)]
    templates = _Templates(Counter(own))
    broadest = [
        templates.broadest(run, key, held, grammar)
        for run, key, held in zip(runs, own, phrases, strict=True)
    ]
    settled = _without_constants(runs, broadest)
    return [
        GoalTemplate(key, tuple(one for one in dict.fromkeys(earlier) if one != key))
        for key, *earlier in zip(settled, broadest, own, strict=True)
    ]


def _without_constants(runs: Sequence[Trajectory], keys: Sequence[str]) -> list[str]:
    """The keys with slots that never vary written out: over enough different goals, a word that
    is always the same belongs to the template."""
    values: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    goals: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for run, key in zip(runs, keys, strict=True):
        goal = words(run.task.goal)
        goals[key].add(tuple(word.form for word in goal))
        for name, (start, end) in spans_of(key, run).items():
            values[key][name].add(" ".join(word.form for word in goal[start:end]))
    constant = {
        key: {name: min(held) for name, held in slots.items() if len(held) == 1}
        for key, slots in values.items()
        if len(goals[key]) >= CONSTANT_AFTER
    }
    return [fill(key, constant.get(key, {})) for key in keys]


def spans_of(key: str, run: Trajectory) -> Mapping[str, Span]:
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
        for found in INSTANCE.finditer(action):
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
