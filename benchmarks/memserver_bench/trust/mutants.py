"""Mutants of clean transitions: the same replacement with one thing left out, changed or
made up."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memserver.domain.items import Body, FactBody, RuleBody, SkillBody, SkillStep, TextBody
from memserver_bench.trust.clean import SENTENCE, Transition
from memserver_skills.pieces import Piece
from memserver_skills.words import FUNCTION_WORDS

WORD = re.compile(r"[A-Za-z][A-Za-z-]+")
THING = re.compile(r"\b(?:the|a|an|each|every|any|that|this)\s+(?:\w+\s+)?(?P<thing>[a-z]{4,})\b")
NEGATION = re.compile(r"\b(?:do not|don't|does not|not|never|no|without)\s+", re.IGNORECASE)
CONDITION = re.compile(
    r",?\s\b(?:when|if|after|before|until|unless|while|once)\b[^,;.:()—]+(?=[,;.—]|$)",
    re.IGNORECASE,
)
FEWEST_LEFT = 3

# Words for words that look alike in a review and are something else.
CONFUSED = (
    (r"\bbefore\b", "after"),
    (r"\bprior to\b", "after"),
    (r"\bafter\b", "before"),
    (r"\buntil\b", "unless"),
    (r"\btill\b", "unless"),
    (r"\bunder\b", "beside"),
    (r"\binside\b", "beside"),
    (r"\bfirst\b", "last"),
    (r"\bonly\b", "also"),
    (r"\bonce\b", "twice"),
    (r"\btwo\b", "three"),
    (r"\bclosed\b", "open"),
    (r"\bopen\b", "close"),
    (r"\bheated\b", "cooled"),
    (r"\bheating\b", "cooling"),
    (r"\bcool\b", "heat"),
    (r"\bnearest\b", "farthest"),
    (r"\bmore\b", "less"),
    (r"\bmust\b", "may"),
    (r"\bcorrect\b", "wrong"),
    (r"\bknown\b", "unknown"),
    (r"\bunvisited\b", "visited"),
    (r"\b[Aa]lways\b", "never"),
    (r"\bfound\b", "lost"),
)


class Harm(StrEnum):
    OMISSION = "omission"
    CORRUPTION = "corruption"
    INVENTION = "invention"


@dataclass(frozen=True)
class Mutant:
    """`how` names what was done to the twin's replacement."""

    twin: Transition
    replacement: tuple[Piece, ...]
    harm: Harm
    how: str


@dataclass(frozen=True)
class Means:
    """What a mutation may draw on: chance, and the rest of the bank for its words."""

    rng: random.Random
    bank: Sequence[Piece]


Mutate = Callable[[Piece, Means], Body | None]


def mutants(transition: Transition, bank: Sequence[Piece], *, seed: str) -> list[Mutant]:
    """One mutant of each harm that some mutation can do to this replacement."""
    rng = random.Random(seed)
    made = []
    for harm in Harm:
        ways = list(WAYS[harm].items())
        rng.shuffle(ways)
        for how, way in ways:
            found = _mutated(transition, way, Means(rng, bank))
            if found is not None:
                made.append(Mutant(transition, found, harm, how))
                break
    return made


def _mutated(transition: Transition, way: Mutate, means: Means) -> tuple[Piece, ...] | None:
    pieces = list(transition.replacement)
    places = list(range(len(pieces)))
    means.rng.shuffle(places)
    for place in places:
        body = way(pieces[place], means)
        if body is not None and body != pieces[place].body:
            pieces[place] = replace(pieces[place], body=body)
            return tuple(pieces)
    return None


# --- omission -----------------------------------------------------------------------------


def sentence_dropped(piece: Piece, means: Means) -> Body | None:
    lines, parts = _text_of(piece).split("\n"), SENTENCE.split(_text_of(piece))
    for held, by in ((lines, "\n"), (parts, " ")):
        if len(held) > 1:
            kept = list(held)
            kept.pop(means.rng.randrange(len(kept)))
            return _with_text(piece, by.join(kept))
    return None


def condition_dropped(piece: Piece, means: Means) -> Body | None:
    if isinstance(piece.body, RuleBody) and piece.body.when and means.rng.random() < 0.5:
        return replace(piece.body, when="")
    found = list(CONDITION.finditer(_text_of(piece)))
    return _cut(piece, means.rng.choice(found).span()) if found else None


