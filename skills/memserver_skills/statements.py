"""Reading a text as statements that can be compared: clauses of ideas, each with the word that
says how it bears on the others. What only words the same otherwise reads the same."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memserver_skills.wordings import (
    AND,
    ELSE,
    LONGEST_PHRASE,
    MARKERS,
    NOT,
    ONCE,
    READ_AS,
    SILENT,
    THEN,
    WEIGHTY,
    WHEN,
    stem,
)

PLAIN = ""
"""The marker of a clause that has none: a main clause."""

_TOKEN = re.compile(
    r"(?P<slot>\{[a-z][a-z0-9_]*\})"
    r"|(?P<listed>(?<![\w.])\d{1,2}[.)](?=\s))"
    r"|(?P<number>[#$€£]?\d+(?:[.,:/-]\d+)*%?\w*)"
    r"|(?P<word>[^\W\d_][^\W_]*(?:['’][^\W\d_]+)*)"
    r"|(?P<hard>[.;!?]+|\n+|…)"
    r"|(?P<soft>[,:()\[\]—–]| - )"
    r"|(?P<either>/)|(?P<and>&)"
)
_ABBREVIATED = re.compile(r"\b(e\.g|i\.e|etc|vs|cf)\.", re.IGNORECASE)
_CONTRACTED = (
    (re.compile(r"\b(?:can't|cannot)\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"'(?:s|re|ve|ll|d|m)\b", re.IGNORECASE), ""),
)
_LABELLED = re.compile(r"^when:\s+(?P<when>.+?)(?:[:]\s+|\n)(?P<text>.+)$", re.IGNORECASE)
SOFT = ","
READ_LATELY = 8_192
"""Texts whose reading is kept: within a region each is held against all others."""


@dataclass(frozen=True, slots=True)
class Clause:
    """`markers` are those that it may have been said under: after a comma it may still belong to
    the condition before, or not."""

    ideas: tuple[str, ...]
    markers: frozenset[str] = frozenset({PLAIN})

    @property
    def is_main(self) -> bool:
        return self.markers == {PLAIN}


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement with the conditions under which it was made. `bound` says that its clauses
    mean what they mean only together."""

    clauses: tuple[Clause, ...]
    conditions: tuple[Clause, ...] = ()
    said: str = ""

    @property
    def bound(self) -> bool:
        return bool(self.conditions) or any(PLAIN not in c.markers for c in self.clauses)

    @property
    def ideas(self) -> tuple[str, ...]:
        return tuple(idea for clause in self.clauses for idea in clause.ideas)


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of text under one condition."""

    claims: tuple[Claim, ...]


@lru_cache(maxsize=READ_LATELY)
def units(text: str, when: str = "") -> tuple[Unit, ...]:
    """The text's lines as units. A line of the form "When: condition: text" has a condition of
    its own, which comes on top of the given one."""
    common = tuple(c for claim in claims(when, opening=WHEN) for c in claim.clauses)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return (Unit((Claim((), common, when),)),) if common else ()
    return tuple(_unit(line, common) for line in lines)


def _unit(line: str, common: tuple[Clause, ...]) -> Unit:
    labelled = _LABELLED.match(line)
    own: tuple[Clause, ...] = ()
    if labelled is not None:
        own = tuple(c for claim in claims(labelled["when"], opening=WHEN) for c in claim.clauses)
        line = labelled["text"]
    # A line in which nothing can be read still says what it says.
    made = claims(line) or (Claim((Clause((line.casefold(),)),), said=line),)
    return Unit(tuple(Claim(claim.clauses, (*common, *own), claim.said) for claim in made))


def claims(text: str, *, opening: str = PLAIN) -> tuple[Claim, ...]:
    """The sentences of a text. What follows "then" or "otherwise" belongs to what is before."""
    made: list[Claim] = []
    for said, tokens in _sentences(text):
        read = _clauses(tokens, opening)
        if not read:
            continue
        if made and read[0].markers & {THEN, ELSE}:
            last = made.pop()
            made.append(Claim((*last.clauses, *read), (), f"{last.said} {said}"))
        else:
            made.append(Claim(read, (), said))
    return tuple(made)


@lru_cache(maxsize=READ_LATELY)
def ideas(text: str) -> tuple[str, ...]:
    """The ideas of a text in order, markers among them, without regard to its punctuation."""
    return tuple(
        idea
        for _, tokens in _sentences(text)
        for idea in _read([token for token in tokens if token != SOFT])
        if idea != AND
    )


def within(small: Sequence[str], large: Sequence[str]) -> bool:
    """Whether all ideas of `small` are in `large` in their order, and what `large` says beside
    them neither turns nor bounds them."""
    left = iter(large)
    if not all(idea in left for idea in small):
        return False
    return _weighty(small) == _weighty(large)


def _weighty(said: Sequence[str]) -> list[str]:
    return sorted(idea for idea in said if idea in WEIGHTY or idea[:1].isdigit())


def _sentences(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each sentence as written, with its words and its soft breaks."""
    text = _ABBREVIATED.sub(lambda found: found.group(1).replace(".", ""), text.replace("’", "'"))
    for pattern, plain in _CONTRACTED:
        text = pattern.sub(plain, text)
    tokens: list[str] = []
    start = 0
    for found in _TOKEN.finditer(text):
        match found.lastgroup:
            case "hard":
                if tokens:
                    yield text[start : found.end()].strip(), tokens
                tokens, start = [], found.end()
            case "soft":
                tokens.append(SOFT)
            case "listed":
                tokens += [SOFT, f"#{found.group()[:-1]}"]
            case "either":
                tokens.append("or")
            case "and":
                tokens.append("and")
            case _:
                name = found.group() == "A" and tokens and tokens[-1] != SOFT
                tokens.append("a_" if name else found.group().casefold())
    if tokens:
        yield text[start:].strip(), tokens


def _read(tokens: Sequence[str]) -> list[str]:
    """Ideas for words; phrases first, the longest of them. Soft breaks stay."""
    stems = [SOFT if token == SOFT else stem(token) for token in tokens]
    out: list[str] = []
    place = 0
    while place < len(stems):
        for length in range(min(LONGEST_PHRASE, len(stems) - place), 0, -1):
            idea = READ_AS.get(tuple(stems[place : place + length]))
            if idea is not None and not (length == 1 and tokens[place] in SILENT):
                out += [idea] if idea else []
                place += length
                break
        else:
            word = tokens[place]
            if word == "once":
                # "once it is cold" opens a condition; "open it once" counts.
                opens = not out or out[-1] in (SOFT, AND)
                out.append(WHEN if opens else ONCE)
            elif word not in SILENT:
                out.append(stems[place])
            place += 1
    return out


def _clauses(tokens: Sequence[str], opening: str) -> tuple[Clause, ...]:
    made: list[Clause] = []
    markers = frozenset({opening})
    held: list[str] = []

    def close() -> None:
        nonlocal held
        if held:
            made.append(Clause(tuple(held), markers))
            held = []

    for idea in _read(tokens):
        if idea == SOFT:
            if held and set(held) != {NOT}:
                close()
                # After a comma the condition may go on, or what it is a condition of begins.
                markers = markers | {opening}
        elif idea == AND:
            close()
        elif idea in MARKERS:
            close()
            markers = frozenset({idea})
        else:
            held.append(idea)
    close()
    return tuple(made)
