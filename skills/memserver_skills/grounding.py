"""Fitting a skill to the task at hand: its slots get the words that stand there in the goal."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memserver.domain.items import SkillBody
from memserver_skills.words import SLOT, Word, template_words, words

# A goal is a sentence or a paragraph; longer texts are no goals, and matching them costs.
LONGEST_GOAL = 2000
LONGEST_TRY = 50_000

Span = tuple[int, int]

# Open slot → a word of the goal ("" for any) → likely values, best first.
Fillers = Mapping[str, Mapping[str, Sequence[str]]]


def bind(
    template: str, goal: str, *, widths: Mapping[str, int] | None = None
) -> dict[str, str] | None:
    """What each slot of `template` stands for in `goal`; None where the two do not fit.

    All words outside slots must be the same, in order; case, punctuation and determiners
    ("a", "some") do not matter. A slot takes one word, or up to `widths[slot]`; a slot that
    occurs twice must take the same words twice. Of several fits, the one with the shortest
    values first.
    """
    spans = match(template_words(template), words(goal), widths or {})
    if spans is None:
        return None
    found = words(goal)
    return {
        name: goal[found[start].start : found[end - 1].end] for name, (start, end) in spans.items()
    }


def ground(body: SkillBody, goal: str, *, fillers: Fillers | None = None) -> SkillBody | None:
    """The skill with its slots replaced by the goal's own words, or None where no goal template
    of it (one a line) fits. A skill without slots is its own grounding if its goal fits.

    Slots that the goal does not name get the likeliest value with the goal's words by `fillers`
    (kept in the workflow's metadata), or else their example.
    """
    widths = {slot.name: max(1, len(words(slot.example))) for slot in body.slots}
    for template in body.goal.splitlines():
        bound = bind(template, goal, widths=widths)
        if bound is not None:
            values = {**_open_values(body, bound, fillers or {}), **bound}
            return replace(
                body,
                when=fill(body.when, bound),
                steps=tuple(
                    replace(
                        step, action=fill(step.action, values), expect=fill(step.expect, values)
                    )
                    for step in body.steps
                ),
                slots=tuple(
                    replace(slot, example=values.get(slot.name, slot.example))
                    for slot in body.slots
                ),
                goal=fill(template, bound),
            )
    return None


def _open_values(body: SkillBody, bound: Mapping[str, str], fillers: Fillers) -> dict[str, str]:
    """A value for each slot that the goal does not name. It is none of the goal's own words:
    those have slots of their own."""
    given = [value.casefold() for _, value in sorted(bound.items())]
    values = {}
    for slot in body.slots:
        known = fillers.get(slot.name, {})
        ranked = [value for word in (*given, "") for value in known.get(word, ())]
        free = [value for value in (*ranked, slot.example) if value.casefold() not in given]
        values[slot.name] = free[0] if free else slot.example
    return {name: value for name, value in values.items() if value}


def fill(text: str, values: Mapping[str, str]) -> str:
    """`text` with each `{slot}` that has a value replaced by it; in one pass, so that a value
    with braces in it is not filled again."""
    return SLOT.sub(lambda found: values.get(found.group(1), found.group()), text)


def match(
    template: tuple[Word, ...], goal: tuple[Word, ...], widths: Mapping[str, int]
) -> dict[str, Span] | None:
    """For each slot the range of the goal's words that it takes.

    Depth-first with a memory of dead ends, so that the work stays near
    len(template) · len(goal) · width whatever the texts are.
    """
    if len(goal) > LONGEST_GOAL or len(template) > LONGEST_GOAL:
        return None
    literals = sum(word.slot is None for word in template)
    if literals > len(goal):
        return None
    dead: set[tuple[int, int, tuple[str, ...]]] = set()
    repeated = _repeated(template)
    # Each frame: place in the template, place in the goal, spans so far.
    stack: list[tuple[int, int, dict[str, Span]]] = [(0, 0, {})]
    for _ in range(LONGEST_TRY):
        if not stack:
            return None
        at, taken, spans = stack.pop()
        while at < len(template) and taken < len(goal) and template[at].slot is None:
            if template[at].form != goal[taken].form:
                break
            at, taken = at + 1, taken + 1
        if at == len(template):
            if taken == len(goal):
                return spans
            continue
        slot = template[at].slot
        if slot is None or taken == len(goal):
            continue
        state = (
            at,
            taken,
            tuple(_text(goal, spans[name]) for name in repeated if name in spans),
        )
        if state in dead:
            continue
        dead.add(state)
        for width in range(widths.get(slot, 1), 0, -1):
            end = taken + width
            if end > len(goal):
                continue
            known = spans.get(slot)
            if known is not None and _text(goal, known) != _text(goal, (taken, end)):
                continue
            stack.append((at + 1, end, {**spans, slot: known or (taken, end)}))
    return None


def _repeated(template: tuple[Word, ...]) -> tuple[str, ...]:
    names = [word.slot for word in template if word.slot is not None]
    return tuple(sorted({name for name in names if names.count(name) > 1}))


def _text(goal: tuple[Word, ...], span: Span) -> str:
    return " ".join(word.form for word in goal[span[0] : span[1]])
