"""What stands around a statement without being part of it: "Please note that …", "Correction: …",
"Ana told me that …", "For Ana, …", and after it "… now", "…, not B12", "… since Monday"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memserver.services.writing.dates import is_date
from memserver.services.writing.patterns import wording
from memserver.services.writing.subjects import Setting, owner_in
from memserver.services.writing.vocabulary import HEDGES

_PERSON = r"(?:i|we|you|they|he|she)"
_TOLD = (
    r"(?:(?:has|have|had) )?(?:just )?(?:told (?:me|us|them|him|her)|says?|said|mentions?|"
    r"mentioned|"
    r"confirms?|confirmed|reports?|reported|announces?|announced|informs? (?:me|us)|"
    r"informed (?:me|us)|let (?:me|us) know|wrote|writes|tells (?:me|us)|explained|stated|"
    r"states|noted|shared|reminded (?:me|us)|pointed out)(?: (?:today|yesterday|just now))?"
)
_LEARNED = (
    r"(?:(?:have|had|has|'ve|’ve) )?(?:just |also |recently )?(?:learn(?:ed|t)|hear[d]?|found out|"
    r"(?:been|was|were) (?:told|informed)|noticed?|see|saw|read|know|knew|agreed?|discovered|"
    r"realis?z?ed|"
    r"can confirm|confirm(?:ed)?|understand|got word|decided|want(?:ed)? you to (?:know|remember)|"
    r"want(?:ed)? to (?:let you know|tell you|say|add|mention)|"
    r"would like you to (?:know|remember|note)|meant(?: to say)?|mean|should (?:mention|add|say)|"
    r"must (?:correct myself|add))"
)
_ASKED = r"(?:(?:can|could|would|will) you )?(?:please |pls |plz |kindly |do |just )*"
_LATER = r"(?: (?:please|this|down|for (?:me|us|later)|to your notes))*"
_NOTE = (
    rf"{_ASKED}(?:(?:make |take )(?:a )?note|note|remember|be (?:aware|advised|informed)|"
    r"(?:keep|bear) in mind|don['’]?t forget|do not forget|know|observe|remind yourself|"
    r"let it be known|rest assured|let me (?:tell you|add|note|correct myself|correct that))"
    rf"{_LATER}"
)
# These have an object of their own ("record B12 as Ana's office"), so only "that" or a colon
# makes a frame of them.
_WRITE = (
    rf"{_ASKED}(?:record|write(?: this)? down|jot down|save|store|log|register|memori[sz]e|"
    rf"note down|add(?: this)?|file|enter|put down){_LATER}"
)
_FRAME = wording(
    rf"(?:"
    rf"{_NOTE}\s*(?:,|:| that\b| the fact that\b|\s)"
    rf"|{_WRITE}\s*(?::| that\b| the fact that\b)"
    rf"|{_PERSON}(?: (?:need|ought|have) to| should| must)? (?:know|remember|note)\s*(?:,|:|"
    rf"that\b|\s)"
    rf"|(?:i|we)\s*{_LEARNED}(?: (?:today|yesterday|earlier|just now|this morning))?\s*(?:,|:|"
    rf"that\b|\s)"
    rf"|(?:it|this) (?:now )?(?:turns out|seems clear|is (?:official|clear|confirmed|a fact|"
    rf"known|true))"
    rf"\s*(?:,|:|that\b|\s)"
    rf"|(?:just|also|recently) {_LEARNED}(?: (?:today|yesterday|earlier|now))?\s*(?:,|:|that\b|\s)"
    rf"|did (?:i|we) (?:already )?(?:mention|tell you|say|note)(?: already)?\s*(?:,|:|that\b|\s)"
    rf"|did you (?:know|hear)\s*(?:,|:|that\b|\s)"
    rf"|(?:in case|if) (?:you(?:['’]re| are| were)?|anyone|it) (?:need|want|wonder|wondering|"
    rf"curious|interested|"
    rf"miss|missed|ask|asks|helps|matters|didn['’]?t know|don['’]?t know|"
    rf"haven['’]?t heard)[^,:]{{0,20}}[,:]"
    rf"|turns out\s*(?:,|:|that\b|\s)"
    rf"|(?:just )?(?:so|as|to let) you (?:all )?(?:know|are aware)\s*(?:,|:|that\b|\s)"
    rf"|(?:the )?(?:truth|fact|thing) is\s*(?:,|:|that\b)"
    rf"|that (?=\S+['’]s\s|the\s)"
    rf")\s*",
)
_OPENERS = wording(
    r"(?:(?:ok|okay|so|oh|also|and|but|now|additionally|moreover|furthermore|besides|actually|"
    r"currently|presently|"
    r"officially|indeed|evidently|apparently|obviously|clearly|basically|finally|instead|"
    r"meanwhile|fyi|btw|"
    r"hm+|um+|uh|yeah|yep|yup|lol|haha|"
    r"at present|at the moment|right now|these days|nowadays|as it stands|in fact|"
    r"by the way|for the record|for your information|for (?:future )?reference|as you know|"
    r"in short|of note|for clarity|to be clear|to clarify|to be exact|one more thing|"
    r"from now on|as of (?:today|now)|effective (?:immediately|today)|starting (?:today|now)|"
    r"going forward|"
    r"henceforth|from today(?: on)?|as from today|after all)"
    r"(?:\s*[,:;!–—-]+\s*|\s*\.\.\.\s*| )"
    # These also begin names and values ("Hey Jude", "no pet"), or are verbs, so that only a stop
    # sets them apart.
    r"|(?:hey|hi|hello|ah|aww|wow|cool|well|right|yes|no|nope|wait|sorry|thanks|thank you|please|"
    r"then|plus|again|"
    r"nb|ps|good news|update|correction|reminder|news|change|listen|look|fine|great|edit|note|nice)"
    r"\s*(?:[,:;!–—-]|\.\.\.)+\s*)",
)
_RENEWING = wording(
    r"\b(?:actually|correction|update|now|instead|from now on|as of (?:today|now)|effective|"
    r"starting|"
    r"going forward|henceforth|from today|as from|wrong|mistaken|mistake|meant|scratch|changed?|"
    r"changes|news?|"
    r"outdated|revised|amend\w*|correct (?:myself|that)|sorry|no|wait|turns out|disregard|ignore|"
    r"forget)\b",
)
_TOLD_BY = wording(rf"(?P<who>\S.*?) {_TOLD}\s*(?:,|:| that\b|\s)\s*")
_SOURCE = wording(
    r"(?:according to|as per|per|based on|as stated in|going by|in (?:the|our|my) (?:file|files|"
    r"records?|register|notes?|system|database|minutes|list))\s*[^,:]{0,40}[,:]\s*",
)
_TOPIC = wording(
    r"(?:(?:an? |quick |small )*(?:update|news|info|information|note|correction|change|reminder|"
    r"word) )?"
    r"(?:for|regarding|about|as for|as to|concerning|speaking of|when it comes to|with (?:regard|"
    r"respect|"
    r"regards) to|in the case of|re|on|with|in terms of|as far as|talking about) "
    r"(?P<topic>[^,:]{1,60}?)(?: (?:is concerned|goes))?\s*(?:[,:]|\s[–—-])\s*",
)
_HEADER = re.compile(r"(?P<header>[^:;,–—]{1,60}?)\s*(?:[:;,]|\s[–—-])\s+")
_SINCE = wording(
    r"(?P<cue>as (?:of|from)|since|from|starting(?: (?:on|from))?|beginning|effective(?: (?:on|"
    r"from))?|"
    r"with effect from|on) ",
)
_AFTER_DATE = wording(r"(?: on(?:wards?)?)?(?:\s*[,:]\s*| )")
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
_DENIED = wording(
    r"\b(?:not (?:true|the case|sure|certain|clear|correct) (?:that|if|whether)|"
    r"isn['’]?t (?:true|the case)|"
    r"don['’]?t (?:know|think|believe)|do not (?:know|think|believe)|no idea|never (?:said|told)|"
    r"no(?:body| one) (?:said|told|knows|thinks)|"
    r"didn['’]?t say|denie[sd]|false that|wrong that|myth that|asked|asking|asks|"
    r"i (?:think|believe|suppose|guess)|we (?:think|believe|suppose))\b",
)
_MAY = re.compile(r"\bmay\b(?!\s+\d)")
_WAITING = wording(r"(?:when|whenever|once|until|till|before|after|while|as long as|in case)\s")


def hedged(text: str) -> bool:
    """Whether the words make it unsure, hypothetical, denied, or conditional on something."""
    plain = _QUOTED.sub(" ", text)
    said = {word.casefold() for word in _WORD.findall(plain)}
    return bool(
        said & HEDGES or _MAY.search(plain) or _DENIED.search(plain) or _WAITING.match(plain)
    )