def word_dropped(piece: Piece, means: Means) -> Body | None:
    """One that says which: an adjective or the like before a thing."""
    found = [
        match
        for match in re.finditer(
            r"\b(?:the|a|an|each|any)\s+([a-z-]{4,})\s(?=[a-z]{4,})", _text_of(piece)
        )
        if match.group(1) not in FUNCTION_WORDS
    ]
    return _cut(piece, means.rng.choice(found).span(1)) if found else None


def step_dropped(piece: Piece, means: Means) -> Body | None:
    if not isinstance(piece.body, SkillBody):
        return None
    steps = list(piece.body.steps)
    # A step that another one repeats word for word is still said.
    places = [n for n, step in enumerate(steps) if steps.count(step) == 1]
    if not places:
        return None
    steps.pop(means.rng.choice(places))
    return replace(piece.body, steps=tuple(steps))


def value_dropped(piece: Piece, means: Means) -> Body | None:
    if not isinstance(piece.body, FactBody):
        return None
    return TextBody(f"{piece.body.entity}: {piece.body.key}")


# --- corruption ---------------------------------------------------------------------------


def thing_changed(piece: Piece, means: Means) -> Body | None:
    """A thing of the text for one of another text."""
    mine = list(THING.finditer(_text_of(piece)))
    said = _text_of(piece).casefold()
    others = [
        match["thing"]
        for other in means.bank
        for match in THING.finditer(_text_of(other))
        if match["thing"] not in said and match["thing"] not in FUNCTION_WORDS
    ]
    mine = [match for match in mine if match["thing"] not in FUNCTION_WORDS]
    if not mine or not others:
        return None
    found = means.rng.choice(mine)
    return _put(piece, found.span("thing"), means.rng.choice(others))


def negation_dropped(piece: Piece, means: Means) -> Body | None:
    found = list(NEGATION.finditer(_text_of(piece)))
    return _cut(piece, means.rng.choice(found).span()) if found else None


def confused(piece: Piece, means: Means) -> Body | None:
    found = [
        (match.span(), other)
        for pattern, other in CONFUSED
        for match in re.finditer(pattern, _text_of(piece))
    ]
    if not found:
        return None
    span, other = means.rng.choice(found)
    return _put(piece, span, other)


def order_swapped(piece: Piece, means: Means) -> Body | None:
    """Two neighbouring steps, numbered parts or words around a comma change places."""
    if isinstance(piece.body, SkillBody):
        steps = list(piece.body.steps)
        places = [n for n in range(len(steps) - 1) if steps[n] != steps[n + 1]]
        if not places:
            return None
        at = means.rng.choice(places)
        steps[at], steps[at + 1] = steps[at + 1], steps[at]
        return replace(piece.body, steps=tuple(steps))
    numbers = list(re.finditer(r"(?<=[ (])[1-9](?=\))", _text_of(piece)))
    if len(numbers) > 1:
        text, (one, other) = _text_of(piece), means.rng.sample(numbers, 2)
        held = list(text)
        held[one.start()], held[other.start()] = held[other.start()], held[one.start()]
        return _with_text(piece, "".join(held))
    found = re.search(r"^([a-z' ]+), ((?:then |and )?)([a-z' ]+)", _text_of(piece))
    return (
        None
        if found is None
        else _put(piece, found.span(), f"{found.group(3)}, {found.group(2)}{found.group(1)}")
    )


def around_marker_swapped(piece: Piece, means: Means) -> Body | None:
    """ "A before B" becomes "B before A"."""
    found = re.search(
        r"(?P<one>[A-Za-z][^,;.:()]{8,}?) (?P<marker>before|after|until) (?P<other>[^,;.:()]{8,})",
        _text_of(piece),
    )
    if found is None:
        return None
    return _put(piece, found.span(), f"{found['other']} {found['marker']} {found['one']}")


def conditions_swapped(piece: Piece, means: Means) -> Body | None:
    """Of a joined text, two lines with each other's condition."""
    lines = _text_of(piece).split("\n")
    held = [line.split(": ", 2) for line in lines]
    places = [n for n, parts in enumerate(held) if len(parts) == 3 and parts[0] == "When"]
    if len(places) < 2:
        return None
    one, other = means.rng.sample(places, 2)
    held[one][1], held[other][1] = held[other][1], held[one][1]
    return _with_text(piece, "\n".join(": ".join(parts) for parts in held))


