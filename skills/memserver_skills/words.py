"""How text is cut into words here, so that goals, actions and templates are compared alike."""

import re
from dataclasses import dataclass

SLOT = re.compile(r"\{([a-z][a-z0-9_]*)\}")

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_WORD_OR_SLOT = re.compile(r"\{([a-z][a-z0-9_]*)\}|\w+(?:['’-]\w+)*")
_SPACE = re.compile(r"\s+")

DETERMINERS = frozenset({"a", "an", "the", "some"})

# Words that carry grammar rather than a thing that could be swapped for another. A closed class
# of English; nothing here belongs to one environment.
_GRAMMAR = """
about above across after again all along also an and any are around as at away back be because
been before behind below beside between beyond both but by can could did do does down during each
every few finally first for from further had has have he her here his how i if in inside into is
it its just last like many may me more most must my n near next no nor not now of off on once one
only onto or other our out over same second she should since so still such than that their them
then there these they third this those three through to too toward towards two under until up upon
us very via was we were what when where which while who whose why will with within without would
you your
"""
FUNCTION_WORDS = DETERMINERS | frozenset(_GRAMMAR.split())


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text: as compared (`form`), and where it stands."""

    form: str
    start: int
    end: int
    slot: str | None = None


def words(text: str) -> tuple[Word, ...]:
    """The words of plain text, in order, without determiners; braces mean nothing in it."""
    return tuple(
        Word(form, match.start(), match.end())
        for match in _WORD.finditer(text)
        if (form := match.group().casefold()) not in DETERMINERS
    )


def template_words(template: str) -> tuple[Word, ...]:
    """As `words`, with each `{slot}` as one word."""
    return tuple(
        Word(form, match.start(), match.end(), match.group(1))
        for match in _WORD_OR_SLOT.finditer(template)
        if (form := match.group().casefold()) not in DETERMINERS
    )


def forms(text: str) -> tuple[str, ...]:
    """The words as compared, determiners included."""
    return tuple(match.group().casefold() for match in _WORD.finditer(text))


def content_words(text: str) -> frozenset[str]:
    """The words that carry meaning."""
    return frozenset(forms(text)) - FUNCTION_WORDS


def stems(text: str) -> frozenset[str]:
    """The content words without their commonest endings, parts of hyphenated words apart."""
    parts = (part for word in content_words(text) for part in word.split("-"))
    return frozenset(_stem(part) for part in parts if len(part) > 2)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > 4 else word


def slot_type(name: str) -> str:
    """What kind of thing a slot stands for: its name without the number that tells it from others
    of its kind."""
    return name.rstrip("0123456789").rstrip("_")


def one_line(text: str) -> str:
    """The text with all white space runs, line breaks included, as one blank."""
    return _SPACE.sub(" ", text).strip()


def shorten(text: str, limit: int) -> str:
    """The text in at most `limit` characters, cut between words, with an ellipsis if cut."""
    text = one_line(text)
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    cut = head.rfind(" ")
    return head[: cut if cut > limit // 2 else len(head)].rstrip(" ,;:.") + "…"
