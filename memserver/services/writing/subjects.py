"""Whom and what of them a phrase names: "Ana's office", "the office of Ana", "my office", "her
office" after Ana was named. A phrase that could be more than that names nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memserver.domain.items import normal_name
from memserver.services.writing.patterns import wording
from memserver.services.writing.understood import Known
from memserver.services.writing.vocabulary import (
    FORMER,
    KEY_LINKS,
    MONTHS,
    NAME_LINKS,
    NO_KEY,
    NO_KEY_ALONE,
    NO_KEY_END,
    NO_NAME,
    PERIODS,
    PRESENT,
    PRONOUNS,
    RENEWED,
)

LONGEST_NAME = 6
LONGEST_KEY = 5

_QUOTES = "\"'“”‘’«»`*_"
_POSSESSIVE = re.compile(r"(?:(?<=[^\W_])|(?<=\.))(?:['’]s|(?<=s)['’])\s+")
_OF = wording(
    r" (?:(?:that )?(?:belonging to|held by|assigned to|given (?:by|for)|"
    r"(?:(?:listed|recorded|noted|known|saved|stored|registered|on (?:file|record)) )?(?:for|of)|"
    r"(?:we|i|you) (?:have|had|hold|keep|noted|gave you|told you|sent you)(?: (?:noted|recorded|"
    r"listed|saved|on (?:file|record)))? for)) ",
)
_WHOSE = wording(
    r"(?P<key>the .+?) (?:that|which) (?P<entity>\S.*?) (?:has|uses|holds|gave|chose|listed)",
)
_MINE = wording(r"my (?P<key>.+)")
_THEIRS = wording(r"(?:his|her|their|its) (?P<key>.+)")
_OUR_MAN = re.compile(r"(?:my|our|the)\s+[a-z]+\s+(?=[A-Z][\w.'’-]*$)")
_DETERMINER = wording(r"(?:the|a|an|his|her|their|its|this|that|any) ")
_INDEFINITE = wording(r"(?:an?|another|one)\s")
_CONTRACTED = wording(r"(?:n['’]t|['’](?:ve|ll|re|m|d|s))$")
_NAME_WORD = re.compile(r"[@#]?\w(?:[\w.'’&/+@:#-]*[\w.+#])?|&")
_KEY_WORD = re.compile(r"[^\W_][\w'’/&.-]*")


@dataclass(frozen=True, slots=True)
class Subject:
    """A key of an entity; `renewed` says that the phrase itself calls the value a new one."""

    entity: str
    key: str
    renewed: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """What was said before, as far as a phrase may lean on it: `entity` was named last, `subject`
    is the fact spoken of last, `topic` whom the sentence was announced to be about."""

    known: Known
    speaker: str | None = None
    entity: str | None = None
    subject: Subject | None = None
    topic: str | None = None


def subject_in(phrase: str, setting: Setting) -> Subject | None:
    """The phrase read as a key of an entity, or None where it is not clearly one."""
    phrase = phrase.strip().strip(_QUOTES).strip()
    if not phrase or len(phrase) > 120:
        return None
    readings = [
        Subject(entity, key.name, key.renewed)
        for entity, key_phrase in _split(phrase, setting)
        if (key := key_in(key_phrase)) is not None
    ]
    known = setting.known
    sure = [r for r in readings if known.entity(r.entity) and known.key(r.key)]
    sure = sure or [reading for reading in readings if known.entity(reading.entity)]
    return next(iter(sure or readings), None)


def _split(phrase: str, setting: Setting) -> Iterator[tuple[str, str]]:
    """Entity and key phrase of every way to read the phrase, the likeliest first."""
    if setting.speaker and (mine := _MINE.fullmatch(phrase)):
        yield setting.speaker, mine["key"]
    if (theirs := _THEIRS.fullmatch(phrase)) and (named := setting.topic or setting.entity):
        yield named, theirs["key"]
    for match in _POSSESSIVE.finditer(phrase):
        entity = owner_in(phrase[: match.start()], setting, possessive=True)
        if entity is not None:
            yield entity, phrase[match.end() :]
    for match in reversed(list(_OF.finditer(phrase))):
        entity = owner_in(phrase[match.end() :], setting)
        key_phrase = phrase[: match.start()]
        if entity == setting.speaker or _INDEFINITE.match(key_phrase):
            continue
        if entity is not None and not _partitive(key_phrase):
            yield entity, key_phrase
    if whose := _WHOSE.fullmatch(phrase):
        entity = owner_in(whose["entity"], setting)
        if entity is not None:
            yield entity, whose["key"]
    if (
        setting.entity
        and phrase.casefold().startswith("the ")
        and setting.known.entity(setting.entity)
    ):
        key = phrase[4:].strip()
        if setting.known.key(key):
            yield setting.entity, key
    yield from _known_side_by_side(phrase, setting)
    if setting.topic is not None:
        yield setting.topic, phrase


def _partitive(key_phrase: str) -> bool:
    """ "the end of the day": which part, not what of it."""
    head = _DETERMINER.sub("", key_phrase.casefold()).split()
    return len(head) == 1 and head[0] in NO_KEY_ALONE


def _known_side_by_side(phrase: str, setting: Setting) -> Iterator[tuple[str, str]]:
    """ "Ana office": only where both are known."""
    words = phrase.split()
    for cut in range(1, len(words)):
        entity, key = " ".join(words[:cut]), " ".join(words[cut:])
        if setting.known.entity(entity) and setting.known.key(key):
            yield entity, key


def owner_in(phrase: str, setting: Setting, *, possessive: bool = False) -> str | None:
    """The phrase as the name of something that has attributes, or None. In lower case it must be
    known, hold a digit, begin with "the", or be a single word that an 's makes an owner."""
    name = phrase.strip().strip(_QUOTES).strip()
    if setting.speaker and normal_name(name) in ("i", "me", "myself"):
        return setting.speaker
    if setting.known.entity(name):
        return name
    name = _OUR_MAN.sub("", name)
    words = name.split()
    if not words or len(words) > LONGEST_NAME:
        return None
    if not all(_NAME_WORD.fullmatch(word.rstrip(",")) for word in words) or "," in name:
        return None
    determined = words[0].casefold() == "the" and len(words) > 1
    proper = words[1:] if determined else words
    if proper[0].casefold().removesuffix("'s") in NO_NAME or _adverb(proper[0]):
        return None
    if len(proper) == 1 and proper[0].casefold() in (PERIODS if possessive else PERIODS | MONTHS):
        return None
    if any(
        word.casefold() in PRONOUNS | {"and", "or"} or _CONTRACTED.search(word) for word in proper
    ):
        return None
    if all(_name_like(word) for word in proper if word not in NAME_LINKS):
        return name
    lower = [word for word in proper if not _name_like(word) and word not in NAME_LINKS]
    if any(word.casefold() in NO_NAME or _adverb(word) for word in lower):
        return None
    # "project Falcon", "server web-1"; "the printer"; "ana's".
    # A capital at the start of a sentence is no sign of a name.
    mixed = any(map(_named, proper[1:])) and len(proper) <= 4
    if mixed or (determined and len(proper) <= 3) or (possessive and len(proper) == 1):
        return name
    return None


