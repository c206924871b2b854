"""What is said and need not be remembered: pleasantries, and text that says nothing at all.

A text is dropped only where every word of it is of a closed list; one name, one number, one word
that is not on it, and it is kept."""

import math
import re
from collections import Counter

from memserver.services.writing.understood import Known
from memserver_skills.words import FUNCTION_WORDS

_PLEASANT = frozenset(
    """thanks thank thankyou thx ty cheers hello hi hey heya hiya greetings welcome bye goodbye ciao
    please sorry apologies pardon excuse congratulations congrats bravo hooray yay
    ok okay kk yes yeah yep yup ya nope nah sure surely certainly absolutely definitely exactly indeed
    right alright correct agreed agree understood understand gotcha noted roger
    good great nice fine cool perfect excellent awesome amazing wonderful lovely brilliant fantastic
    super neat sweet beautiful interesting funny fun quick helpful kind glad happy pleased
    best better well soon later again always still already ever never maybe perhaps really truly
    quite pretty much lot lots bit
    hmm hm mm mhm um umm uh uhm er ah ahh aha oh ooh wow whoa ha haha hahaha hehe lol rofl ugh oops
    omg brb ttyl tbh imo np pls plz btw fyi idk gtg afk
    let lets let's see sounds sound seems seem looks makes make made sense think thinking wait hold
    help helps helped appreciate appreciated works matter matters mind mention worry worries problem
    question questions point idea thing things else anything something nothing everything
    moment second sec minute go ahead going get got come know say said tell hear hope course
    that's it's i'm i'll i'd i've you're we're we'll they're don't doesn't isn't can't won't didn't
    here's there's what's how's who's where's gonna wanna gimme having am
    today now then just so too also though anyway anyways actually honestly basically like""".split()
)
_PHRASES = re.compile(
    r"\b(?:good\s+(?:morning|afternoon|evening|night|day|luck|one|job|work)|"
    r"(?:great|nice|excellent|amazing|fantastic)\s+(?:work|job|stuff|one|day|talking|meeting|chatting)|"
    r"keep\s+(?:up\s+the\s+(?:good|great)\s+work|it\s+up|going)|well\s+done|fair\s+enough|never\s+mind|no\s+worries|"
    r"long\s+time\s+no\s+see|take\s+(?:care|your\s+time|it\s+easy)|"
    r"(?:have|enjoy)\s+(?:a|an|the|your)\s+(?:(?:nice|good|great|lovely|wonderful|rest\s+of\s+(?:the|your))\s+)*"
    r"(?:day|week|weekend|evening|night|morning|afternoon|one|trip|time|rest)|"
    r"see\s+you(?:\s+(?:later|soon|tomorrow|then|around|again|next\s+time|next\s+week))?|"
    r"(?:talk|speak|write|chat)\s+(?:to\s+you\s+|with\s+you\s+)?(?:soon|later|tomorrow|again)|catch\s+you\s+later|"
    r"(?:get|come|be)\s+back\s+(?:to\s+(?:you|me|that|this|it))?|"
    r"(?:let\s+me|i(?:['’]ll|\s+will|\s+need\s+to|\s+have\s+to)|let['’]?s|give\s+me)\s+(?:just\s+)?(?:think|check|see|look|"
    r"ponder|consider|a\s+(?:moment|minute|second|sec)|some\s+time)(?:\s+(?:about|into|on|at|over))?|"
    r"(?:move|carry|go)\s+on|all\s+(?:right|good|set|clear|done)|my\s+(?:bad|pleasure|apologies|mistake)|"
    r"(?:what|how)\s+about\s+you|how\s+are\s+(?:you|things)|how['’]?s\s+(?:it\s+going|everything|life)|what['’]?s\s+up|"
    r"nice\s+to\s+(?:meet|hear|see)\s+(?:you|from\s+you|that)|sounds?\s+like\s+a\s+plan|of\s+course|not\s+at\s+all|"
    r"not\s+sure(?:\s+yet)?|same\s+here|how\s+was\s+your\s+(?:day|week|weekend|trip|evening|night|holiday|vacation)|(?:circle|check)\s+back|me\s+too|you\s+too|to\s+be\s+honest|by\s+the\s+way|makes?\s+sense|"
    r"(?:one|just\s+a|a)\s+(?:moment|second|sec|minute)|no\s+(?:problem|way|rush|hurry|need)|got\s+it|welcome\s+back)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?…\n])\W*$")
_REPEATED = re.compile(r"(?P<unit>.{1,4}?)(?P=unit){3,}\W*", re.DOTALL)
_DENSE = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_MASHED = re.compile(r"[bcdfghjklmnpqrstvwxz]{5,}|^[^aeiouyAEIOUY]{5,}$")
_NOISY_BITS = 3.5
"""Bits a character: prose runs below, random letters and digits above."""


def is_small_talk(text: str, known: Known | None = None) -> bool:
    """Whether nothing in the text is worth remembering. A known entity in it always is."""
    if is_rubbish(text):
        return True
    if any(letter.isdigit() for letter in text) or _names_something(text):
        return False
    plain = _PHRASES.sub(" ", text)
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(plain)]
    if known is not None and any(known.entity(word) for word in _WORD.findall(text)):
        return False
    return all(word in FUNCTION_WORDS or word in _PLEASANT or _laughs(word) for word in words)


def is_rubbish(text: str) -> bool:
    """Whether the text says nothing: empty, only signs and pictures, one thing over and over, or
    letters without order."""
    plain = text.strip()
    if not any(letter.isalnum() for letter in plain):
        return True
    if len(plain) > 4 and not plain.isdigit() and _REPEATED.fullmatch(plain):
        return True
    words = plain.split()
    noise = sum(len(word) for word in words if _is_noise(word))
    if noise >= 0.8 * sum(map(len, words)):
        return True
    mashed = [word for word in words if len(word) >= 5 and word.isalpha() and word.islower()]
    return len(mashed) == len(words) and all(_MASHED.search(word) for word in mashed)


def _is_noise(word: str) -> bool:
    """A long run of letters and digits as an encoder leaves it; no path, address or identifier."""
    if _DENSE.fullmatch(word) is None or word.count("-") >= 2 or word.count("/") > len(word) / 12:
        return False
    mixed = sum(any(map(test, word)) for test in (str.islower, str.isupper, str.isdigit))
    counts = Counter(word)
    bits = -sum(n / len(word) * math.log2(n / len(word)) for n in counts.values())
    return mixed >= 2 and bits >= _NOISY_BITS and ("_" not in word or mixed == 3)


def _names_something(text: str) -> bool:
    """A capital inside a sentence, other than "I" and the words that are always written so."""
    for match in _WORD.finditer(text):
        word = match.group()
        if not word[0].isupper() or word.casefold() in ("i", "ok") or word[:2] in ("I'", "I’"):
            continue
        if not _SENTENCE_START.search(text[: match.start()]):
            return True
    return False


def _laughs(word: str) -> bool:
    return bool(
        re.fullmatch(r"(?:ha|he|hi)+h?|h+m+|m+h*m+|o+h+|a+h+|wo+w+|ye+s+|no+|so+|lo+l", word)
    )
