"""The forms in which English states a value: "E's K is V", "V is the K of E", "E changed their K
to V", "set E's K to V", "E has V as K", "E → K → V"."""

import re

from memserver.services.writing.forms import Form, Part

SUBJECT, REPLACED = Part.SUBJECT, Part.REPLACED
OWNER, KEY, VALUE = Part.OWNER, Part.KEY, Part.VALUE

_CHANGED = (
    r"(?:changed?|updated?|moved?|switch(?:ed)?|revised?|correct(?:ed)?|amend(?:ed)?|adjust(?:ed)?|set|reset|went|gone|"
    r"turn(?:ed)?|rose|risen|fell|fallen|dropped|increased|decreased|raised|lowered|extended|postponed|"
    r"pushed(?:\s+(?:back|forward|out))?|brought\s+forward|shift(?:ed)?|transferred|alter(?:ed)?|modif(?:y|ied)|"
    r"rescheduled?|relocated?|bumped|cut|reduced|upgraded?|downgraded?|swapped|converted|renamed|fixed|edit(?:ed)?|"
    r"reassigned|chang(?:es)|moves|switches|shifts|goes)"
)
_ADVERB = (
    r"(?:\s+(?:now|just|since|recently|already|also|today|officially|finally|meanwhile|currently|once\s+again|again|"
    r"actually|then|hereby|always|apparently))*"
)
_HAS = r"(?:has|have|had|['’]s|['’]ve)"
_TO = r"(?:\s+over|\s+back)?\s+(?:to|into|to\s+be)\s+"
_FROM = r"(?:\s+from\s+(?:(?!\s+to\s).){1,60}?)?"
_THEIR = r"(?:their|her|his|its|the|my|our|your)"


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_IS = _re(
    rf"\s+(?:(?:is|are){_ADVERB}(?:\s+(?:set\s+to|set\s+at|given\s+as|listed\s+as|recorded\s+as|noted\s+as|registered\s+as|"
    r"known\s+to\s+be|fixed\s+at|confirmed\s+(?:as|to\s+be)|confirmed\s+at))?|equals|remains|stays|reads|stands\s+at|"
    r"comes\s+to|amounts\s+to|happens\s+to\s+be|turns\s+out\s+to\s+be|will\s+be|"
    r"(?:was|were|has\s+been|have\s+been)\s+(?:just\s+)?(?:recorded|confirmed|given|listed|noted|registered|set|entered|"
    r"stated|reported|fixed|logged)\s+(?:as|at|to|to\s+be))\s+"
)
_NOT_BUT = _re(
    r"\s+(?:is|are)\s*(?:not|n['’]t|no\s+longer)\s+[^,;]{1,60}?,?\s+(?:but(?:\s+rather)?|it(?:\s+is|['’]s))\s+(?:now\s+)?"
)
_COLON = _re(r"\s*(?:(?<=[\w)'’\"”]):\s+|\s:\s*|:=|=>|->|→|⇒|\s[–—-]\s|\s*=\s*)\s*")
_BECAME = _re(
    rf"\s+(?:{_HAS}{_ADVERB}\s+become|became|becomes|was\s+made|should{_ADVERB}\s+(?:be|read|say)|ought\s+to\s+be|"
    r"now\s+(?:is|are|reads|stands\s+at|says)|needs\s+to\s+be|must\s+now\s+be|will\s+now\s+be|is\s+now)\s+"
)
_CHANGED_TO = _re(
    rf"(?:\s+(?:{_HAS}|was|were|is|are|got|gets|being|been|will\s+be))*{_ADVERB}\s+{_CHANGED}{_ADVERB}{_FROM}{_TO}"
)
_TO_V = _re(rf"{_FROM}\s+(?:to\s+be|to\s+read|to|into|as)\s+|\s*(?:=>|->|→|=|:)\s*")
_AS = _re(r"\s+(?:as|for|under|to\s+be|as\s+being)\s+")
_AS_ONLY = _re(r"\s+as\s+")
_WITH = _re(r"\s+(?:with|by|for)\s+")
_ASKED = r"(?:(?:can|could|would|will)\s+you\s+)?(?:please\s+|pls\s+|plz\s+|kindly\s+|just\s+)*"
_SET = _re(
    rf"{_ASKED}(?:set|update|change|switch|move|make|reset|correct|revise|adjust|amend|fix|put|edit|modify|mark|record|log|note|"
    r"save|store|enter|register|list|shift|reschedule|extend|rename)\s+(?=\S)"
)
_RECORD = _re(
    rf"{_ASKED}(?:record|note(?:\s+down)?|write\s+down|log|save|store|register|enter|list|put\s+down|"
    r"take\s+down|jot\s+down|file)\s+"
)
_USE = _re(rf"{_ASKED}(?:add|put|use|take|set|keep|remember|have|treat)\s+")
_REPLACE = _re(rf"{_ASKED}(?:replace|swap(?:\s+out)?|exchange|substitute|overwrite)\s+")
_WE_HAVE = _re(
    r"(?:we|i|they|you|the\s+team)(?:['’]ve)?\s+(?:now\s+)?(?:have|has|got|keep|hold|list|recorded|noted|put)\s+"
)
_DOWN_AS = _re(
    r"\s+(?:down|listed|recorded|noted|on\s+file|registered|saved|written\s+down)\s+(?:as|for)\s+|\s+as\s+"
)
_WE_CHANGED = _re(
    rf"(?:we|they|i|he|she|you|someone|somebody|the\s+\w+|[A-Z][\w.-]*)(?:['’]ve|\s+have|\s+has|\s+had)?{_ADVERB}\s+{_CHANGED}\s+"
)
_REPLACES = _re(
    rf"\s+(?:now\s+)?(?:replaces|replaced|{_HAS}\s+replaced|supersedes|superseded|overrides|takes\s+the\s+place\s+of|"
    r"is\s+replacing|will\s+replace)\s+"
)
_OWNS = r"(?:has|have|had|uses?|keeps?|holds?|goes\s+(?:with|by)|went\s+with|got|['’]s\s+got|has\s+got|set|wants|took|takes)"
_GAVE = (
    r"(?:lists?|listed|gave|gives|reported|reports|confirmed|confirms|chose|picked|selected|named|names|stated|states|"
    r"provided|provides|has\s+(?:chosen|given|listed|provided|named|picked|reported|confirmed)|put\s+down|entered|registered|"
    r"submitted|specified|declared)"
)
_HAS_V = _re(
    rf"(?:\s+(?:now|currently|still|also|just|officially))*\s+(?:{_OWNS}|{_GAVE})(?:\s+(?:now|currently))?\s+"
)
_GAVE_V = _re(rf"(?:\s+(?:now|currently|also|just|officially))*\s+{_GAVE}\s+")
_NOW_HAS_V = _re(
    rf"\s+(?:now|currently|these\s+days|since)\s+{_OWNS}\s+|\s+(?:has|have|uses|goes\s+with)\s+(?:now|currently)\s+"
)
_AS_K = _re(rf"\s+as\s+(?:{_THEIR}\s+|an?\s+)?")
_FOR_K = _re(rf"\s+(?:as|for|under)\s+(?:{_THEIR}\s+|an?\s+)?")
_CHANGED_K = _re(rf"(?:\s+{_HAS})?{_ADVERB}\s+{_CHANGED}\s+(?:{_THEIR}\s+)?")
_HAS_A = _re(r"\s+(?:now\s+)?(?:has|have|had|got|has\s+got|['’]s\s+got|gets|with)\s+an?\s+")
_SWITCHED_TO = _re(rf"(?:\s+{_HAS})?{_ADVERB}\s+{_CHANGED}{_TO}")
_IS_WHAT = _re(
    r"\s+(?:is|are)\s+what\s+(?:we|i|they|you)\s+(?:have|had|hold|noted|recorded|wrote)(?:\s+(?:down|listed|recorded|noted|on\s+file))?"
    r"\s+(?:as|for|under)\s+"
)
_HAS_NEW = _re(
    rf"\s+(?:now\s+)?(?:has|have|got|has\s+got|['’]s\s+got|gets|received|picked|chose)\s+(?:an?|{_THEIR})\s+"
    r"(?:(?:brand[\s-])?new|different|changed|updated|another)\s+"
)
_HAS_THE = _re(r"\s+(?:now\s+)?(?:has|have|with)\s+(?:the|an?)\s+")
_OF = _re(r"\s+of\s+")
_NAMELY = _re(r"\s*[:,]\s+|\s+[–—-]\s+|\s+=\s+|\s+\(")
_MARKED = _re(r"\s+(?:→|->|=>|⇒|\||/|»|>)\s+|\s*\|\s*|\s*;\s*")
_COMMA = _re(r",\s+")
_OPEN = _re(r"\s*[(\[]\s*")
_CLOSE_IS = _re(r"\s*[)\]]\s*(?:[:=–—-]|is|are)\s*")
_CLOSE = _re(r"\s*[)\]]$")
_INNER = _re(r"\s*[:=]\s*|\s+is\s+")
_E_SEP = _re(r"\s*:\s+|\s+[–—-]\s+")
_BLANK = _re(r"\s+")
_MAKE = _re(rf"{_ASKED}(?:make|set|change|mark)\s+")
_UNDER_K = _re(
    r"(?:under|as|for|in\s+terms\s+of|regarding|as\s+for|concerning|when\s+it\s+comes\s+to|with\s+regard\s+to)\s+"
)
_IT_IS = _re(r"it(?:['’]s|\s+is)\s+(?:now\s+)?")
_NOW_FOR = _re(r"\s+(?:now\s+)?(?:for|as)\s+")
_HERE_IS = _re(r"(?:here\s+(?:is|are|comes)|here['’]s|this\s+is)\s+")
_REGISTER = _re(r"(?:(?:record|entry|note|fact|data|add|item)\s*:\s*)?")
_ENTRY = _re(r"(?:new\s+)?(?:record|entry|fact|data|item|row|triple|log|memo)\s*:\s*")

