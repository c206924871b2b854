"""Whether two texts say the same, so that one may stand for both."""

import re
from functools import lru_cache

from memserver_skills.experience import Alike
from memserver_skills.statements import ideas, within
from memserver_skills.words import FUNCTION_WORDS

ALIKE = 0.85
"""EvolveR's threshold. Likeness alone is no proof: "take the key" and "leave the key" are alike."""

_NAME = re.compile(
    r"\{[a-z][a-z0-9_]*\}"  # a slot
    r"|(?<=[\w,;’')\]] )[^\W\d_a-z]\w*"  # a capital within a sentence
    r"|\w*\d[\w.:/-]*"  # a number, or a word with one
    r"|[\w-]+(?:[_/@.\\][\w-]+)+"  # a path, an address, an identifier
    r"|[“\"][^”\"]+[”\"]"  # a quotation
)


@lru_cache(maxsize=8_192)
def names_in(text: str) -> frozenset[str]:
    """What a text names in so many letters: slots, numbers, names, identifiers, quotations."""
    found = (match.group().strip(".,;:'’").casefold() for match in _NAME.finditer(text))
    return frozenset(name for name in found if name not in FUNCTION_WORDS)


def confirmed(left: str, right: str) -> bool:
    """Whether no name, number or "not" tells the two apart, and neither says another thing where
    the other says one: what differs is how they say it, or that one says more."""
    if names_in(left) != names_in(right):
        return False
    mine, others = ideas(left), ideas(right)
    return within(mine, others) or within(others, mine)


def says_the_same(left: str, right: str, alike: Alike) -> bool:
    """Alike, and confirmed by reading both."""
    return confirmed(left, right) and alike(left, right) >= ALIKE
