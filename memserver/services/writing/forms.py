"""Sentence forms as a table: what stands where, and what parts them. One engine reads them all,
and takes a form only where every part is clearly what it should be."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from memserver.services.writing.subjects import Key, Setting, Subject, key_in, owner_in, subject_in
from memserver.services.writing.values import Value, value_in
from memserver.services.writing.vocabulary import DEGREES, NO_KEY_ALONE, PRAISE

MOST_SPLITS = 8
"""Places at which one separator is tried in a clause; a clause with more is no plain statement."""


FORMER_WORD = re.compile(r"\b(?:previous|old|former|earlier|existing|outdated)\s+", re.IGNORECASE)


class Part(Enum):
    """What a stretch of the clause has to be."""

    SUBJECT = auto()
    REPLACED = auto()  # a subject whose value is called the old one
    OWNER = auto()
    KEY = auto()
    VALUE = auto()


@dataclass(frozen=True, slots=True)
class Form:
    """`head`, then the parts with a separator between two of them, then `tail`, and nothing else.
    `renews` marks a form that itself says that the value is a new one; `known_key` one that is
    trusted only where the namespace holds the key, or the entity, already."""

    name: str
    parts: tuple[Part, ...]
    between: tuple[re.Pattern[str], ...] = ()
    head: re.Pattern[str] | None = None
    tail: re.Pattern[str] | None = None
    renews: bool = False
    known_key: bool = False


@dataclass(frozen=True, slots=True)
class Filled:
    """A form that fits a clause, and what stood in its parts. A retraction mostly has no value."""

    form: Form
    subject: Subject
    value: Value | None


def fill(form: Form, clause: str, setting: Setting) -> Filled | None:
    """The first way in which the form fits the whole clause."""
    start, end = 0, len(clause)
    if form.head is not None:
        head = form.head.match(clause)
        if head is None:
            return None
        start = head.end()
    if form.tail is not None:
        tail = form.tail.search(clause, start)
        if tail is None or tail.start() <= start:
            return None
        end = tail.start()
    for pieces in _cut(clause[start:end], form.between):
        filled = _read(form, pieces, setting)
        if filled is not None and (not form.known_key or _is_known(filled.subject, setting)):
            return filled
    return None


def _cut(text: str, between: Sequence[re.Pattern[str]]) -> Iterator[tuple[str, ...]]:
    """Every way to part the text at one match of each separator, in order."""
    if not between:
        yield (text,)
        return
    matches = [match for match in between[0].finditer(text) if match.start() > 0]
    for match in matches[:MOST_SPLITS]:
        for others in _cut(text[match.end() :], between[1:]):
            yield (text[: match.start()], *others)


def _read(form: Form, pieces: Sequence[str], setting: Setting) -> Filled | None:
    subject: Subject | None = None
    owner: str | None = None
    key: Key | None = None
    value: Value | None = None
    for place, (part, piece) in enumerate(zip(form.parts, pieces, strict=True)):
        match part:
            case Part.VALUE:
                value = value_in(piece, change=form.renews)
                if value is None or (place == 0 and _is_headed(value.text)):
                    return None
            case Part.SUBJECT:
                subject = subject_in(piece, setting)
                if subject is None:
                    return None
            case Part.REPLACED:
                subject = subject_in(FORMER_WORD.sub("", piece, count=1), setting)
                if subject is None:
                    return None
            case Part.OWNER:
                owner = owner_in(piece, setting)
                if owner is None:
                    return None
            case Part.KEY:
                key = key_in(piece)
                if key is None:
                    return None
    if subject is None:
        if owner is None or key is None:
            return None
        if key.name.split()[0].casefold() in NO_KEY_ALONE:
            return None
        subject = Subject(owner, key.name, key.renewed)
    if value is not None and not _worth_keeping(subject, value, setting):
        return None
    return Filled(form, subject, value)


def _is_headed(text: str) -> bool:
    """ "Fun fact: jazz", "Heads-up, jazz": before the verb a value may have an opener before it,
    which is to be taken away first."""
    return ": " in text or ("," in text and not re.search(r"\b(?:and|or)\b", text))


def _worth_keeping(subject: Subject, value: Value, setting: Setting) -> bool:
    """Praise of one's own things in passing is none, unless such a thing is kept already."""
    if subject.entity != setting.speaker or setting.known.key(subject.key):
        return True
    words = [word for word in value.text.casefold().split() if word not in DEGREES]
    return not words or words[0] not in PRAISE


def _is_known(subject: Subject, setting: Setting) -> bool:
    return setting.known.key(subject.key) and setting.known.entity(subject.entity)
