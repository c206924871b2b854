"""What stands around a statement without being part of it: "Please note that …", "Correction: …",
"Ana told me that …", "For Ana, …", and after it "… now", "…, not B12", "… since Monday"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memserver.services.writing.dates import is_date
from memserver.services.writing.subjects import Setting, owner_in
from memserver.services.writing.vocabulary import HEDGES

_I = re.IGNORECASE
_PERSON = r"(?:i|we|you|they|he|she)"
_TOLD = (
    r"(?:(?:has|have|had)\s+)?(?:just\s+)?(?:told\s+(?:me|us|them|him|her)|says?|said|mentions?|mentioned|"
    r"confirms?|confirmed|reports?|reported|announces?|announced|informs?\s+(?:me|us)|"
    r"informed\s+(?:me|us)|let\s+(?:me|us)\s+know|wrote|writes|tells\s+(?:me|us)|explained|stated|"
    r"states|noted|shared|reminded\s+(?:me|us)|pointed\s+out)(?:\s+(?:today|yesterday|just\s+now))?"
)
_LEARNED = (
    r"(?:(?:have|had|has|'ve|’ve)\s+)?(?:just\s+|also\s+|recently\s+)?(?:learn(?:ed|t)|hear[d]?|found\s+out|"
    r"(?:been|was|were)\s+(?:told|informed)|noticed?|see|saw|read|know|knew|agreed?|discovered|realis?z?ed|"
    r"can\s+confirm|confirm(?:ed)?|understand|got\s+word|decided|want(?:ed)?\s+you\s+to\s+(?:know|remember)|"
    r"want(?:ed)?\s+to\s+(?:let\s+you\s+know|tell\s+you|say|add|mention)|"
    r"would\s+like\s+you\s+to\s+(?:know|remember|note)|meant(?:\s+to\s+say)?|mean|should\s+(?:mention|add|say)|"
    r"must\s+(?:correct\s+myself|add))"
)
_ASKED = (
    r"(?:(?:can|could|would|will)\s+you\s+)?(?:please\s+|pls\s+|plz\s+|kindly\s+|do\s+|just\s+)*"
)
_LATER = r"(?:\s+(?:please|this|down|for\s+(?:me|us|later)|to\s+your\s+notes))*"
_NOTE = (
    rf"{_ASKED}(?:(?:make\s+|take\s+)(?:a\s+)?note|note|remember|be\s+(?:aware|advised|informed)|"
    r"(?:keep|bear)\s+in\s+mind|don['’]?t\s+forget|do\s+not\s+forget|know|observe|remind\s+yourself|"
    r"let\s+it\s+be\s+known|rest\s+assured|let\s+me\s+(?:tell\s+you|add|note|correct\s+myself|correct\s+that))"
    rf"{_LATER}"
)
# These have an object of their own ("record B12 as Ana's office"), so only "that" or a colon
# makes a frame of them.
_WRITE = (
    rf"{_ASKED}(?:record|write(?:\s+this)?\s+down|jot\s+down|save|store|log|register|memori[sz]e|"
    rf"note\s+down|add(?:\s+this)?|file|enter|put\s+down){_LATER}"
)
_FRAME = re.compile(
    rf"(?:"
    rf"{_NOTE}\s*(?:,|:|\s+that\b|\s+the\s+fact\s+that\b|\s)"
    rf"|{_WRITE}\s*(?::|\s+that\b|\s+the\s+fact\s+that\b)"
    rf"|{_PERSON}(?:\s+(?:need|ought|have)\s+to|\s+should|\s+must)?\s+(?:know|remember|note)\s*(?:,|:|that\b|\s)"
    rf"|(?:i|we)\s*{_LEARNED}(?:\s+(?:today|yesterday|earlier|just\s+now|this\s+morning))?\s*(?:,|:|that\b|\s)"
    rf"|(?:it|this)\s+(?:now\s+)?(?:turns\s+out|seems\s+clear|is\s+(?:official|clear|confirmed|a\s+fact|known|true))"
    rf"\s*(?:,|:|that\b|\s)"
    rf"|(?:just|also|recently)\s+{_LEARNED}(?:\s+(?:today|yesterday|earlier|now))?\s*(?:,|:|that\b|\s)"
    rf"|did\s+(?:i|we)\s+(?:already\s+)?(?:mention|tell\s+you|say|note)(?:\s+already)?\s*(?:,|:|that\b|\s)"
    rf"|did\s+you\s+(?:know|hear)\s*(?:,|:|that\b|\s)"
    rf"|(?:in\s+case|if)\s+(?:you(?:['’]re|\s+are|\s+were)?|anyone|it)\s+(?:need|want|wonder|wondering|curious|interested|"
    rf"miss|missed|ask|asks|helps|matters|didn['’]?t\s+know|don['’]?t\s+know|haven['’]?t\s+heard)[^,:]{{0,20}}[,:]"
    rf"|turns\s+out\s*(?:,|:|that\b|\s)"
    rf"|(?:just\s+)?(?:so|as|to\s+let)\s+you\s+(?:all\s+)?(?:know|are\s+aware)\s*(?:,|:|that\b|\s)"
    rf"|(?:the\s+)?(?:truth|fact|thing)\s+is\s*(?:,|:|that\b)"
    rf"|that\s+(?=\S+['’]s\s|the\s)"
    rf")\s*",
    _I,
)
_OPENERS = re.compile(
    r"(?:(?:ok|okay|so|oh|also|and|but|now|additionally|moreover|furthermore|besides|actually|currently|presently|"
    r"officially|indeed|evidently|apparently|obviously|clearly|basically|finally|instead|meanwhile|fyi|btw|"
    r"hm+|um+|uh|yeah|yep|yup|lol|haha|"
    r"at\s+present|at\s+the\s+moment|right\s+now|these\s+days|nowadays|as\s+it\s+stands|in\s+fact|"
    r"by\s+the\s+way|for\s+the\s+record|for\s+your\s+information|for\s+(?:future\s+)?reference|as\s+you\s+know|"
    r"in\s+short|of\s+note|for\s+clarity|to\s+be\s+clear|to\s+clarify|to\s+be\s+exact|one\s+more\s+thing|"
    r"from\s+now\s+on|as\s+of\s+(?:today|now)|effective\s+(?:immediately|today)|starting\s+(?:today|now)|going\s+forward|"
    r"henceforth|from\s+today(?:\s+on)?|as\s+from\s+today|after\s+all)"
    r"(?:\s*[,:;!–—-]+\s*|\s*\.\.\.\s*|\s+)"
    # These also begin names and values ("Hey Jude", "no pet"), or are verbs, so that only a stop
    # sets them apart.
    r"|(?:hey|hi|hello|ah|aww|wow|cool|well|right|yes|no|nope|wait|sorry|thanks|thank\s+you|please|then|plus|again|"
    r"nb|ps|good\s+news|update|correction|reminder|news|change|listen|look|fine|great|edit|note|nice)"
    r"\s*(?:[,:;!–—-]|\.\.\.)+\s*)",
    _I,
)
_RENEWING = re.compile(
    r"\b(?:actually|correction|update|now|instead|from\s+now\s+on|as\s+of\s+(?:today|now)|effective|starting|"
    r"going\s+forward|henceforth|from\s+today|as\s+from|wrong|mistaken|mistake|meant|scratch|changed?|changes|news?|"
    r"outdated|revised|amend\w*|correct\s+(?:myself|that)|sorry|no|wait|turns\s+out|disregard|ignore|forget)\b",
    _I,
)
_TOLD_BY = re.compile(rf"(?P<who>\S.*?)\s+{_TOLD}\s*(?:,|:|\s+that\b|\s)\s*", _I)
_SOURCE = re.compile(
    r"(?:according\s+to|as\s+per|per|based\s+on|as\s+stated\s+in|going\s+by|in\s+(?:the|our|my)\s+(?:file|files|"
    r"records?|register|notes?|system|database|minutes|list))\s*[^,:]{0,40}[,:]\s*",
    _I,
)
_TOPIC = re.compile(
    r"(?:(?:an?\s+|quick\s+|small\s+)*(?:update|news|info|information|note|correction|change|reminder|word)\s+)?"
    r"(?:for|regarding|about|as\s+for|as\s+to|concerning|speaking\s+of|when\s+it\s+comes\s+to|with\s+(?:regard|respect|"
    r"regards)\s+to|in\s+the\s+case\s+of|re|on|with|in\s+terms\s+of|as\s+far\s+as|talking\s+about)\s+"
    r"(?P<topic>[^,:]{1,60}?)(?:\s+(?:is\s+concerned|goes))?\s*(?:[,:]|\s[–—-])\s*",
    _I,
)
_HEADER = re.compile(r"(?P<header>[^:;,–—]{1,60}?)\s*(?:[:;,]|\s[–—-])\s+")
_SINCE = re.compile(
    r"(?P<cue>as\s+(?:of|from)|since|from|starting(?:\s+(?:on|from))?|beginning|effective(?:\s+(?:on|from))?|"
    r"with\s+effect\s+from|on)\s+",
    _I,
)
_AFTER_DATE = re.compile(r"(?:\s+on(?:wards?)?)?(?:\s*[,:]\s*|\s+)", _I)
LONGEST_DATE = 5
"""In words."""


@dataclass(frozen=True, slots=True)
class Framed:
    """A statement without its frame. `renewed` says that the frame calls it a change; `dated` is
    the phrase that might date it."""

    text: str
    setting: Setting
    renewed: bool = False
    dated: str = ""


def unframed(text: str, setting: Setting) -> Iterator[Framed]:
    """The text without what introduces it, in every way that it could be taken; as it stands last,
    since what looks like a frame may be the verb ("Ana reported B12 as her office")."""
    whole = Framed(text.strip(), setting)
    framed = _stripped(whole)
    if (topic := _TOPIC.match(framed.text)) and (entity := _topic(topic, setting)):
        about = replace(framed.setting, topic=entity, entity=entity)
        renewed = framed.renewed or bool(_RENEWING.match(topic.group()))
        text = framed.text[topic.end() :]
        yield _stripped(replace(framed, text=text, setting=about, renewed=renewed))
    yield framed
    if dated := _date_opener(framed.text):
        text = framed.text[dated.length :]
        renewed = framed.renewed or dated.renews
        yield _stripped(replace(framed, text=text, renewed=renewed, dated=dated.phrase))
    header = _HEADER.match(framed.text)
    if header is not None and not hedged(header["header"]) and len(header["header"].split()) <= 8:
        renewed = framed.renewed or bool(_RENEWING.search(header["header"]))
        yield _stripped(replace(framed, text=framed.text[header.end() :], renewed=renewed))
    if framed.text != whole.text:
        yield whole


def _topic(match: re.Match[str], setting: Setting) -> str | None:
    """Never the speaker: "for me, running is a rest" says nothing about them."""
    entity = owner_in(match["topic"], setting)
    return None if entity == setting.speaker else entity


@dataclass(frozen=True, slots=True)
class _DateOpener:
    """The date that a clause begins with; `length` goes up to the clause itself."""

    phrase: str
    length: int
    renews: bool


def _date_opener(text: str) -> _DateOpener | None:
    """The longest date at the start, after a word such as "since" or before a comma."""
    cue = _SINCE.match(text)
    start = cue.end() if cue else 0
    ends = [match.end() for match in re.finditer(r"[^\s,:]+", text[start : start + 60])]
    for end in reversed(ends[:LONGEST_DATE]):
        said = text[start : start + end]
        readings = (said, f"since {said}", f"in {said}") if cue else (said,)
        phrase = next(filter(is_date, readings), None)
        after = _AFTER_DATE.match(text, start + end)
        if phrase and after and (cue or "," in after.group()):
            return _DateOpener(phrase, after.end(), renews=cue is not None)
    return None


def _stripped(framed: Framed) -> Framed:
    """Without openers, frames and reporting clauses, until none is left."""
    text, setting, renewed = framed.text, framed.setting, framed.renewed
    for _ in range(6):
        opener = _FRAME.match(text) or _OPENERS.match(text) or _SOURCE.match(text)
        if opener is not None and opener.end() < len(text):
            renewed = renewed or bool(_RENEWING.search(opener.group()))
            text = text[opener.end() :]
            continue
        told = _TOLD_BY.match(text)
        who = owner_in(told["who"], setting) if told else None
        if told is None or who is None or told.end() >= len(text):
            break
        text, setting = text[told.end() :], replace(setting, entity=who)
    return replace(framed, text=text.strip(), setting=setting, renewed=renewed)


_WORD = re.compile(r"[\w'’-]+")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
_DENIED = re.compile(
    r"\b(?:not\s+(?:true|the\s+case|sure|certain|clear|correct)\s+(?:that|if|whether)|isn['’]?t\s+(?:true|the\s+case)|"
    r"don['’]?t\s+(?:know|think|believe)|do\s+not\s+(?:know|think|believe)|no\s+idea|never\s+(?:said|told)|no(?:body|\s+one)\s+(?:said|told|knows|thinks)|"
    r"didn['’]?t\s+say|denie[sd]|false\s+that|wrong\s+that|myth\s+that|asked|asking|asks|"
    r"i\s+(?:think|believe|suppose|guess)|we\s+(?:think|believe|suppose))\b",
    _I,
)
_MAY = re.compile(r"\bmay\b(?!\s+\d)")
_WAITING = re.compile(
    r"(?:when|whenever|once|until|till|before|after|while|as\s+long\s+as|in\s+case)\s", _I
)


def hedged(text: str) -> bool:
    """Whether the words make it unsure, hypothetical, denied, or conditional on something."""
    plain = _QUOTED.sub(" ", text)
    said = {word.casefold() for word in _WORD.findall(plain)}
    return bool(
        said & HEDGES or _MAY.search(plain) or _DENIED.search(plain) or _WAITING.match(plain)
    )
