"""The value at the end of a statement, without the words that only say when or instead of what."""

import re
from dataclasses import dataclass

from memserver.services.writing.dates import is_date
from memserver.services.writing.patterns import wording
from memserver.services.writing.vocabulary import NO_VALUE_START, VAGUE
from memserver_skills.words import FUNCTION_WORDS

LONGEST_VALUE = 16
"""In words; what is longer is a sentence of its own."""

_LEAD = wording(
    r"(?:(?P<new>now)|still|currently|presently|officially|actually|indeed|in fact|as follows:?|"
    r"the following:?|"
    r"set (?:to|at|as)|(?:listed|recorded|noted|given|registered|known|confirmed|entered|"
    r"stated) as|at present|at the moment|"
    r"simply|just|exactly|hereby|from now on|these days) ",
)
_NOW = wording(
    r"[\s,]+(?:now|these days|nowadays|instead|after all|from now on|going forward|from here on|"
    r"as of (?:today|now)|effective immediately|from today(?: on)?)$",
)
_FILLER = wording(
    r"[\s,]+(?:currently|at the moment|at present|right now|already|officially|please|thanks|"
    r"thank you|"
    r"ok|okay|too|as well|by the way|btw|fyi|for the record|again|for (?:your )?reference|today)$",
)
_NOT_THAT = wording(
    r"\s*(?:,\s*(?:and )?(?:not|no longer|never)\s.+|\s(?:instead of|rather than|and (?:not|"
    r"no longer))\s.+|"
    r"[,\s]+\(?(?:up|down) from\s.+|[,\s]*\((?:not|no longer|was|were|previously|formerly|before|"
    r"used to be|"
    r"instead of|formerly)\b[^)]*\)|,\s*(?:it )?(?:was|previously|formerly)\s.+)$",
)
_SINCE = wording(
    r"[\s,]+(?:since|as of|from|as from|starting(?: (?:on|from))?|beginning|effective(?: (?:on|"
    r"from))?|"
    r"with effect from) (?P<phrase>[^,]{2,40}?)(?: on(?:wards?)?)?$",
)
# A verb or a person of its own: a clause, or words of the moment.
_CLAUSE = wording(
    r"\b(?:is|are|was|were|isn['’]t|aren['’]t|wasn['’]t|i|we|you|they|he|she|who|which|that|my|"
    r"our|your|me|us)\b|"
    r"['’](?:s|re|m|ve|ll) (?:a|an|the|so|such|not)\b|\s[–—-]\s",
)
# Of a list the last is short; more words after "and" are a clause.
_GOES_ON = wording(r",\s*(?:and|but|so|because|while|though|although) (?:\S+ ){3,}\S")
_QUOTED = re.compile(
    r"\"(?P<a>[^\"]+)\"|“(?P<b>[^”]+)”|'(?P<c>[^']+)'|‘(?P<d>[^’]+)’|«(?P<e>[^»]+)»|`(?P<f>[^`]+)`"
)
_END = " \t\n.,;:!…。！"


@dataclass(frozen=True, slots=True)
class Value:
    """`renewed` where the words around it call it a change; `dated` is what may say since when."""

    text: str
    renewed: bool = False
    dated: str = ""


def since_in(phrase: str) -> str | None:
    """The date after "since", "as of", …, in words that `dates.resolve` reads; None for another
    phrase that only begins so ("from Bob")."""
    match = _SINCE.fullmatch(phrase) or _SINCE.fullmatch(" " + phrase)
    if match is None:
        return None
    said = match["phrase"]
    return next((read for read in (said, f"since {said}") if is_date(read)), None)


_WHEN = wording(
    r"[\s,]+(?P<phrase>yesterday|today|this (?:morning|afternoon|evening|week|month|year)|last \w+|"
    r"(?:\d+|a|an|two|three|four|five|six) \w+ ago|on .{3,24})$",
)


def _when(text: str) -> re.Match[str] | None:
    """The date of the change itself at the end of "changed to B12 yesterday"."""
    match = _WHEN.search(text)
    return match if match and is_date(match["phrase"].removeprefix("on ")) else None


def value_in(phrase: str, *, change: bool = False) -> Value | None:
    """The phrase as a value, or None where it is vague, a clause, a denial or too long. After the
    verb of a `change` a date at the end says when it came about."""
    text = phrase.strip(_END).strip()
    if quoted := _QUOTED.fullmatch(text):
        inner = next(filter(None, quoted.groups())).strip()
        return Value(inner) if inner else None
    renewed, dated = False, ""
    while lead := _LEAD.match(text):
        renewed = renewed or bool(lead["new"])
        text = text[lead.end() :].strip()
    for _ in range(4):
        before = text
        for tail in (_NOW, _NOT_THAT):
            if cut := tail.search(text):
                text, renewed = text[: cut.start()].strip(_END), True
        if cut := _FILLER.search(text):
            text = text[: cut.start()].strip(_END)
        if not dated and (cut := _SINCE.search(text)) and (since := since_in(cut.group())):
            text, dated = text[: cut.start()].strip(_END), since
        if change and not dated and (cut := _when(text)):
            text, dated = text[: cut.start()].strip(_END), cut["phrase"].removeprefix("on ")
        if text == before:
            break
    if quoted := _QUOTED.fullmatch(text):
        return Value(next(filter(None, quoted.groups())).strip(), renewed, dated)
    words = text.split()
    if not words or len(words) > LONGEST_VALUE or _CLAUSE.search(text):
        return None
    folded = [word.casefold().strip(",") for word in words]
    if _GOES_ON.search(text):
        return None
    if folded[0] in NO_VALUE_START or all(word in VAGUE for word in folded):
        return None
    if (
        len(words) > 1
        and len(folded[0]) > 4
        and folded[0].endswith("ing")
        and folded[1] in FUNCTION_WORDS
    ):
        return None
    if "n't" in folded[0] or "n’t" in folded[0] or not any(map(str.isalnum, text)):
        return None
    return Value(text, renewed, dated)