STATEMENTS: tuple[Form, ...] = (
    Form("S changed to V", (SUBJECT, VALUE), (_CHANGED_TO,), renews=True),
    Form("S became V", (SUBJECT, VALUE), (_BECAME,), renews=True),
    Form("V replaces S", (VALUE, REPLACED), (_REPLACES,), renews=True),
    Form("S is V", (SUBJECT, VALUE), (_IS,)),
    Form("S is not X but V", (SUBJECT, VALUE), (_NOT_BUT,), renews=True),
    Form("here is S: V", (SUBJECT, VALUE), (_COLON,), head=_HERE_IS),
    Form("S: V", (SUBJECT, VALUE), (_COLON,)),
    Form("it is V now for S", (VALUE, SUBJECT), (_NOW_FOR,), head=_IT_IS, renews=True),
    Form("set S to V", (SUBJECT, VALUE), (_TO_V,), head=_SET, renews=True),
    Form("replace S with V", (REPLACED, VALUE), (_WITH,), head=_REPLACE, renews=True),
    Form("record V as S", (VALUE, SUBJECT), (_AS,), head=_RECORD),
    Form("use V as S", (VALUE, SUBJECT), (_AS_ONLY,), head=_USE),
    Form("we have V as S", (VALUE, SUBJECT), (_DOWN_AS,), head=_WE_HAVE),
    Form("we changed S to V", (SUBJECT, VALUE), (_TO_V,), head=_WE_CHANGED, renews=True),
    Form("E changed K to V", (OWNER, KEY, VALUE), (_CHANGED_K, _TO_V), renews=True),
    Form("E now has V as K", (OWNER, VALUE, KEY), (_NOW_HAS_V, _AS_K), renews=True),
    Form("E has a new K: V", (OWNER, KEY, VALUE), (_HAS_NEW, _NAMELY), renews=True),
    Form("E has a new K of V", (OWNER, KEY, VALUE), (_HAS_NEW, _OF), renews=True),
    Form("E switched to V as K", (OWNER, VALUE, KEY), (_SWITCHED_TO, _FOR_K), renews=True),
    Form("V is what we have as S", (VALUE, SUBJECT), (_IS_WHAT,)),
    Form("E has V as K", (OWNER, VALUE, KEY), (_HAS_V, _AS_K)),
    Form("E gave V for K", (OWNER, VALUE, KEY), (_GAVE_V, _FOR_K)),
    Form("E has a K of V", (OWNER, KEY, VALUE), (_HAS_A, _OF)),
    Form("V is S", (VALUE, SUBJECT), (_IS,)),
    Form("V became S", (VALUE, SUBJECT), (_BECAME,), renews=True),
    Form("E: K is V", (OWNER, KEY, VALUE), (_E_SEP, _IS)),
    Form("E: K changed to V", (OWNER, KEY, VALUE), (_E_SEP, _CHANGED_TO), renews=True),
    Form("E: K = V", (OWNER, KEY, VALUE), (_E_SEP, _COLON)),
    Form("E | K | V", (OWNER, KEY, VALUE), (_MARKED, _MARKED), head=_REGISTER),
    Form("record: E, K, V", (OWNER, KEY, VALUE), (_COMMA, _COMMA), head=_ENTRY),
    Form("E, K, V", (OWNER, KEY, VALUE), (_COMMA, _COMMA), known_key=True),
    Form("E → K: V", (OWNER, KEY, VALUE), (_MARKED, _COLON), head=_REGISTER),
    Form("K (E): V", (KEY, OWNER, VALUE), (_OPEN, _CLOSE_IS)),
    Form("E (K): V", (OWNER, KEY, VALUE), (_OPEN, _CLOSE_IS)),
    Form("E (K: V)", (OWNER, KEY, VALUE), (_OPEN, _INNER), tail=_CLOSE),
    Form("E, K: V", (OWNER, KEY, VALUE), (_COMMA, _COLON), known_key=True),
    Form("E, K is V", (OWNER, KEY, VALUE), (_COMMA, _IS), known_key=True),
    Form("E has the K V", (OWNER, KEY, VALUE), (_HAS_THE, _BLANK), known_key=True),
    Form("make S V", (SUBJECT, VALUE), (_BLANK,), head=_MAKE, renews=True, known_key=True),
    Form("under K, E has V", (KEY, OWNER, VALUE), (_COMMA, _HAS_V), head=_UNDER_K),
)
