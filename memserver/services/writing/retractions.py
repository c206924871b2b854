"""The forms in which English takes a value back without giving another: "forget E's K", "E no
longer has K", "E's K no longer applies"."""

import re

from memserver.services.writing.forms import Form, Part

SUBJECT, OWNER, KEY, VALUE = Part.SUBJECT, Part.OWNER, Part.KEY, Part.VALUE


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_END = (
    r"(?:\s+(?:any\s?more|any\s+longer|now|for\s+now|please|at\s+all|from\s+now\s+on|at\s+present|these\s+days|"
    r"today|for\s+good|altogether|entirely|completely|either|as\s+well|too|effective\s+immediately|as\s+of\s+(?:today|now)))*"
    r"[\s,.!]*(?:please|thanks|thank\s+you)?$"
)
_STALE = (
    r"(?:valid|true|relevant|current|applicable|in\s+(?:force|effect|use|place|question)|needed|required|necessary|"
    r"accurate|correct|active|available|up\s+to\s+date|the\s+case|binding|operative|right|good|used|known|in\s+the\s+picture)"
)
_ENDED = (
    r"(?:cancel(?:l)?ed|withdrawn|removed|revoked|deleted|dropped|voided|discontinued|rescinded|abolished|lifted|ended|scrapped|"
    r"retracted|invalidated|cleared|terminated|annulled|repealed|erased|called\s+off|taken\s+back|struck(?:\s+off)?|"
    r"waived|nullified|eliminated|done\s+away\s+with|crossed\s+out|taken\s+away|wiped)"
)
_GONE = _re(
    rf"\s+(?:(?:is|are)\s+(?:now\s+)?(?:void|null(?:\s+and\s+void)?|obsolete|outdated|out\s+of\s+date|invalid|moot|gone|history|"
    rf"superseded|no\s+more|a\s+thing\s+of\s+the\s+past)"
    rf"|(?:is|are)\s+no\s+longer\s+(?:an?\s+(?:thing|issue|factor)\s*|{_STALE}|{_ENDED})"
    rf"|(?:is|are)\s+no\s+longer"
    rf"|(?:is|are)\s*(?:not|n['’]t)\s+(?:an?\s+(?:thing|issue|factor)|{_STALE})\s+(?:any\s?more|any\s+longer|now)"
    rf"|no\s+longer\s+(?:applies|apply|holds?|exists?|stands?|counts?|matters?|is\s+{_STALE}|are\s+{_STALE})"
    rf"|(?:has|have|was|were)\s+(?:now\s+|just\s+|since\s+|been\s+|already\s+)*{_ENDED}"
    rf"|(?:is|are)\s+(?:now\s+|hereby\s+|being\s+)?(?:withdrawn|revoked|rescinded|retracted|annulled)"
    rf"|(?:has|have)\s+(?:now\s+|just\s+|since\s+)?(?:expired|lapsed|ended|ceased(?:\s+to\s+(?:apply|exist))?|gone\s+away|disappeared|"
    rf"run\s+out|come\s+to\s+an\s+end|become\s+(?:void|obsolete|invalid|irrelevant))"
    rf"|(?:expired|lapsed|ceased\s+to\s+(?:apply|exist)|stopped\s+applying|ended)"
    rf"|(?:does|do|did)\s*(?:not|n['’]t)\s+(?:apply|hold|exist|count|matter|stand)"
    rf"|(?:should|can|must|may|is\s+to|has\s+to|needs\s+to)\s+(?:now\s+)?be\s+(?:removed|deleted|forgotten|ignored|dropped|"
    rf"disregarded|discarded|erased|cleared)"
    rf"|ceased\s+to\s+(?:apply|exist|hold)|stopped\s+applying){_END}"
)
_IS_NO_LONGER = _re(r"\s+(?:is|are)\s+no\s+longer\s+|\s+no\s+longer\s+(?:is|are)\s+")
_IS_NOT = _re(r"\s+(?:is|are)\s*(?:not|n['’]t)\s+")
_FROM_THE = (
    r"(?:\s+(?:from|off|out\s+of)\s+(?:(?:the|your|my|our|all)\s+)?(?:records?|list|notes?|files?|memory|books|system|database|"
    r"register|profile|sheet))?"
)
_REASON = (
    r"(?:\s*[,;:–—-]+\s*(?:(?:as|since|because|for)\s+)?(?:it|that|this|they|those)\b.*|"
    r"\s+(?:as|since|because)\s+(?:it|that|this|they)\b.*)?"
)
_AFTER = _re(rf"{_FROM_THE}{_REASON}{_END}")
_VERB = (
    r"(?:forget|never\s?mind|drop|ignore|remove|delete|disregard|discard|erase|clear|scratch|strike(?:\s+out)?|cancel|retract|unset|void|wipe|"
    r"purge|withdraw|revoke|take\s+(?:back|out|away|off|down)|take|get\s+rid\s+of|throw\s+(?:out|away)|stop\s+using|cross\s+out|"
    r"dismiss|rescind|invalidate|nullify|undo|omit|lose|let\s+go\s+of|do\s+away\s+with|annul|scrap|expunge)"
)
_ABOUT = (
    r"(?:\s+(?:all\s+)?(?:about|of))?(?:\s+(?:everything|what(?:ever)?|anything|all|the\s+thing)\s+(?:that\s+)?"
    r"(?:i|we|you|they|was)\s+(?:['’]ve\s+)?(?:have\s+|had\s+|just\s+|ever\s+)*(?:said|told\s+you|know|knew|wrote|noted|mentioned|"
    r"have|stored|recorded|remember)\s+(?:earlier\s+|before\s+)?(?:about|on|of|regarding|concerning|for))?"
)
_FORGET = _re(
    rf"(?:(?:you|we|i)\s+(?:can|may|should|could|might\s+as\s+well|must|need\s+to|have\s+to|will|want\s+to|would\s+like\s+to|['’]ll)\s+)?"
    rf"(?:(?:can|could|would|will)\s+you\s+|let['’]?s\s+|i\s+|we\s+)?(?:please\s+|pls\s+|plz\s+|kindly\s+|just\s+|now\s+|safely\s+|hereby\s+)*"
    rf"{_VERB}{_ABOUT}\s+"
)
_WHAT_I_SAID = _re(
    r"(?:what|everything|whatever|anything)\s+(?:i|we|you|was)\s+(?:have\s+)?(?:said|told\s+you|wrote|noted|mentioned|recorded)\s+"
    r"(?:earlier\s+|before\s+)?(?:about|on|regarding|concerning)\s+"
)
_CONSIDER = _re(r"(?:please\s+)?(?:consider|treat|regard|mark|declare)\s+")
_AS_VOID = _re(
    r"\s+(?:as\s+|to\s+be\s+)?(?:void|null(?:\s+and\s+void)?|obsolete|outdated|invalid|cancelled|canceled|withdrawn|deleted|"
    r"removed|gone|no\s+longer\s+valid|revoked|retracted|ended|expired|unset)[\s.!]*$"
)
_ANY = r"(?:\s+(?:an?|any|the|their|her|his|its|such\s+an?|that))?\s+"
_NO_LONGER_HAS = _re(
    rf"\s+(?:(?:now\s+)?no\s+longer\s+(?:has|have|had|holds?|uses?|needs?|keeps?)|(?:has|have)\s+ceased\s+to\s+have|"
    rf"(?:has|have)\s+stopped\s+(?:having|using)|stopped\s+(?:having|using)){_ANY}"
)
_HAS_NOT = _re(rf"\s+(?:(?:does|do)\s*(?:not|n['’]t)\s+(?:have|hold|use|need)){_ANY}")
_HAS_NO = _re(
    r"\s+(?:now\s+)?(?:has|have|has\s+got)\s+(?:now\s+)?no\s+(?:more\s+|longer\s+an?\s+)?|\s+(?:is|are)\s+(?:now\s+)?without\s+(?:an?\s+)?"
)
_HAS_NO_MORE = _re(
    r"\s+(?:now\s+has|now\s+have|has\s+now|has|have)\s+no\s+more\s+|\s+now\s+(?:has|have)\s+no\s+|\s+is\s+now\s+without\s+(?:an?\s+)?"
)
_ANYMORE = _re(r"\s+(?:any\s?more|any\s+longer|now|these\s+days|at\s+present)[\s.!]*$")
_LOST = _re(
    r"\s+(?:has\s+|have\s+)?(?:lost|gave\s+up|given\s+up|dropped|cancelled|canceled|quit|withdrew|withdrawn|gotten\s+rid\s+of|got\s+rid\s+of|"
    r"ended|revoked)\s+(?:the|their|her|his|its)\s+"
)
_THERE_IS_NO = _re(
    r"there(?:\s+(?:is|are)|['’]s)\s+(?:now\s+)?no\s+(?:longer\s+)?(?:an?\s+|any\s+|more\s+)?|(?:we|i|they)\s+no\s+longer\s+(?:have|hold|keep)\s+(?:an?\s+|any\s+)?|(?:we|i)\s+(?:do\s+not|don['’]t)\s+have\s+(?:an?\s+|any\s+)?"
)
_APPLIES_TO = _re(
    r"\s+no\s+longer\s+appl(?:ies|y)\s+to\s+|\s+(?:does|do)\s*(?:not|n['’]t)\s+apply\s+to\s+"
)
_ENDING = _re(_END)
_SURE_ENDING = _re(r"\s+(?:any\s?more|any\s+longer|now|these\s+days)[\s.!]*$")

