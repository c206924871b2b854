"""Words that an edit put in place of others, told apart from typos and spelling."""

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_TERM = 3
LONGEST_WORD = 40
MOST_WORDS = 2_000
LEAST_IN_COMMON = 0.5
"""Below it the text was written anew, and what stands in place of what says nothing."""
TYPO = 0.75
FEW_LETTERS = 4

# What British and American spelling differ in: the first becomes the second.
SPELLINGS = (
    (re.compile(r"is(e[ds]?|ing|ation|ations|er|ers)$"), r"iz\1"),
    (re.compile(r"ys(e[ds]?|ing)$"), r"yz\1"),
    (re.compile(r"our(s|ed|ing|ful|able|ite|ites|al|hood|hoods)?$"), r"or\1"),
    (re.compile(r"tre(s|d)?$"), r"ter\1"),
    (re.compile(r"ogue(s)?$"), r"og\1"),
    (re.compile(r"lle(d|r|rs)$"), r"le\1"),
    (re.compile(r"lling$"), r"ling"),
    (re.compile(r"ence$"), r"ense"),
    (re.compile(r"^grey"), r"gray"),
    (re.compile(r"gramme(s)?$"), r"gram\1"),
)
# Wordy to plain: here one swap is enough to know why it was made.
PLAIN = {
    "utilise": "use",
    "utilize": "use",
    "leverage": "use",
    "commence": "start",
    "terminate": "end",
    "endeavour": "try",
    "endeavor": "try",
    "facilitate": "help",
    "assist": "help",
    "purchase": "buy",
    "obtain": "get",
    "demonstrate": "show",
    "approximately": "about",
    "regarding": "about",
    "subsequently": "then",
    "prior to": "before",
    "in order to": "to",
    "additional": "more",
    "sufficient": "enough",
    "numerous": "many",
    "require": "need",
}


@dataclass(frozen=True, slots=True)
class Swap:
    """`old` gave way to `new`. `clear` says that it was no chance: it happened more than once, or
    is a known plainer word."""

    old: str
    new: str
    clear: bool


@dataclass(frozen=True, slots=True)
class Swaps:
    """`spelling` is "american", "british" or "" where no word changed between the two."""

    terms: tuple[Swap, ...] = ()
    spelling: str = ""


def swaps(before: Sequence[str], after: Sequence[str]) -> Swaps:
    """From the words of both texts, in order."""
    if not before or not after or max(len(before), len(after)) > MOST_WORDS:
        return Swaps()
    old_words, new_words = [w.casefold() for w in before], [w.casefold() for w in after]
    matcher = difflib.SequenceMatcher(None, old_words, new_words)
    blocks = matcher.get_opcodes()
    common = sum(old_to - old for tag, old, old_to, _, _ in blocks if tag == "equal")
    replaced = [
        (tuple(before[old:old_to]), tuple(after[new:new_to]))
        for tag, old, old_to, new, new_to in blocks
        if tag == "replace"
    ]
    spelt = Counter(filter(None, (_spelling(old, new) for old, new in replaced)))
    if common / max(len(before), len(after)) < LEAST_IN_COMMON:
        return Swaps(spelling=_prevailing(spelt))
    counted = Counter(
        (" ".join(old).casefold(), " ".join(new).casefold())
        for old, new in replaced
        if _is_term(old, new)
    )
    left = " ".join(new_words)
    return Swaps(
        terms=tuple(
            Swap(old, new, clear=count > 1 or plainer(old, new))
            for (old, new), count in counted.items()
            if f" {old} " not in f" {left} "
        ),
        spelling=_prevailing(spelt),
    )


def only_typos(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether the words differ by letters only, as where a slip was put right."""
    if len(before) != len(after):
        return False
    pairs = [
        (old, new)
        for old, new in zip(before, after, strict=True)
        if old.casefold() != new.casefold()
    ]
    return all(_is_typo(old, new) and not _spelling((old,), (new,)) for old, new in pairs)


def plainer(old: str, new: str) -> bool:
    """Whether `new` is the plain word for `old`, in the same or another form of both."""
    plain = PLAIN.get(old) or PLAIN.get(_stem(old)) or PLAIN.get(_stem(old) + "e")
    return plain is not None and _stem(new).startswith(_stem(plain))


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word.removesuffix(ending)
    return word


def _is_term(old: Sequence[str], new: Sequence[str]) -> bool:
    """Names, numbers and slips are no wording, nor is another form or spelling of a word."""
    if len(old) > LONGEST_TERM or len(new) > LONGEST_TERM:
        return False
    words = (*old, *new)
    if not all(word.isalpha() and word.islower() for word in words):
        return False
    if {_stem(word) for word in old} & {_stem(word) for word in new}:
        return False
    if _spelling(old, new) or all(len(word) < FEW_LETTERS for word in words):
        return False
    return not (len(old) == len(new) == 1 and _is_typo(old[0], new[0]))


def _is_typo(old: str, new: str) -> bool:
    """One or two letters apart, in words that are otherwise the same."""
    if max(len(old), len(new)) > LONGEST_WORD:
        return False
    if abs(len(old) - len(new)) > 2 or not old.isalpha() or not new.isalpha():
        return False
    ratio = difflib.SequenceMatcher(None, old.casefold(), new.casefold()).ratio()
    return ratio >= TYPO


def _spelling(old: Sequence[str], new: Sequence[str]) -> str:
    if len(old) != 1 or len(new) != 1 or old[0].casefold() == new[0].casefold():
        return ""
    first, second = old[0].casefold(), new[0].casefold()
    for pattern, american in SPELLINGS:
        if pattern.search(first) and pattern.sub(american, first) == second:
            return "american"
        if pattern.search(second) and pattern.sub(american, second) == first:
            return "british"
    return ""


def _prevailing(spelt: Counter[str]) -> str:
    return spelt.most_common(1)[0][0] if len(spelt) == 1 else ""
