"""The forms in which English states a value: "E's K is V", "V is the K of E", "E changed their K
to V", "set E's K to V", "E has V as K", "E → K → V"."""

from memserver.services.writing.forms import Form, Part
from memserver.services.writing.patterns import wording

SUBJECT, REPLACED = Part.SUBJECT, Part.REPLACED
OWNER, KEY, VALUE = Part.OWNER, Part.KEY, Part.VALUE

_CHANGED = (
    r"(?:changed?|updated?|moved?|switch(?:ed)?|revised?|correct(?:ed)?|amend(?:ed)?|"
    r"adjust(?:ed)?|set|reset|went|gone|"
    r"turn(?:ed)?|rose|risen|fell|fallen|dropped|increased|decreased|raised|lowered|extended|"
    r"postponed|"
    r"pushed(?: (?:back|forward|out))?|brought forward|shift(?:ed)?|transferred|alter(?:ed)?|"
    r"modif(?:y|ied)|"
    r"rescheduled?|relocated?|bumped|cut|reduced|upgraded?|downgraded?|swapped|converted|renamed|"
    r"fixed|edit(?:ed)?|"
    r"reassigned|chang(?:es)|moves|switches|shifts|goes)"
)
_ADVERB = (
    r"(?: (?:now|just|since|recently|already|also|today|officially|finally|meanwhile|currently|"
    r"once again|again|"
    r"actually|then|hereby|always|apparently))*"
)
_HAS = r"(?:has|have|had|['’]s|['’]ve)"
_TO = r"(?: over| back)? (?:to|into|to be) "
_FROM = r"(?: from (?:(?! to\s).){1,60}?)?"
_THEIR = r"(?:their|her|his|its|the|my|our|your)"