RETRACTIONS: tuple[Form, ...] = (
    Form("S no longer applies", (SUBJECT,), tail=_GONE),
    Form("S is no longer V", (SUBJECT, VALUE), (_IS_NO_LONGER,)),
    Form("S is not V any more", (SUBJECT, VALUE), (_IS_NOT,), tail=_SURE_ENDING),
    Form("forget S", (SUBJECT,), head=_FORGET, tail=_AFTER),
    Form("what I said about S is no longer true", (SUBJECT,), head=_WHAT_I_SAID, tail=_GONE),
    Form("consider S void", (SUBJECT,), head=_CONSIDER, tail=_AS_VOID),
    Form("E no longer has K", (OWNER, KEY), (_NO_LONGER_HAS,), tail=_ENDING),
    Form("E does not have K any more", (OWNER, KEY), (_HAS_NOT,), tail=_SURE_ENDING),
    Form("E has no K any more", (OWNER, KEY), (_HAS_NO,), tail=_SURE_ENDING),
    Form("E now has no K", (OWNER, KEY), (_HAS_NO_MORE,), tail=_ENDING),
    Form("there is no K for E any more", (SUBJECT,), head=_THERE_IS_NO, tail=_SURE_ENDING),
    Form(
        "we no longer have K for E",
        (SUBJECT,),
        head=_re(
            r"(?:we|i|they|there)\s+(?:is\s+|are\s+)?no\s+longer\s+(?:have\s+|hold\s+)?(?:an?\s+|any\s+)?"
        ),
        tail=_ENDING,
    ),
    Form("K no longer applies to E", (KEY, OWNER), (_APPLIES_TO,), tail=_ENDING),
    Form("E has no K", (OWNER, KEY), (_HAS_NO,), tail=_ENDING, known_key=True),
    Form("E does not have K", (OWNER, KEY), (_HAS_NOT,), tail=_ENDING, known_key=True),
    Form("E lost K", (OWNER, KEY), (_LOST,), tail=_ENDING, known_key=True),
)
"""The forms marked `known_key` say only that there is nothing, which takes something back where
there was something, and is news of its own ("Ana has no allergy") where there was not."""
