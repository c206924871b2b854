"""The value at the end of a statement, without the words that only say when or instead of what."""

import re
from dataclasses import dataclass

from memserver.services.writing.dates import is_date
from memserver.services.writing.vocabulary import NO_VALUE_START, VAGUE
from memserver_skills.words import FUNCTION_WORDS

LONGEST_VALUE = 16
"""In words; what is longer is a sentence of its own."""

_I = re.IGNORECASE
_LEAD = re.compile(
    r"(?:(?P<new>now)|still|currently|presently|officially|actually|indeed|in\s+fact|as\s+follows:?|the\s+following:?|"
    r"set\s+(?:to|at|as)|(?:listed|recorded|noted|given|registered|known|confirmed|entered|stated)\s+as|at\s+present|at\s+the\s+moment|"
    r"simply|just|exactly|hereby|from\s+now\s+on|these\s+days)\s+",
    _I,
)
_NOW = re.compile(
    r"[\s,]+(?:now|these\s+days|nowadays|instead|after\s+all|from\s+now\s+on|going\s+forward|from\s+here\s+on|"
    r"as\s+of\s+(?:today|now)|effective\s+immediately|from\s+today(?:\s+on)?)$",
    _I,
)
_FILLER = re.compile(
    r"[\s,]+(?:currently|at\s+the\s+moment|at\s+present|right\s+now|already|officially|please|thanks|thank\s+you|"
    r"ok|okay|too|as\s+well|by\s+the\s+way|btw|fyi|for\s+the\s+record|again|for\s+(?:your\s+)?reference|today)$",
    _I,
)
_NOT_THAT = re.compile(
    r"\s*(?:,\s*(?:and\s+)?(?:not|no\s+longer|never)\s.+|\s(?:instead\s+of|rather\s+than|and\s+(?:not|no\s+longer))\s.+|"
    r"[,\s]+\(?(?:up|down)\s+from\s.+|[,\s]*\((?:not|no\s+longer|was|were|previously|formerly|before|used\s+to\s+be|"
    r"instead\s+of|formerly)\b[^)]*\)|,\s*(?:it\s+)?(?:was|previously|formerly)\s.+)$",
    _I,
)
_SINCE = re.compile(
    r"[\s,]+(?:since|as\s+of|from|as\s+from|starting(?:\s+(?:on|from))?|beginning|effective(?:\s+(?:on|from))?|"
    r"with\s+effect\s+from)\s+(?P<phrase>[^,]{2,40}?)(?:\s+on(?:wards?)?)?$",
    _I,
)
# A verb or a person of its own: a clause, or words of the moment.
_CLAUSE = re.compile(
    r"\b(?:is|are|was|were|isn['’]t|aren['’]t|wasn['’]t|i|we|you|they|he|she|who|which|that|my|our|your|me|us)\b|"
    r"['’](?:s|re|m|ve|ll)\s+(?:a|an|the|so|such|not)\b|\s[–—-]\s",
    _I,
)
# Of a list the last is short; more words after "and" are a clause.
_GOES_ON = re.compile(r",\s*(?:and|but|so|because|while|though|although)\s+(?:\S+\s+){3,}\S", _I)
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


_WHEN = re.compile(
    r"[\s,]+(?P<phrase>yesterday|today|this\s+(?:morning|afternoon|evening|week|month|year)|last\s+\w+|"
    r"(?:\d+|a|an|two|three|four|five|six)\s+\w+\s+ago|on\s+.{3,24})$",
    _I,
)


def _when(text: str) -> re.Match[str] | None:
    """The date of the change itself at the end of "changed to B12 yesterday"."""
    match = _WHEN.search(text)
    return match if match and is_date(match["phrase"].removeprefix("on ")) else None


def value_in(phrase: str, *, change: bool = False) -> Value | None:
    """The phrase as a value, or None where it is vague, a clause, a denial or too long. After the verb
    of a `change` a date at the end says when it came about."""
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