def _name_like(word: str) -> bool:
    return (
        word[0] in "@#"
        or any(letter.isupper() or letter.isdigit() for letter in word)
        or (word[0].isalpha() and not word[0].islower() and not word[0].isupper())
    )


def _named(word: str) -> bool:
    return _name_like(word) and _lettered(word)


def _adverb(word: str) -> bool:
    return len(word) > 4 and word.endswith("ly") and word.islower()


@dataclass(frozen=True, slots=True)
class Key:
    """The name of an attribute without what stood before it; see `Subject.renewed`."""

    name: str
    renewed: bool = False


def key_in(phrase: str) -> Key | None:
    """The phrase as the name of an attribute, or None. A former one ("the old office") is none,
    since what is said of it does not hold now."""
    name = phrase.strip().strip(_QUOTES).strip()
    name = _DETERMINER.sub("", name, count=1) if _DETERMINER.match(name) else name
    words = name.split()
    renewed = False
    while len(words) > 1 and words[0].casefold() in RENEWED | PRESENT:
        renewed = renewed or words[0].casefold() in RENEWED
        words = words[1:]
    while len(words) > 1 and words[-1].casefold() == "now":
        words, renewed = words[:-1], True
    if not words or len(words) > LONGEST_KEY or words[0].casefold() in FORMER:
        return None
    if not all(_KEY_WORD.fullmatch(word) for word in words) or not any(map(_lettered, words)):
        return None
    # "song of the day": a determiner inside, after a preposition.
    inner = {n + 1 for n, word in enumerate(words[:-1]) if word.casefold() in KEY_LINKS}
    if any(
        word.casefold() in NO_KEY and not (n in inner and word.casefold() == "the")
        for n, word in enumerate(words)
    ):
        return None
    if (
        words[0].casefold() in KEY_LINKS - {"next", "last"}
        or words[-1].casefold() in KEY_LINKS | NO_KEY_END
    ):
        return None
    return Key(" ".join(words), renewed)


def _lettered(word: str) -> bool:
    return any(letter.isalpha() for letter in word)
