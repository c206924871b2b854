"""What a text looks like: the marks of form and tone that an edit can add or take away."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+(?:[.,:]\d+)*")
BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+\S")
HEADING = re.compile(r"^\s*#{1,6}\s+\S|^\s*\*\*[^*]{1,80}\*\*:?\s*$")
EMOJI = re.compile("[\u2600-\u27bf\u2b50\u2b55\U0001f300-\U0001faff]")
# Scripts whose words are not parted by spaces: each character counts as a word.
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")

GREETING = re.compile(
    r"^(?:hi|hello|hey|dear|greetings|good (?:morning|afternoon|evening)|hallo|liebe[rs]?|"
    r"sehr geehrte[rs]?|guten (?:tag|morgen|abend)|bonjour|cher|chère|hola|buenos días|"
    r"estimad[oa]|ciao|gentile|olá)\b|^(?:你好|您好|尊敬的|こんにちは|拝啓)",
    re.IGNORECASE,
)
SIGN_OFF = re.compile(
    r"^(?:best|best wishes|(?:kind|warm|best) regards|regards|cheers|sincerely|yours|"
    r"yours (?:sincerely|faithfully|truly)|thanks|many thanks|thank you|with thanks|take care|"
    r"viele grüße|mit freundlichen grüßen|beste grüße|liebe grüße|lg|cordialement|bien à vous|"
    r"saludos|un saludo|atentamente|cordiali saluti|abraços)\b[\s,!.]*\S{0,30}$|"
    r"^(?:此致|敬礼|祝好|敬具)",
    re.IGNORECASE,
)
CONTRACTION = re.compile(
    r"^(?:\w+n['’]t|\w+['’](?:re|ve|ll|m|d)|(?:it|that|here|there|he|she)['’]s)$"
)
INFORMAL = frozenset(
    "hey hi gonna wanna gotta kinda sorta yeah yep nope ok okay cool awesome stuff guys folks "
    "asap btw fyi lol super totally pretty cheers thx pls bit lots heads".split()
)
FORMAL = frozenset(
    "regarding furthermore moreover therefore henceforth hereby kindly herewith pursuant "
    "accordingly consequently nevertheless sincerely respectfully shall whom dear request "
    "appreciate acknowledge inform ensure assist require".split()
)
WRITTEN_OUT = re.compile(
    r"\b(?:do|does|did|is|are|was|were|has|have|had|will|would|can|could|should) not\b|"
    r"\bcannot\b|\b(?:i am|it is|that is|we are|you are|they are|i will|we will|i have|we have)\b",
    re.IGNORECASE,
)
I_WORDS = frozenset("i me my mine i'm i've i'll i'd".split())
WE_WORDS = frozenset("we us our ours we're we've we'll we'd".split())
FEW_GREETING_WORDS = 8

STOPWORDS = {
    "en": frozenset("the and of to in is that it for on with as are was this be at have".split()),
    "de": frozenset(
        "der die das und ist nicht mit ein eine zu den von auf für ich wir sich".split()
    ),
    "fr": frozenset("le la les et est une des pour dans que qui pas nous vous sur avec".split()),
    "es": frozenset("el los las y es una por para con que del se no en un su como".split()),
    "it": frozenset("il di che è per una con non sono della gli alla nel anche più".split()),
    "pt": frozenset("o os as e é uma para com não que do da em um por mais".split()),
}
SCRIPTS = {
    "ja": re.compile(r"[\u3040-\u30ff]"),
    "zh": re.compile(r"[\u4e00-\u9fff]"),
    "ko": re.compile(r"[\uac00-\ud7af]"),
    "ru": re.compile(r"[\u0400-\u04ff]"),
    "ar": re.compile(r"[\u0600-\u06ff]"),
}
FEWEST_WORDS_OF_A_LANGUAGE = 3


@dataclass(frozen=True, slots=True)
class Marks:
    """One text measured. `words` counts the body, without greeting and sign-off; `tone` is above 0
    where marks of formal writing prevail and below where those of speech do."""

    words: int
    bullets: int
    headings: int
    emoji: int
    greeting: bool
    sign_off: bool
    tone: int
    first_singular: int
    first_plural: int
    future: int
    language: str | None


def marks(text: str) -> Marks:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    greeting, sign_off = _greeting(lines), _sign_off(lines)
    body = lines[greeting : len(lines) - sign_off]
    words = words_of("\n".join(body))
    lower = [word.casefold().replace("’", "'") for word in words]
    return Marks(
        words=len(words),
        bullets=sum(1 for line in body if BULLET.match(line)),
        headings=sum(1 for line in body if HEADING.match(line)),
        emoji=len(EMOJI.findall(text)),
        greeting=bool(greeting),
        sign_off=bool(sign_off),
        tone=_tone(lower, "\n".join(body)),
        first_singular=sum(word in I_WORDS for word in lower),
        first_plural=sum(word in WE_WORDS for word in lower),
        future=lower.count("will") + sum(word.endswith("'ll") for word in lower),
        language=_language(lower, text),
    )


def words_of(text: str) -> list[str]:
    """The words in order; in scripts without spaces, the characters."""
    found: list[str] = []
    for word in WORD.findall(text):
        found.extend(word if UNSPACED.search(word) else [word])
    return found


def _greeting(lines: Sequence[str]) -> int:
    """How many lines at the top only greet: 1 or 0."""
    if len(lines) < 2 or not GREETING.match(lines[0]):
        return 0
    return int(len(words_of(lines[0])) <= FEW_GREETING_WORDS)


def _sign_off(lines: Sequence[str]) -> int:
    """How many lines at the end only sign off, with a name below it or not."""
    for back in (1, 2, 3):
        if len(lines) > back and SIGN_OFF.match(lines[-back]):
            return back
    return 0


def _tone(words: Sequence[str], text: str) -> int:
    spoken = sum(bool(CONTRACTION.match(word)) or word in INFORMAL for word in words)
    formal = sum(word in FORMAL for word in words) + len(WRITTEN_OUT.findall(text))
    return formal - spoken - text.count("!")


def _language(words: Sequence[str], text: str) -> str | None:
    """The language where it is clear, None where it is not."""
    letters = sum(char.isalpha() for char in text)
    for name, script in SCRIPTS.items():
        share = len(script.findall(text)) / letters if letters else 0.0
        if share > (0.1 if name == "ja" else 0.3):
            return name
    counts = {name: sum(word in known for word in words) for name, known in STOPWORDS.items()}
    first, second = sorted(counts.values(), reverse=True)[:2]
    if first < FEWEST_WORDS_OF_A_LANGUAGE or first <= second:
        return None
    return next(name for name, count in counts.items() if count == first)
