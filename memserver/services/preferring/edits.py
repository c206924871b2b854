"""From one edit to what it shows of its author's preferences, by rules. Most show little."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from memserver.domain.items import normal_name
from memserver.services.preferring.marks import Marks, marks, words_of
from memserver.services.preferring.swaps import only_typos, swaps

SHORTER, LONGER = 0.75, 1.33
FEW_WORDS = 6
TONE_STEP = 2
MOST_TERMS = 3
NO_LETTERS = re.compile(r"[\W_]+")


class About(StrEnum):
    """What a preference is about. Two of one kind contradict where they want different things,
    except for terms, each of which is about its own word."""

    LENGTH = "length"
    TONE = "tone"
    LAYOUT = "layout"
    HEADINGS = "headings"
    EMOJI = "emoji"
    GREETING = "greeting"
    SIGN_OFF = "sign-off"
    LANGUAGE = "language"
    SPELLING = "spelling"
    PERSON = "person"
    TENSE = "tense"
    TERM = "term"


@dataclass(frozen=True, slots=True)
class Leaning:
    """One thing that an edit shows. `of` is the word that a term is about. `clear` is False where
    one edit alone might be chance: it counts from the second time on."""

    about: About
    wants: str
    of: str = ""
    clear: bool = True

    @property
    def statement(self) -> str:
        if self.about is About.TERM:
            return f"Write “{self.wants}” and not “{self.of}”."
        known = STATEMENTS.get((self.about, self.wants))
        return known or f"Write in {LANGUAGES.get(self.wants, self.wants)}."

    def contradicts(self, other: "Leaning") -> bool:
        if self.about is not other.about:
            return False
        if self.about is not About.TERM:
            return self.wants != other.wants
        if self.of == other.of:
            return self.wants != other.wants
        return self.of == other.wants or self.wants == other.of


LANGUAGES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "zh": "Chinese",
    "ja": "Japanese",
    "ko": "Korean",
    "ru": "Russian",
    "ar": "Arabic",
}
STATEMENTS = {
    (About.LENGTH, "shorter"): "Keep it short.",
    (About.LENGTH, "longer"): "Go into more detail.",
    (About.TONE, "formal"): "Use a formal tone.",
    (About.TONE, "informal"): "Use an informal tone.",
    (About.LAYOUT, "bullets"): "Use bullet points.",
    (About.LAYOUT, "prose"): "Write prose, without bullet points.",
    (About.HEADINGS, "with"): "Use headings.",
    (About.HEADINGS, "without"): "Leave out headings.",
    (About.EMOJI, "with"): "Use emoji.",
    (About.EMOJI, "without"): "Leave out emoji.",
    (About.GREETING, "with"): "Begin with a greeting.",
    (About.GREETING, "without"): "Leave out the greeting.",
    (About.SIGN_OFF, "with"): "End with a sign-off.",
    (About.SIGN_OFF, "without"): "Leave out the sign-off.",
    (About.SPELLING, "american"): "Use American spelling.",
    (About.SPELLING, "british"): "Use British spelling.",
    (About.PERSON, "singular"): "Write as “I”, not as “we”.",
    (About.PERSON, "plural"): "Write as “we”, not as “I”.",
    (About.TENSE, "present"): "Use the present tense instead of “will”.",
    (About.TENSE, "future"): "Say what will happen, with “will”.",
}


def infer(before: str, after: str) -> tuple[Leaning, ...]:
    """What the edit shows; nothing where it only changed white space, case, marks or typos, or
    left nothing of the text."""
    old_words, new_words = words_of(before), words_of(after)
    if not new_words or _trivial(before, after, old_words, new_words):
        return ()
    old, new = marks(before), marks(after)
    if old.language and new.language and old.language != new.language:
        # In another language, words and length say nothing.
        return (Leaning(About.LANGUAGE, new.language), *_form(old, new))
    return (*_form(old, new), *_wording(old, new), *_words(old_words, new_words))


def _trivial(before: str, after: str, old: list[str], new: list[str]) -> bool:
    """Emoji and bullets are marks as well, and no trifle."""
    if marks(before) != marks(after):
        return only_typos(old, new) and _looks(before) == _looks(after)
    return normal_name(NO_LETTERS.sub(" ", before)) == normal_name(
        NO_LETTERS.sub(" ", after)
    ) or only_typos(old, new)


def _looks(text: str) -> tuple[object, ...]:
    seen = marks(text)
    return (seen.bullets, seen.headings, seen.emoji, seen.greeting, seen.sign_off)


def _form(old: Marks, new: Marks) -> Iterator[Leaning]:
    if old.bullets == 0 and new.bullets >= 2:
        yield Leaning(About.LAYOUT, "bullets")
    elif old.bullets >= 2 and new.bullets == 0:
        yield Leaning(About.LAYOUT, "prose")
    for about, was, now in (
        (About.HEADINGS, old.headings > 0, new.headings > 0),
        (About.EMOJI, old.emoji > 0, new.emoji > 0),
        (About.GREETING, old.greeting, new.greeting),
        (About.SIGN_OFF, old.sign_off, new.sign_off),
    ):
        if was is not now:
            yield Leaning(about, "with" if now else "without")


def _wording(old: Marks, new: Marks) -> Iterator[Leaning]:
    if old.words and abs(new.words - old.words) >= FEW_WORDS:
        ratio = new.words / old.words
        if ratio <= SHORTER:
            yield Leaning(About.LENGTH, "shorter")
        elif ratio >= LONGER:
            yield Leaning(About.LENGTH, "longer")
    # More text has more marks of every kind, so that tone and tense are seen at one length.
    steady = bool(old.words) and SHORTER < new.words / old.words < LONGER
    if steady and new.tone - old.tone >= TONE_STEP and new.tone > 0:
        yield Leaning(About.TONE, "formal")
    elif steady and old.tone - new.tone >= TONE_STEP and new.tone < 0:
        yield Leaning(About.TONE, "informal")
    if old.first_singular >= 2 and new.first_singular == 0 and new.first_plural >= 2:
        yield Leaning(About.PERSON, "plural")
    elif old.first_plural >= 2 and new.first_plural == 0 and new.first_singular >= 2:
        yield Leaning(About.PERSON, "singular")
    if steady and old.future >= 2 and new.future == 0:
        yield Leaning(About.TENSE, "present")
    elif steady and old.future == 0 and new.future >= 2:
        yield Leaning(About.TENSE, "future")


def _words(old: list[str], new: list[str]) -> Iterator[Leaning]:
    found = swaps(old, new)
    if found.spelling:
        yield Leaning(About.SPELLING, found.spelling)
    for swap in sorted(found.terms, key=lambda swap: not swap.clear)[:MOST_TERMS]:
        yield Leaning(About.TERM, swap.new, of=swap.old, clear=swap.clear)
