"""Fitting a skill to the task at hand: its slots get the words that stand there in the goal."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from memserver.domain.items import SkillBody
from memserver_skills.words import SLOT, Word, template_words, words

# A goal is a sentence or a paragraph; longer texts are no goals, and matching them costs.
LONGEST_GOAL = 2000
LONGEST_TRY = 50_000
# One word in so many may differ from the template: a number, or a colour that no step is about.
# Short goals, in which every word matters, have no such slack.
WORDS_A_SLIP = 10

Span = tuple[int, int]


def bind(
    template: str, goal: str, *, widths: Mapping[str, int] | None = None
) -> dict[str, str] | None:
    """What each slot of `template` stands for in `goal`; None where the two do not fit.

    All words outside slots must be the same, in order; case, punctuation and determiners
    ("a", "some") do not matter. A slot takes one word, or up to `widths[slot]`; a slot that
    occurs twice must take the same words twice. Of several fits, the one with the shortest
    values first.
    """
    return _bind(template_words(template), goal, widths or {})


def _bind(
    template: tuple[Word, ...], goal: str, widths: Mapping[str, int], slack: int = 0
) -> dict[str, str] | None:
    found = words(goal)
    spans = match(template, found, widths, slack)
    if spans is None:
        return None
    return {
        name: goal[found[start].start : found[end - 1].end] for name, (start, end) in spans.items()
    }


def ground(body: SkillBody, goal: str) -> SkillBody | None:
    """The skill with its slots replaced by the goal's own words, or None where no goal template
    of it (one a line) fits. A skill without slots is its own grounding if its goal fits. Long
    goals may differ from the template in a word of ten.

    Slots that the goal does not name get their example, the value they had most often. A step with
    a slot that has no value at all is left out: it could not be taken.
    """
    widths = {slot.name: max(1, len(words(slot.example))) for slot in body.slots}
    templates = [(text, template_words(text)) for text in body.goal.splitlines()]
    for tolerant in (False, True):
        for text, parsed in templates:
            literals = sum(word.slot is None for word in parsed)
            bound = _bind(parsed, goal, widths, literals // WORDS_A_SLIP if tolerant else 0)
            if bound is not None:
                return _filled(body, text, bound)
    return None


def _filled(body: SkillBody, goal: str, bound: Mapping[str, str]) -> SkillBody:
    usual = {slot.name: slot.example for slot in body.slots if slot.example}
    values = {**usual, **bound}
    open_names = {slot.name for slot in body.slots} - values.keys()
    return replace(
        body,
        when=fill(body.when, bound),
        steps=tuple(
            replace(
                step,
                action=fill(step.action, values),
                expect="" if _names(step.expect) & open_names else fill(step.expect, values),
            )
            for step in body.steps
            if not _names(step.action) & open_names
        ),
        slots=tuple(
            replace(slot, example=values.get(slot.name, slot.example)) for slot in body.slots
        ),
        goal=fill(goal, bound),
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(SLOT.findall(text))


def fill(text: str, values: Mapping[str, str]) -> str:
    """`text` with each `{slot}` that has a value replaced by it; in one pass, so that a value
    with braces in it is not filled again."""
    return SLOT.sub(lambda found: values.get(found.group(1), found.group()), text)


def match(
    template: tuple[Word, ...], goal: tuple[Word, ...], widths: Mapping[str, int], slack: int = 0
) -> dict[str, Span] | None:
    """For each slot the range of the goal's words that it takes; up to `slack` other words may
    differ one for one.

    Depth-first with a memory of dead ends, so that the work stays near
    len(template) · len(goal) · width · slack whatever the texts are.
    """
    if max(len(goal), len(template)) > LONGEST_GOAL or len(template) > len(goal):
        return None
    dead: set[tuple[int, int, int, tuple[str, ...]]] = set()
    repeated = _repeated(template)
    # Each entry: place in the template, place in the goal, slack left, spans so far.
    stack: list[tuple[int, int, int, dict[str, Span]]] = [(0, 0, slack, {})]
    for _ in range(LONGEST_TRY):
        if not stack:
            return None
        at, taken, left, spans = stack.pop()
        while at < len(template) and taken < len(goal) and template[at].slot is None:
            left -= template[at].form != goal[taken].form
            if left < 0:
                break
            at, taken = at + 1, taken + 1
        if at == len(template) and taken == len(goal):
            return spans
        slot = template[at].slot if at < len(template) else None
        state = (
            at,
            taken,
            left,
            tuple(_text(goal, spans[name]) for name in sorted(repeated & {*spans})),
        )
        if slot is None or state in dead:
            continue
        dead.add(state)
        for end in range(min(len(goal), taken + widths.get(slot, 1)), taken, -1):
            known = spans.get(slot)
            if known is None or _text(goal, known) == _text(goal, (taken, end)):
                stack.append((at + 1, end, left, {**spans, slot: known or (taken, end)}))
    return None


def _repeated(template: tuple[Word, ...]) -> frozenset[str]:
    seen = Counter(word.slot for word in template if word.slot is not None)
    return frozenset(name for name, count in seen.items() if count > 1)


def _text(goal: tuple[Word, ...], span: Span) -> str:
    return " ".join(word.form for word in goal[span[0] : span[1]])