def word_of_step_changed(piece: Piece, means: Means) -> Body | None:
    if not isinstance(piece.body, SkillBody):
        return None
    said = " ".join(step.action for step in piece.body.steps)
    others = sorted(
        {
            step.action.split()[-1]
            for other in means.bank
            if isinstance(other.body, SkillBody)
            for step in other.body.steps
            if step.action.split()[-1] not in said
        }
    )
    steps = list(piece.body.steps)
    at = means.rng.randrange(len(steps))
    words = steps[at].action.split()
    if not others or len(words) < 2:
        return None
    steps[at] = SkillStep(" ".join([*words[:-1], means.rng.choice(others)]))
    return replace(piece.body, steps=tuple(steps))


def value_changed(piece: Piece, means: Means) -> Body | None:
    if not isinstance(piece.body, FactBody):
        return None
    mine = piece.body.value
    others = sorted(
        {
            other.body.value
            for other in means.bank
            if isinstance(other.body, FactBody) and other.body.value != mine
        }
    )
    return replace(piece.body, value=means.rng.choice(others)) if others else None


# --- invention ----------------------------------------------------------------------------


def sentence_invented(piece: Piece, means: Means) -> Body | None:
    """The front of one sentence of the bank and the back of another one."""
    fronts, backs = [], []
    for other in means.bank:
        for part in SENTENCE.split(_text_of(other)):
            words = part.rstrip(".;").split()
            if len(words) > 2 * FEWEST_LEFT:
                fronts.append(" ".join(words[: len(words) // 2]))
                backs.append(" ".join(words[len(words) // 2 :]))
    if not fronts:
        return None
    return _more(piece, f"{means.rng.choice(fronts)} {means.rng.choice(backs)}.")


def sentence_of_another(piece: Piece, means: Means) -> Body | None:
    """A sentence that the bank holds elsewhere, and no source of this replacement does."""
    parts = [
        part
        for other in means.bank
        for part in SENTENCE.split(_text_of(other))
        if len(part.split()) > FEWEST_LEFT
    ]
    return _more(piece, means.rng.choice(parts)) if parts else None


def exception_invented(piece: Piece, means: Means) -> Body | None:
    things = [match["thing"] for other in means.bank for match in THING.finditer(_text_of(other))]
    text = _text_of(piece)
    if not things or not text.endswith("."):
        return None
    return _with_text(piece, f"{text[:-1]} unless the {means.rng.choice(things)} is needed.")


def step_invented(piece: Piece, means: Means) -> Body | None:
    if not isinstance(piece.body, SkillBody):
        return None
    mine = {step.action for step in piece.body.steps}
    others = sorted(
        {
            step.action
            for other in means.bank
            if isinstance(other.body, SkillBody)
            for step in other.body.steps
        }
        - mine
    )
    if not others:
        return None
    steps = list(piece.body.steps)
    steps.insert(means.rng.randrange(len(steps) + 1), SkillStep(means.rng.choice(others)))
    return replace(piece.body, steps=tuple(steps))


def fact_widened(piece: Piece, means: Means) -> Body | None:
    if not isinstance(piece.body, FactBody):
        return None
    values = sorted({o.body.value for o in means.bank if isinstance(o.body, FactBody)})
    others = [value for value in values if value != piece.body.value]
    if not others:
        return None
    return replace(piece.body, value=f"{piece.body.value} or {means.rng.choice(others)}")


WAYS: dict[Harm, dict[str, Mutate]] = {
    Harm.OMISSION: {
        way.__name__: way
        for way in (
            sentence_dropped,
            condition_dropped,
            word_dropped,
            step_dropped,
            value_dropped,
        )
    },
    Harm.CORRUPTION: {
        way.__name__: way
        for way in (
            thing_changed,
            negation_dropped,
            confused,
            order_swapped,
            around_marker_swapped,
            conditions_swapped,
            word_of_step_changed,
            value_changed,
        )
    },
    Harm.INVENTION: {
        way.__name__: way
        for way in (
            sentence_invented,
            sentence_of_another,
            exception_invented,
            step_invented,
            fact_widened,
        )
    },
}


def _text_of(piece: Piece) -> str:
    return piece.body.text if isinstance(piece.body, RuleBody | TextBody) else ""


def _with_text(piece: Piece, text: str) -> Body | None:
    return replace(piece.body, text=text) if isinstance(piece.body, RuleBody | TextBody) else None


def _cut(piece: Piece, span: tuple[int, int]) -> Body | None:
    return _put(piece, span, "")


def _put(piece: Piece, span: tuple[int, int], said: str) -> Body | None:
    text = _text_of(piece)
    return _with_text(piece, text[: span[0]] + said + text[span[1] :])


def _more(piece: Piece, sentence: str) -> Body | None:
    text = _text_of(piece)
    return _with_text(piece, f"{text.rstrip()} {sentence}") if text else None
