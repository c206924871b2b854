"""Cues: what a question and a turn show of themselves, without any model. Words for times are
English; in another language that cue is silent, and the others hold."""

import math
import re

LETTERS = 100
"""A turn of so many letters counts as neither long nor short."""
SHORTEST, LONGEST = -3.0, 2.0

_ASKS_WHEN = re.compile(
    r"\s*(when\b|(for )?how long\b|(in |on )?(what|which) (date|day|month|year|time)\b)",
    re.IGNORECASE,
)
_TELLS_TIME = re.compile(
    r"\d|\b(yesterday|today|tomorrow|tonight|recently|soon|ago|last|next|past"
    r"|(mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|summer|winter|spring|autumn|fall|mornings?|evenings?|weekends?|days?|weeks?|months?|years?)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_QUESTION_MARKS = ("?", "？", "؟")


def asks_when(question: str) -> bool:
    return _ASKS_WHEN.match(question) is not None


def tells_time(text: str) -> bool:
    return _TELLS_TIME.search(text) is not None


def asks(text: str) -> bool:
    """Whether a turn ends in a question: it says less than what answers it."""
    return text.rstrip().endswith(_QUESTION_MARKS)


def names(question: str) -> frozenset[str]:
    """The words by which a question may name somebody."""
    return frozenset(_WORD.findall(question.casefold()))


def is_named(speaker: str, words: frozenset[str]) -> bool:
    """Whether a part of the speaker's name is among a question's words."""
    return any(word in words for word in _WORD.findall(speaker.casefold()))


def length(text: str) -> float:
    """How much a turn says: the logarithm of its length, 0 at `LETTERS`."""
    return min(max(math.log(max(len(text), 1) / LETTERS), SHORTEST), LONGEST)
