"""The forms in which English takes a value back without giving another: "forget E's K", "E no
longer has K", "E's K no longer applies"."""

from memserver.services.writing.forms import Form, Part
from memserver.services.writing.patterns import wording

SUBJECT, OWNER, KEY, VALUE = Part.SUBJECT, Part.OWNER, Part.KEY, Part.VALUE


_END = (
    r"(?: (?:any\s?more|any longer|now|for now|please|at all|from now on|at present|these days|"
    r"today|for good|altogether|entirely|completely|either|as well|too|effective immediately|"
    r"as of (?:today|now)))*"
    r"[\s,.!]*(?:please|thanks|thank you)?$"
)
_STALE = (
    r"(?:valid|true|relevant|current|applicable|in (?:force|effect|use|place|question)|needed|"
    r"required|necessary|"
    r"accurate|correct|active|available|up to date|the case|binding|operative|right|good|used|"
    r"known|in the picture)"
)
_ENDED = (
    r"(?:cancel(?:l)?ed|withdrawn|removed|revoked|deleted|dropped|voided|discontinued|rescinded|"
    r"abolished|lifted|ended|scrapped|"
    r"retracted|invalidated|cleared|terminated|annulled|repealed|erased|called off|taken back|"
    r"struck(?: off)?|"
    r"waived|nullified|eliminated|done away with|crossed out|taken away|wiped)"
)
_GONE = wording(
    rf" (?:(?:is|are) (?:now )?(?:void|null(?: and void)?|obsolete|outdated|out of date|invalid|"
    rf"moot|gone|history|"
    rf"superseded|no more|a thing of the past)"
    rf"|(?:is|are) no longer (?:an? (?:thing|issue|factor)\s*|{_STALE}|{_ENDED})"
    rf"|(?:is|are) no longer"
    rf"|(?:is|are)\s*(?:not|n['’]t) (?:an? (?:thing|issue|factor)|{_STALE}) (?:any\s?more|"
    rf"any longer|now)"
    rf"|no longer (?:applies|apply|holds?|exists?|stands?|counts?|matters?|is {_STALE}|"
    rf"are {_STALE})"
    rf"|(?:has|have|was|were) (?:now |just |since |been |already )*{_ENDED}"
    rf"|(?:is|are) (?:now |hereby |being )?(?:withdrawn|revoked|rescinded|retracted|annulled)"
    rf"|(?:has|have) (?:now |just |since )?(?:expired|lapsed|ended|ceased(?: to (?:apply|"
    rf"exist))?|gone away|disappeared|"
    rf"run out|come to an end|become (?:void|obsolete|invalid|irrelevant))"
    rf"|(?:expired|lapsed|ceased to (?:apply|exist)|stopped applying|ended)"
    rf"|(?:does|do|did)\s*(?:not|n['’]t) (?:apply|hold|exist|count|matter|stand)"
    rf"|(?:should|can|must|may|is to|has to|needs to) (?:now )?be (?:removed|deleted|forgotten|"
    rf"ignored|dropped|"
    rf"disregarded|discarded|erased|cleared)"
    rf"|ceased to (?:apply|exist|hold)|stopped applying){_END}"
)
_IS_NO_LONGER = wording(r" (?:is|are) no longer | no longer (?:is|are) ")
_IS_NOT = wording(r" (?:is|are)\s*(?:not|n['’]t) ")
_FROM_THE = (
    r"(?: (?:from|off|out of) (?:(?:the|your|my|our|all) )?(?:records?|list|notes?|files?|memory|"
    r"books|system|database|"
    r"register|profile|sheet))?"
)
_REASON = (
    r"(?:\s*[,;:–—-]+\s*(?:(?:as|since|because|for) )?(?:it|that|this|they|those)\b.*|"
    r" (?:as|since|because) (?:it|that|this|they)\b.*)?"
)
_AFTER = wording(rf"{_FROM_THE}{_REASON}{_END}")
_VERB = (
    r"(?:forget|never\s?mind|drop|ignore|remove|delete|disregard|discard|erase|clear|scratch|"
    r"strike(?: out)?|cancel|retract|unset|void|wipe|"
    r"purge|withdraw|revoke|take (?:back|out|away|off|down)|take|get rid of|throw (?:out|away)|"
    r"stop using|cross out|"
    r"dismiss|rescind|invalidate|nullify|undo|omit|lose|let go of|do away with|annul|scrap|expunge)"
)
_ABOUT = (
    r"(?: (?:all )?(?:about|of))?(?: (?:everything|what(?:ever)?|anything|all|the thing) (?:that )?"
    r"(?:i|we|you|they|was) (?:['’]ve )?(?:have |had |just |ever )*(?:said|told you|know|knew|"
    r"wrote|noted|mentioned|"
    r"have|stored|recorded|remember) (?:earlier |before )?(?:about|on|of|regarding|concerning|"
    r"for))?"
)
_FORGET = wording(
    rf"(?:(?:you|we|i) (?:can|may|should|could|might as well|must|need to|have to|will|want to|"
    rf"would like to|['’]ll) )?"
    rf"(?:(?:can|could|would|will) you |let['’]?s |i |we )?(?:please |pls |plz |kindly |just |"
    rf"now |safely |hereby )*"
    rf"{_VERB}{_ABOUT} "
)
_WHAT_I_SAID = wording(
    r"(?:what|everything|whatever|anything) (?:i|we|you|was) (?:have )?(?:said|told you|wrote|"
    r"noted|mentioned|recorded) "
    r"(?:earlier |before )?(?:about|on|regarding|concerning) "
)
_CONSIDER = wording(r"(?:please )?(?:consider|treat|regard|mark|declare) ")
_AS_VOID = wording(
    r" (?:as |to be )?(?:void|null(?: and void)?|obsolete|outdated|invalid|cancelled|canceled|"
    r"withdrawn|deleted|"
    r"removed|gone|no longer valid|revoked|retracted|ended|expired|unset)[\s.!]*$"
)
_ANY = r"(?: (?:an?|any|the|their|her|his|its|such an?|that))? "
_NO_LONGER_HAS = wording(
    rf" (?:(?:now )?no longer (?:has|have|had|holds?|uses?|needs?|keeps?)|(?:has|"
    rf"have) ceased to have|"
    rf"(?:has|have) stopped (?:having|using)|stopped (?:having|using)){_ANY}"
)
_HAS_NOT = wording(rf" (?:(?:does|do)\s*(?:not|n['’]t) (?:have|hold|use|need)){_ANY}")
_HAS_NO = wording(
    r" (?:now )?(?:has|have|has got) (?:now )?no (?:more |longer an? )?| (?:is|"
    r"are) (?:now )?without (?:an? )?"
)
_HAS_NO_MORE = wording(
    r" (?:now has|now have|has now|has|have) no more | now (?:has|have) no |"
    r" is now without (?:an? )?"
)
_LOST = wording(
    r" (?:has |have )?(?:lost|gave up|given up|dropped|cancelled|canceled|quit|withdrew|"
    r"withdrawn|gotten rid of|got rid of|"
    r"ended|revoked) (?:the|their|her|his|its) "
)
_THERE_IS_NO = wording(
    r"there(?: (?:is|are)|['’]s) (?:now )?no (?:longer )?(?:an? |any |more )?|(?:we|i|"
    r"they) no longer (?:have|hold|keep) (?:an? |any )?|(?:we|i) (?:do not|"
    r"don['’]t) have (?:an? |any )?"
)
_APPLIES_TO = wording(r" no longer appl(?:ies|y) to | (?:does|do)\s*(?:not|n['’]t) apply to ")
_ENDING = wording(_END)
_SURE_ENDING = wording(r" (?:any\s?more|any longer|now|these days)[\s.!]*$")

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
        head=wording(r"(?:we|i|they|there) (?:is |are )?no longer (?:have |hold )?(?:an? |any )?"),
        tail=_ENDING,
    ),
    Form("K no longer applies to E", (KEY, OWNER), (_APPLIES_TO,), tail=_ENDING),
    Form("E has no K", (OWNER, KEY), (_HAS_NO,), tail=_ENDING, known_key=True),
    Form("E does not have K", (OWNER, KEY), (_HAS_NOT,), tail=_ENDING, known_key=True),
    Form("E lost K", (OWNER, KEY), (_LOST,), tail=_ENDING, known_key=True),
)
"""The forms marked `known_key` say only that there is nothing, which takes something back where
there was something, and is news of its own ("Ana has no allergy") where there was not."""
