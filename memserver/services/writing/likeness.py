"""Whether two texts say the same, by their words: to vectors "Ann has 12" is "Anna has 13".

Everything here leans one way: a text that may say something of its own is kept."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from memserver.domain.items import one_line
from memserver_skills.near_duplicates import Shingles, shingles
from memserver_skills.words import DETERMINERS, FUNCTION_WORDS

_WORD = re.compile(r"\w+(?:['’.,:/@-]\w+)*")
_SENTENCE_END = ".!?:\n"
_NUMBERS = frozenset(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
    hundred thousand million billion half first second third fourth fifth sixth seventh eighth ninth
    tenth once twice dozen""".split()
)
_NEGATIONS = frozenset(
    """no not never none nobody nothing nowhere neither nor without cannot can't won't don't doesn't
    didn't isn't aren't wasn't weren't hasn't haven't hadn't shouldn't wouldn't couldn't mustn't
    stopped ceased unless except""".split()
)
_EMPTY = DETERMINERS | frozenset(
    """is are was were be been am it its it's that this there please just really very also so well
    and then now indeed actually has have had do does did""".split()
)
"""Words that may come or go without a text saying another thing. No preposition is one: from and
to tell two journeys apart."""


@dataclass(frozen=True, slots=True)
class Words:
    """A text as it is compared. `said` are its meaning words in order, without common endings."""

    normal: str
    said: tuple[str, ...]
    names: frozenset[str]
    numbers: tuple[str, ...]
    negations: tuple[str, ...]
    shingles: Shingles


@dataclass(frozen=True, slots=True)
class Differences:
    names: bool
    numbers: bool
    negations: bool

    @property
    def any(self) -> bool:
        return self.names or self.numbers or self.negations


def normal_text(text: str) -> str:
    """The normal form under which two texts are one: white space, case, how Unicode composes a
    letter, characters that are not seen, and the full stop at the end do not matter."""
    return one_line(text).casefold().rstrip(".! ")


@lru_cache(maxsize=4096)
def words_of(text: str) -> Words:
    names: list[str] = []
    numbers: list[str] = []
    negations: list[str] = []
    said: list[str] = []
    for word, opens in _words(text):
        form = word.casefold().replace("’", "'")
        if form in _NEGATIONS:
            negations.append(form)
        elif any(letter.isdigit() for letter in word) or form in _NUMBERS:
            numbers.append(form)
        elif _is_name(word, opens=opens):
            names.append(form)
        if form not in _EMPTY:
            said.append(_stem(form))
    return Words(
        normal=normal_text(text),
        said=tuple(said),
        names=frozenset(names),
        numbers=tuple(numbers),
        negations=tuple(negations),
        shingles=shingles(text),
    )


def differences(left: Words, right: Words) -> Differences:
    """A name counts as different where the other text does not have its word at all."""
    unshared = {_stem(name) for name in left.names} - set(right.said)
    unshared |= {_stem(name) for name in right.names} - set(left.said)
    return Differences(
        names=bool(unshared),
        numbers=left.numbers != right.numbers,
        negations=left.negations != right.negations,
    )


def says_no_more(new: Words, known: Words) -> bool:
    """Whether all that the new text says stands in the known one, in the same order, and no name,
    number or negation sets them apart. Words that only one of the two could do without do not
    count."""
    if not new.said or differences(new, known).any:
        return False
    left = iter(known.said)
    return all(word in left for word in new.said)


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Each word, and whether it opens a sentence."""
    end = 0
    for found in _WORD.finditer(text):
        between = text[end : found.start()]
        yield found.group(), end == 0 or any(mark in between for mark in _SENTENCE_END)
        end = found.end()


def _is_name(word: str, *, opens: bool) -> bool:
    if not any(letter.isupper() for letter in word):
        return False
    return word.casefold() not in FUNCTION_WORDS if opens else word != "I"


def _stem(form: str) -> str:
    for ending in ("'s", "es", "s", "ed", "ing"):
        if form.endswith(ending) and len(form) - len(ending) >= 4:
            return form.removesuffix(ending)
    return form
