"""What people say of themselves and of others with a verb of its own: "I live in Riga".

Each verb stands for a key. Of some there is one value at a time (where one lives), so that a new
one replaces the old; of others there are many (what one likes), so that the thing is part of the
key and the value is "yes": liking tea says nothing about coffee.

| verb | key | values at a time |
|---|---|---|
| live in, be based in, reside in, move to | home | one |
| work at, work for, be employed by | employer | one |
| work as | job | one |
| be from, come from | origin | one |
| be born in / be born on | birthplace / birthday | one |
| study at | school | one |
| be married to | spouse | one |
| be … years old | age | one |
| be allergic to | allergic to … | many |
| like, love, enjoy | likes … | many |
| prefer | prefers … | many |
| dislike, hate, can't stand | dislikes … | many |
"""

import re
from dataclasses import dataclass, replace

from memserver.services.writing.forms import Filled, Form, Part
from memserver.services.writing.patterns import wording
from memserver.services.writing.subjects import Setting, Subject, owner_in
from memserver.services.writing.values import Value, value_in

_WHO = r"(?P<who>[^,:;]{1,60}?)"
_ADVERB = (
    r"(?: (?:now|currently|also|still|really|just|recently|always|already|absolutely|very much))*"
)
_BE = r"(?: (?:is|am)|['’]m|['’]s)"
_HAVE = r"(?:(?: (?:has|have)|['’]ve|['’]s)\b)?"


@dataclass(frozen=True, slots=True)
class Verb:
    """`key` holds {thing} where there may be many; `place` where the thing must be a name."""

    pattern: re.Pattern[str]
    key: str
    place: bool = False
    renews: bool = False


def _verb(pattern: str, key: str, *, place: bool = False, renews: bool = False) -> Verb:
    whole = wording(rf"{_WHO}{pattern} (?P<thing>.+)")
    return Verb(whole, key, place, renews)


VERBS = (
    _verb(rf"{_ADVERB} (?:lives?|resides?) in", "home", place=True),
    _verb(rf"{_BE}{_ADVERB} (?:living|based|residing) in", "home", place=True),
    _verb(rf"{_HAVE}{_ADVERB} (?:moved|relocated) to", "home", place=True, renews=True),
    _verb(rf"{_ADVERB} works? (?:at|for)", "employer", place=True),
    _verb(rf"{_BE}{_ADVERB} (?:working (?:at|for)|employed (?:at|by))", "employer", place=True),
    _verb(rf"{_ADVERB} works? as (?:an?|the)", "job"),
    _verb(rf"{_BE}{_ADVERB} working as (?:an?|the)", "job"),
    _verb(rf"(?:{_BE}| comes?){_ADVERB} from", "origin", place=True),
    _verb(r" was born in", "birthplace", place=True),
    _verb(r" was born on", "birthday"),
    _verb(rf"{_ADVERB} (?:study|studies) at", "school", place=True),
    _verb(rf"{_BE}{_ADVERB} married to", "spouse", place=True),
    _verb(rf"{_BE}{_ADVERB} allergic to", "allergic to {thing}"),
    _verb(rf"{_ADVERB} (?:likes?|loves?|enjoys?)", "likes {thing}"),
    _verb(rf"{_ADVERB} prefers?", "prefers {thing}"),
    _verb(rf"{_ADVERB} (?:dislikes?|hates?|can['’]?t stand|cannot stand)", "dislikes {thing}"),
)
_AGE = wording(rf"{_WHO}{_BE}{_ADVERB} (?P<thing>\d{{1,3}}) years old")
_NO_LONGER = wording(
    r" (?:(?:is|am) )?no longer |['’]m no longer | (?:do|does)\s*(?:not|n['’]t) (?=.* any\s?more)",
)
_ANY_MORE = wording(r" any\s?more$")
_HE = wording(r"(?:he|she)")
_VAGUE_THING = wording(
    r"(?:to|it|that|this|them|those|these|how|what|when|the|all|some|his|her|their|my|your|our|"
    r"you|him|me|us|"
    r"just|making|seeing|having|being|getting)\b",
)


def personal(clause: str, setting: Setting) -> Filled | None:
    """The clause read by the table; a statement, or a retraction where it says "no longer"."""
    ended = _NO_LONGER.search(clause)
    if ended is not None:
        be = " is " if re.search(r"is|am|['’]m", ended.group(), re.IGNORECASE) else " "
        clause = clause[: ended.start()] + be + _ANY_MORE.sub("", clause[ended.end() :])
    if age := _AGE.fullmatch(clause.rstrip(".!")):
        who = _who(age["who"], setting)
        return _filled(who, "age", Value(age["thing"]), renews=False) if who and not ended else None
    for verb in VERBS:
        match = verb.pattern.fullmatch(clause)
        who = _who(match["who"], setting) if match else None
        thing = value_in(match["thing"]) if match else None
        if match is None or who is None or thing is None or _VAGUE_THING.match(thing.text):
            continue
        if not _agree(match):
            continue
        if verb.place and not any(letter.isupper() for letter in thing.text):
            continue
        many = "{thing}" in verb.key
        key = verb.key.format(thing=thing.text)
        if len(key.split()) > 8 or (many and "," in thing.text):
            continue
        value = replace(thing, text="yes") if many else thing
        filled = _filled(who, key, value, renews=verb.renews)
        return replace(filled, form=ENDED, value=None if many else value) if ended else filled
    return None


def _agree(match: re.Match[str]) -> bool:
    """ "I like", "she likes": "Sounds like fun" and "the kids love it" are about nobody here."""
    verb = match.group()[match.end("who") - match.start() : match.start("thing") - match.start()]
    bare = re.search(
        r"\b(?:live|reside|work|come|study|like|love|enjoy|prefer|dislike|hate|am)\b", verb
    )
    inflected = re.search(
        r"\b(?:lives|resides|works|comes|studies|likes|loves|enjoys|prefers|dislikes|hates|is)\b",
        verb,
    )
    first = match["who"].casefold() == "i"
    return not (bare and not first) and not (inflected and first)


ENDED = Form("E no longer does", (Part.OWNER, Part.VALUE))


def _who(said: str, setting: Setting) -> str | None:
    if _HE.fullmatch(said):
        return setting.entity
    return owner_in(said, setting)


def _filled(who: str, key: str, value: Value, *, renews: bool) -> Filled:
    return Filled(Form("E does", (Part.OWNER, Part.VALUE), renews=renews), Subject(who, key), value)
