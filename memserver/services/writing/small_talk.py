"""What is said and need not be remembered: pleasantries, and text that says nothing at all.

A text is dropped only where every word of it is of a closed list; one name, one number, one word
that is not on it, and it is kept."""

import math
import re
from collections import Counter

from memserver.services.writing.patterns import wording
from memserver.services.writing.understood import Known
from memserver_skills.words import FUNCTION_WORDS

_PLEASANT = frozenset(
    """thanks thank thankyou thx ty cheers hello hi hey heya hiya greetings welcome bye goodbye ciao
    please sorry apologies pardon excuse congratulations congrats bravo hooray yay
    ok okay kk yes yeah yep yup ya nope nah sure surely certainly absolutely definitely
    exactly indeed
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
    today now then just so too also though anyway anyways actually honestly basically
    like""".split()
)
_PHRASES = wording(
    r"\b(?:good (?:morning|afternoon|evening|night|day|luck|one|job|work)|"
    r"(?:great|nice|excellent|amazing|fantastic) (?:work|job|stuff|one|day|talking|meeting|"
    r"chatting)|"
    r"keep (?:up the (?:good|great) work|it up|going)|well done|fair enough|never mind|no worries|"
    r"long time no see|take (?:care|your time|it easy)|"
    r"(?:have|enjoy) (?:a|an|the|your) (?:(?:nice|good|great|lovely|wonderful|rest of (?:the|"
    r"your)) )*"
    r"(?:day|week|weekend|evening|night|morning|afternoon|one|trip|time|rest)|"
    r"see you(?: (?:later|soon|tomorrow|then|around|again|next time|next week))?|"
    r"(?:talk|speak|write|chat) (?:to you |with you )?(?:soon|later|tomorrow|again)|"
    r"catch you later|"
    r"(?:get|come|be) back (?:to (?:you|me|that|this|it))?|"
    r"(?:let me|i(?:['’]ll| will| need to| have to)|let['’]?s|give me) (?:just )?(?:think|check|"
    r"see|look|"
    r"ponder|consider|a (?:moment|minute|second|sec)|some time)(?: (?:about|into|on|at|over))?|"
    r"(?:move|carry|go) on|all (?:right|good|set|clear|done)|my (?:bad|pleasure|apologies|mistake)|"
    r"(?:what|how) about you|how are (?:you|things)|how['’]?s (?:it going|everything|life)|"
    r"what['’]?s up|"
    r"nice to (?:meet|hear|see) (?:you|from you|that)|sounds? like a plan|of course|not at all|"
    r"not sure(?: yet)?|same here|how was your (?:day|week|weekend|trip|evening|night|holiday|"
    r"vacation)|(?:circle|check) back|me too|you too|to be honest|by the way|makes? sense|"
    r"(?:one|just a|a) (?:moment|second|sec|minute)|no (?:problem|way|rush|hurry|need)|got it|"
    r"welcome back)\b",
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
