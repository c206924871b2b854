"""Clean transitions: replacements that say what the pieces said, in other words, order or parts."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memserver.domain.items import (
    FactBody,
    RuleBody,
    SkillBody,
    SkillStep,
    Slot,
    TextBody,
)
from memserver_skills.pieces import Piece

# What follows "otherwise" or "if not" says nothing by itself.
SENTENCE = re.compile(r"(?<=[.;!?])\s+(?!otherwise|if not)")
MARKED = re.compile(
    r"^(?P<main>[A-Z][^,;:.()—]*?) (?P<marker>when|if|after|until|unless|whenever) "
    r"(?P<rest>[^,;:.()—]+)\.$"
)
_MARKERS = re.compile(r"\b(when|if|after|until|unless|whenever|before|while|once|because|so)\b")


SHORTEST_MAIN = 3


class Half(StrEnum):
    """The verifier was tuned on rewordings of the first half only; what is reported is measured
    on those of the second."""

    TUNED = "tuned"
    HELD_OUT = "held_out"


# Pairs of wordings that say the same in instructions of this kind.
REWORDINGS: dict[Half, tuple[tuple[str, str], ...]] = {
    Half.TUNED: (
        (r"\bpick up\b", "take"),
        (r"\b[Dd]o not\b", "don't"),
        (r"\bnavigate (straight |directly )?to\b", r"go \1to"),
        (r"\bimmediately\b", "at once"),
        (r"\bWhenever\b", "When"),
        (r"\bIf\b", "When"),
        (r"\bwhen\b", "whenever"),
        (r"\bbefore\b", "prior to"),
        (r"\buntil\b", "till"),
        (r"\binspect\b", "examine"),
        (r"\bobject\b", "item"),
        (r"\brequired\b", "needed"),
        (r"\bnearest\b", "closest"),
        (r"\bMaintain\b", "Keep"),
        (r"\blocate\b", "find"),
        (r"\bAlways (\w)", r"Make sure to always \1"),
        (r"\bonly\b", "solely"),
        (r"\bthen\b", "afterwards"),
    ),
    Half.HELD_OUT: (
        (r"\b[Tt]ake\b", "grab"),
        (r"\bnever\b", "do not ever"),
        (r"\b[Dd]o not\b", "never"),
        (r"\b(acquire|obtain)\b", "get"),
        (r"\bstraight\b", "directly"),
        (r"\bresume\b", "continue"),
        (r"\bmust\b", "has to"),
        (r"\binside\b", "within"),
        (r"\bexecute\b", "perform"),
        (r"\b[Uu]se\b", "utilize"),
        (r"\beach\b", "every"),
        (r"\bverify\b", "confirm"),
        (r"\bAs soon as\b", "Once"),
        (r"\bignoring\b", "disregarding"),
        (r"\btwo\b", "2"),
        (r"\b[Bb]egin\b", "start"),
        (r"\bsearch\b", "look for"),
        (r"\bensuring\b", "making sure"),
        (r"\bchoose\b", "select"),
    ),
}


@dataclass(frozen=True)
class Transition:
    """`region` gives way to `replacement`; `outside` stays, as the rest of the bank."""

    kind: str
    region: tuple[Piece, ...]
    replacement: tuple[Piece, ...]


Make = Callable[[Sequence[Piece], random.Random, Half], Transition | None]


def rewrite(text: str, rng: random.Random, half: Half) -> str:
    """Up to three rewordings, and now and then a subordinate clause at the other end."""
    rules = list(REWORDINGS[half])
    rng.shuffle(rules)
    changed = 0
    for pattern, said in rules:
        new = re.sub(pattern, said, text, count=1)
        changed += new != text
        text = new
        if changed == 3:
            break
    return " ".join(_fronted(sentence, rng) for sentence in SENTENCE.split(text))


def _fronted(sentence: str, rng: random.Random) -> str:
    found = MARKED.match(sentence)
    if found is None or rng.random() < 0.5 or len(_MARKERS.findall(sentence)) != 1:
        return sentence
    if len(found["main"].split()) < SHORTEST_MAIN:
        return sentence  # "Right after ...": no clause stands before the marker
    main = found["main"][:1].lower() + found["main"][1:]
    return f"{found['marker'].capitalize()} {found['rest']}, {main}."


def reworded(pieces: Sequence[Piece], rng: random.Random, half: Half) -> Transition | None:
    """One piece in other words."""
    piece = rng.choice(pieces)
    new = _reworded(piece, rng, half)
    return Transition("reworded", (piece,), (new,)) if new.body != piece.body else None


def _reworded(piece: Piece, rng: random.Random, half: Half) -> Piece:
    match piece.body:
        case RuleBody(text=text, when=when):
            body = RuleBody(rewrite(text, rng, half), rewrite(when, rng, half))
            return replace(piece, name=f"{piece.name}+", body=body)
        case TextBody(text=text):
            return replace(piece, name=f"{piece.name}+", body=TextBody(rewrite(text, rng, half)))
        case SkillBody():
            steps = tuple(
                replace(step, action=rewrite(step.action, rng, half)) for step in piece.body.steps
            )
            return replace(piece, name=f"{piece.name}+", body=replace(piece.body, steps=steps))
        case FactBody(entity=entity, key=key, value=value):
            body_ = FactBody(entity.upper(), f" {key}", value)
            return replace(piece, name=f"{piece.name}+", body=body_)
        case _:
            return piece


def merged(pieces: Sequence[Piece], rng: random.Random, half: Half) -> Transition | None:
    """Two wordings of one thing become one."""
    piece = rng.choice(pieces)
    other = _reworded(piece, rng, half)
    if other.body == piece.body:
        return None
    return Transition("merged", (piece, other), (rng.choice((piece, other)),))


def joined(pieces: Sequence[Piece], rng: random.Random, half: Half) -> Transition | None:
    """Two or three rules in one text, a line each, with their conditions."""
    rules = [piece for piece in pieces if isinstance(piece.body, RuleBody)]
    chosen = rng.sample(rules, min(rng.choice((2, 3)), len(rules)))
    if len(chosen) < 2:
        return None
    lines = [_line(_reworded(piece, rng, half)) for piece in chosen]
    rng.shuffle(lines)
    new = Piece("joined", chosen[0].title, TextBody("\n".join(lines)))
    return Transition("joined", tuple(chosen), (new,))


def _line(piece: Piece) -> str:
    assert isinstance(piece.body, RuleBody)
    return f"When: {piece.body.when.rstrip('.')}: {piece.body.text}"


def reordered(pieces: Sequence[Piece], rng: random.Random, half: Half) -> Transition | None:
    """The sentences of a text in another order."""
    texts = [piece for piece in pieces if isinstance(piece.body, TextBody)]
    if not texts:
        return None
    piece = rng.choice(texts)
    assert isinstance(piece.body, TextBody)
    sentences = [_ended(part) for part in SENTENCE.split(piece.body.text)]
    moved = rng.sample(sentences, len(sentences))
    if moved == sentences:
        return None
    body = TextBody(" ".join(part[:1].upper() + part[1:] for part in moved))
    return Transition("reordered", (piece,), (replace(piece, name="reordered", body=body),))


def split(pieces: Sequence[Piece], rng: random.Random, half: Half) -> Transition | None:
    """One piece becomes two, each with the condition."""
    fit = [piece for piece in pieces if len(_parts(piece)) > 1]
    if not fit:
        return None
    piece = rng.choice(fit)
    parts = _parts(piece)
    at = rng.randrange(1, len(parts))
    halves = (" ".join(parts[:at]), " ".join(parts[at:]))
    new = tuple(
        replace(piece, name=f"{piece.name}.{n}", body=_with_text(piece, text))
        for n, text in enumerate(halves, 1)
    )
    return Transition("split", (piece,), new)


def moved(pieces: Sequence[Piece], rng: random.Random, half: Half) -> Transition | None:
    """A sentence of one piece goes to another one, with its condition."""
    givers = [piece for piece in pieces if len(_parts(piece)) > 1]
    takers = [piece for piece in pieces if isinstance(piece.body, RuleBody | TextBody)]
    if not givers or len(takers) < 2:
        return None
    giver = rng.choice(givers)
    taker = rng.choice([piece for piece in takers if piece != giver])
    parts = _parts(giver)
    sentence = parts.pop(rng.randrange(len(parts)))
    if isinstance(giver.body, RuleBody):
        sentence = f"When: {giver.body.when.rstrip('.')}: {sentence}"
    # A taker's own condition would become the sentence's, so it is written out for its own text.
    own = _line(taker) if isinstance(taker.body, RuleBody) else _text(taker)
    return Transition(
        "moved",
        (giver, taker),
        (
            replace(giver, name="giver", body=_with_text(giver, " ".join(parts))),
            replace(taker, name="taker", body=TextBody(f"{own}\n{sentence}")),
        ),
    )


def abstracted(pieces: Sequence[Piece], rng: random.Random, half: Half) -> Transition | None:
    """Two skills that differ in one word become one with a slot in its place."""
    skills = [piece for piece in pieces if isinstance(piece.body, SkillBody)]
    if not skills:
        return None
    piece = rng.choice(skills)
    assert isinstance(piece.body, SkillBody)
    things = sorted(
        {word for step in piece.body.steps for word in step.action.split()[1:]}
        & set(piece.body.goal.split())
    )
    things = [word for word in things if len(word) > 3]
    if not things:
        return None
    thing, other = rng.choice(things), rng.choice(("kettle", "basket", "ladle", "lantern"))

    def said(text: str, word: str) -> str:
        return re.sub(rf"\b{re.escape(thing)}\b", word, text)

    def written(word: str) -> SkillBody:
        assert isinstance(piece.body, SkillBody)
        return replace(
            piece.body,
            goal=said(piece.body.goal, word),
            steps=tuple(SkillStep(said(step.action, word)) for step in piece.body.steps),
        )

    twin = Piece("twin", said(piece.title, other), written(other))
    one = replace(written("{object}"), slots=(Slot("object", example=thing),))
    new = Piece("abstract", said(piece.title, "{object}"), one, {"object": (thing, other)})
    return Transition("abstracted", (piece, twin), (new,))


MAKERS: tuple[Make, ...] = (reworded, merged, joined, reordered, split, moved, abstracted)


def transitions(
    bank: Sequence[Piece], *, seed: int, count: int, half: Half
) -> tuple[Transition, ...]:
    """`count` clean transitions, the kinds in turns."""
    rng = random.Random(f"{seed} {half}")
    made: list[Transition] = []
    for turn in range(count * 50):
        if len(made) == count:
            break
        new = MAKERS[turn % len(MAKERS)](rng.sample(bank, min(12, len(bank))), rng, half)
        if new is not None:
            made.append(new)
    return tuple(made)


def _parts(piece: Piece) -> list[str]:
    """The sentences of a text, each of which stands for itself."""
    if not isinstance(piece.body, RuleBody | TextBody):
        return []
    return [_ended(part[:1].upper() + part[1:]) for part in SENTENCE.split(_text(piece))]


def _ended(part: str) -> str:
    return f"{part.rstrip('.;')}."


def _text(piece: Piece) -> str:
    assert isinstance(piece.body, RuleBody | TextBody)
    return piece.body.text


def _with_text(piece: Piece, text: str) -> RuleBody | TextBody:
    assert isinstance(piece.body, RuleBody | TextBody)
    return replace(piece.body, text=text)