_IS = wording(
    rf" (?:(?:is|are){_ADVERB}(?: (?:set to|set at|given as|listed as|recorded as|noted as|"
    rf"registered as|"
    r"known to be|fixed at|confirmed (?:as|to be)|confirmed at))?|equals|remains|stays|reads|"
    r"stands at|"
    r"comes to|amounts to|happens to be|turns out to be|will be|"
    r"(?:was|were|has been|have been) (?:just )?(?:recorded|confirmed|given|listed|noted|"
    r"registered|set|entered|"
    r"stated|reported|fixed|logged) (?:as|at|to|to be)) "
)
_NOT_BUT = wording(
    r" (?:is|are)\s*(?:not|n['’]t|no longer) [^,;]{1,60}?,? (?:but(?: rather)?|it(?: is|"
    r"['’]s)) (?:now )?"
)
_COLON = wording(r"\s*(?:(?<=[\w)'’\"”]): |\s:\s*|:=|=>|->|→|⇒|\s[–—-]\s|\s*=\s*)\s*")
_BECAME = wording(
    rf" (?:{_HAS}{_ADVERB} become|became|becomes|was made|should{_ADVERB} (?:be|read|say)|"
    rf"ought to be|"
    r"now (?:is|are|reads|stands at|says)|needs to be|must now be|will now be|is now) "
)
_CHANGED_TO = wording(
    rf"(?: (?:{_HAS}|was|were|is|are|got|gets|being|been|"
    rf"will be))*{_ADVERB} {_CHANGED}{_ADVERB}{_FROM}{_TO}"
)
_TO_V = wording(rf"{_FROM} (?:to be|to read|to|into|as) |\s*(?:=>|->|→|=|:)\s*")
_AS = wording(r" (?:as|for|under|to be|as being) ")
_AS_ONLY = wording(r" as ")
_WITH = wording(r" (?:with|by|for) ")
_ASKED = r"(?:(?:can|could|would|will) you )?(?:please |pls |plz |kindly |just )*"
_SET = wording(
    rf"{_ASKED}(?:set|update|change|switch|move|make|reset|correct|revise|adjust|amend|fix|put|"
    rf"edit|modify|mark|record|log|note|"
    r"save|store|enter|register|list|shift|reschedule|extend|rename) (?=\S)"
)
_RECORD = wording(
    rf"{_ASKED}(?:record|note(?: down)?|write down|log|save|store|register|enter|list|put down|"
    r"take down|jot down|file) "
)
_USE = wording(rf"{_ASKED}(?:add|put|use|take|set|keep|remember|have|treat) ")
_REPLACE = wording(rf"{_ASKED}(?:replace|swap(?: out)?|exchange|substitute|overwrite) ")
_WE_HAVE = wording(
    r"(?:we|i|they|you|the team)(?:['’]ve)? (?:now )?(?:have|has|got|keep|hold|list|recorded|"
    r"noted|put) "
)
_DOWN_AS = wording(
    r" (?:down|listed|recorded|noted|on file|registered|saved|written down) (?:as|for) | as "
)
_WE_CHANGED = wording(
    rf"(?:we|they|i|he|she|you|someone|somebody|the \w+|[A-Z][\w.-]*)(?:['’]ve| have| has|"
    rf" had)?{_ADVERB} {_CHANGED} "
)
_REPLACES = wording(
    rf" (?:now )?(?:replaces|replaced|{_HAS} replaced|supersedes|superseded|overrides|"
    rf"takes the place of|"
    r"is replacing|will replace) "
)
_OWNS = (
    r"(?:has|have|had|uses?|keeps?|holds?|goes (?:with|by)|went with|got|['’]s got|has got|set|"
    r"wants|took|takes)"
)
_GAVE = (
    r"(?:lists?|listed|gave|gives|reported|reports|confirmed|confirms|chose|picked|selected|"
    r"named|names|stated|states|"
    r"provided|provides|has (?:chosen|given|listed|provided|named|picked|reported|confirmed)|"
    r"put down|entered|registered|"
    r"submitted|specified|declared)"
)
_HAS_V = wording(
    rf"(?: (?:now|currently|still|also|just|officially))* (?:{_OWNS}|{_GAVE})(?: (?:now|"
    rf"currently))? "
)
_GAVE_V = wording(rf"(?: (?:now|currently|also|just|officially))* {_GAVE} ")
_NOW_HAS_V = wording(
    rf" (?:now|currently|these days|since) {_OWNS} | (?:has|have|uses|goes with) (?:now|currently) "
)
_AS_K = wording(rf" as (?:{_THEIR} |an? )?")
_FOR_K = wording(rf" (?:as|for|under) (?:{_THEIR} |an? )?")
_CHANGED_K = wording(rf"(?: {_HAS})?{_ADVERB} {_CHANGED} (?:{_THEIR} )?")
_HAS_A = wording(r" (?:now )?(?:has|have|had|got|has got|['’]s got|gets|with) an? ")
_SWITCHED_TO = wording(rf"(?: {_HAS})?{_ADVERB} {_CHANGED}{_TO}")
_IS_WHAT = wording(
    r" (?:is|are) what (?:we|i|they|you) (?:have|had|hold|noted|recorded|wrote)(?: (?:down|"
    r"listed|recorded|noted|on file))?"
    r" (?:as|for|under) "
)
_HAS_NEW = wording(
    rf" (?:now )?(?:has|have|got|has got|['’]s got|gets|received|picked|chose) (?:an?|{_THEIR}) "
    r"(?:(?:brand[\s-])?new|different|changed|updated|another) "
)
_HAS_THE = wording(r" (?:now )?(?:has|have|with) (?:the|an?) ")
_OF = wording(r" of ")
_NAMELY = wording(r"\s*[:,] | [–—-] | = | \(")
_MARKED = wording(r" (?:→|->|=>|⇒|\||/|»|>) |\s*\|\s*|\s*;\s*")
_COMMA = wording(r", ")
_OPEN = wording(r"\s*[(\[]\s*")
_CLOSE_IS = wording(r"\s*[)\]]\s*(?:[:=–—-]|is|are)\s*")
_CLOSE = wording(r"\s*[)\]]$")
_INNER = wording(r"\s*[:=]\s*| is ")
_E_SEP = wording(r"\s*: | [–—-] ")
_BLANK = wording(r" ")
_MAKE = wording(rf"{_ASKED}(?:make|set|change|mark) ")
_UNDER_K = wording(
    r"(?:under|as|for|in terms of|regarding|as for|concerning|when it comes to|with regard to) "
)
_IT_IS = wording(r"it(?:['’]s| is) (?:now )?")
_NOW_FOR = wording(r" (?:now )?(?:for|as) ")
_HERE_IS = wording(r"(?:here (?:is|are|comes)|here['’]s|this is) ")
_REGISTER = wording(r"(?:(?:record|entry|note|fact|data|add|item)\s*:\s*)?")
_ENTRY = wording(r"(?:new )?(?:record|entry|fact|data|item|row|triple|log|memo)\s*:\s*")

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
