"""Text cut into sentences, without a model: abbreviations, decimals, initials and dotted names
stay whole, and the full stops of Chinese and Japanese end a sentence though no blank follows."""

import re
from dataclasses import dataclass

from memserver.services.writing.understood import Span

# After these a sentence goes on, whatever follows.
_NEVER_END = frozenset(
    "dr mr mrs ms mx prof st sr jr rev hon capt col gen lt sgt fr no nr vs cf eg e.g ie i.e viz ca "
    "approx fig figs eq sec ch pp vol ed eds al mt ft dept est tel ext art".split()
)
# After these it ends only where a capital follows.
_MAY_END = frozenset(
    "etc inc ltd co corp llc a.m p.m am pm u.s u.k u.s.a jan feb mar apr jun jul aug sep sept oct "
    "nov dec mon tue tues wed thu thur thurs fri sat sun min max hr hrs".split()
)

_END = re.compile(
    r"""(?P<cjk>[。！？]+["'”’」』）)]*)|(?P<stop>[.!?…]+)["'”’)\]]*(?=\s|$)|(?P<line>\n)"""
)
_LAST_WORD = re.compile(r"[\w.]+$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence as it was written, without the white space around it."""

    text: str
    span: Span


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences in order; a line break always ends one."""
    found = []
    start = 0
    for match in _END.finditer(text):
        if match["stop"] == "." and not _ends(text, match):
            continue
        found.append(_trimmed(text, start, match.end()))
        start = match.end()
    found.append(_trimmed(text, start, len(text)))
    return tuple(sentence for sentence in found if sentence.text)


def _ends(text: str, match: re.Match[str]) -> bool:
    before = _LAST_WORD.search(text, max(0, match.start() - 40), match.start())
    word = before.group() if before else ""
    following = text[match.end() :].lstrip(" \t\"'“‘(")[:1]
    # "J. Smith": a lone capital is an initial, unless it ends the text.
    if len(word) == 1 and word.isalpha() and word.isupper():
        # An "I" may be the pronoun, which ends a sentence as any word does.
        if word != "I" or (following.isupper() and _in_a_name(text[: match.start() - 1])):
            return not following
        return True
    folded = word.casefold()
    if folded in _NEVER_END:
        return not following
    if folded in _MAY_END or ("." in folded and folded.replace(".", "").isalpha()):
        return not following or following.isupper()
    return True


def _in_a_name(before: str) -> bool:
    """Whether an "I" after these words is an initial and no pronoun: it stands first ("I. Newton")
    or after a name ("Dara I. Bob"), where people end no sentence with themselves."""
    word = _LAST_WORD.search(before.rstrip(" \t"))
    return not before.strip() or (word is not None and word.group()[:1].isupper())


def _trimmed(text: str, start: int, end: int) -> Sentence:
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    right = start + len(piece.rstrip())
    return Sentence(text[left:right], Span(left, max(left, right)))
