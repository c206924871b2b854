"""Facts in what people say, by rules of English and without a model. What is not clearly a fact
stays in `rest`, to be kept as a note: a sentence may be understood too little, never wrongly."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from memserver.domain.items import normal_name
from memserver.services.writing.dates import resolve
from memserver.services.writing.forms import FORMER_WORD, Filled, fill
from memserver.services.writing.framing import Framed, hedged, unframed
from memserver.services.writing.patterns import wording
from memserver.services.writing.personal import ENDED, personal
from memserver.services.writing.retractions import RETRACTIONS
from memserver.services.writing.sentences import Sentence, sentences
from memserver.services.writing.statements import STATEMENTS
from memserver.services.writing.subjects import Setting, Subject, owner_in, subject_in
from memserver.services.writing.understood import (
    Known,
    Retracted,
    Span,
    Stated,
    Understood,
)

__all__ = ["Known", "Retracted", "Span", "Stated", "Understood", "facts_in"]

LONGEST = 400
"""Characters of a sentence that is read; a longer one is no plain statement."""
MOST_LOOKS = 40
"""Pieces of one sentence that are tried as statements."""

_JOINT = wording(
    r"\s*(?:;|,\s*(?:and|but|while|whereas|so|though|although|because|since|as|which|who)\b|,|"
    r"\s[–—-]\s|"
    r"\s(?:and|but|while|whereas|because)\b)\s*",
)
_REQUEST = wording(
    r"(?:ok(?:ay)?,? |hey,? |hi,? )?(?:please )?(?:can|could|would|will) you (?:please |kindly |"
    r"just |also )*"
    r"(?=note|remember|record|write|save|store|set|update|change|forget|remove|delete|drop|"
    r"ignore|make|keep|add|log|"
    r"correct|disregard|erase|clear|register|jot|put|replace|cancel|discard|strike|retract)",
)
_NEWS = wording(r"did (?:i|we) (?:\w+ )?(?:mention|tell|say)|did you (?:know|hear)\s")
"""Questions that state what they ask about."""
_SMILE = re.compile(
    r"(?:\s*(?:[:;=]-?[)(DPp]+|\^\^|<3|[\u2600-\u27bf\U0001f300-\U0001faff\ufe0f]+))+\s*$"
)
_DOUBT = wording(
    r"(?:(?:i|we) (?:think|guess|believe|suppose|assume|hope)|isn['’]?t it|if|unless|maybe|perhaps|"
    r"probably|possibly|presumably|just kidding)\b|right$",
)
"""After a statement, words that take its certainty back."""
_IT = wording(r"(?:it|that|this)(?=['’]s\s|\s)(?:['’]s)?")
_ELIDED = wording(
    r"(?:also |now )*(?:lives?|works?|likes?|loves?|enjoys?|prefers?|hates?|dislikes?|studies|"
    r"study|moved|comes?|"
    r"(?:was|am|is) (?:born|allergic|based|married|from))\s",
)
_ELLIPSIS = wording(
    r"(?P<owner>.+?)['’]s? (?P<rest>(?:is|are|has changed to|changed to|became)\s.+)"
)
_SPOKEN_OF = wording(
    r" (?:is|are|was|were|isn['’]t|has|have|had|used to|changed|moved|no longer|does|doesn['’]t|"
    r"will|got|should)\b|"
    r"['’]s\s",
)
_IMPERATIVE = wording(
    r"(?:forget|drop|ignore|remove|delete|disregard|discard|erase|clear|scratch|"
    r"cancel) (?P<subject>.+)",
)
_CONTENT = re.compile(r"[^\W_]{2,}")


@dataclass(frozen=True, slots=True)
class _Said:
    """One form filled, with what the frame around it adds."""

    filled: Filled
    framed: Framed

    @property
    def retracts(self) -> bool:
        return self.filled.form in RETRACTIONS or self.filled.form is ENDED

    @property
    def requests(self) -> bool:
        return self.filled.form.head is not None

    @property
    def renewed(self) -> bool:
        value = self.filled.value
        return (
            self.framed.renewed
            or self.filled.form.renews
            or self.filled.subject.renewed
            or bool(value and value.renewed)
        )

    @property
    def dated(self) -> str:
        return (self.filled.value.dated if self.filled.value else "") or self.framed.dated


@dataclass(frozen=True, slots=True)
class _Read:
    """What a clause was read as, and the pieces of it that were not."""

    said: tuple[_Said, ...]
    left: tuple[str, ...] = ()


def facts_in(
    text: str,
    *,
    at: datetime,
    zone: tzinfo,
    speaker: str | None = None,
    known: Known | None = None,
) -> Understood:
    """What `text`, said by `speaker` at `at`, states and takes back. `zone` is the speaker's.

    Where one text says more than one thing of a fact, the last word counts."""
    setting = Setting(known or Known(), speaker)
    meant: dict[tuple[str, str], Stated | Retracted] = {}
    rest: list[str] = []
    for sentence in sentences(text):
        read = _sentence(sentence.text, setting)
        if read is None:
            rest.append(sentence.text)
            setting = replace(setting, entity=None, subject=None)
            continue
        rest.extend(read.left)
        for said in read.said:
            outcome = _outcome(said, sentence, at=at, zone=zone)
            name = normal_name(outcome.entity), normal_name(outcome.key)
            meant.pop(name, None)
            meant[name] = outcome
        setting = _after(read, setting)
    facts = tuple(each for each in meant.values() if isinstance(each, Stated))
    ended = tuple(each for each in meant.values() if isinstance(each, Retracted))
    return Understood(facts, "\n".join(rest), ended)


def _outcome(said: _Said, sentence: Sentence, *, at: datetime, zone: tzinfo) -> Stated | Retracted:
    subject, value = said.filled.subject, said.filled.value
    dates = resolve(said.dated, at=at, zone=zone) if said.dated else ()
    since = dates[0].start if dates else None
    if said.retracts or value is None:
        ended = value.text if value else None
        return Retracted(subject.entity, subject.key, sentence.span, ended, since)
    return Stated(subject.entity, subject.key, value.text, said.renewed, since, sentence.span)


def _after(read: _Read, setting: Setting) -> Setting:
    """A pronoun that follows means the one entity that was named, or nobody where two were."""
    entities = {normal_name(said.filled.subject.entity): said for said in read.said}
    last = read.said[-1].filled.subject
    entity = last.entity if len(entities) == 1 else None
    return replace(setting, entity=entity, subject=last)


def _sentence(text: str, setting: Setting) -> _Read | None:
    if len(text) > LONGEST:
        return None
    text = _SMILE.sub("", text).strip().strip('"“”').strip()
    request = _REQUEST.match(text)
    if text.endswith(("?", "？")):
        if request is None and not _NEWS.match(text):
            return None
        text = text.rstrip("?？ ")
    if request is not None:
        text = text[request.end() :]
    return _Reader().clauses(text.rstrip(".!。！… "), setting)


class _Reader:
    """Reads one sentence. The ways to part it are many; so many of its pieces are looked at."""

    def __init__(self) -> None:
        self._looks = MOST_LOOKS

    def clauses(self, text: str, setting: Setting) -> _Read | None:
        """The text as statements side by side where both sides are some, else as one."""
        joints = list(_JOINT.finditer(text))
        for joint in joints:
            left, right = text[: joint.start()], text[joint.end() :]
            first = self._clause(left, setting)
            if first is None:
                continue
            if _DOUBT.match(right):
                return None
            second = self.clauses(right, _after(_Read((first,)), setting))
            if second is not None:
                return _Read((first, *second.said), second.left)
        if (whole := self._clause(text, setting)) is not None:
            return _Read((whole,))
        return self._beside_other_words(text, joints, setting)

    def _beside_other_words(
        self, text: str, joints: Sequence[re.Match[str]], setting: Setting
    ) -> _Read | None:
        """A statement before or after words that are none; those are handed back."""
        for joint in joints:
            left, right = text[: joint.start()], text[joint.end() :]
            if hedged(left):
                return None
            spoken = _spoken_of(left, setting)
            about = replace(setting, subject=spoken, entity=spoken.entity) if spoken else setting
            if spoken is not None and (second := self.clauses(right, about)):
                return second
        for joint in reversed(joints):
            left, right = text[: joint.start()], text[joint.end() :]
            first = self._clause(left, setting)
            if first is not None:
                return _Read((first,), _worth(right))
        for joint in joints:
            left, right = text[: joint.start()], text[joint.end() :]
            second_said = self._clause(right, setting)
            # "… to clear my mind": what follows other words is no request.
            if second_said is not None and not second_said.requests:
                return _Read((second_said,), _worth(left))
        return None

    def _clause(self, text: str, setting: Setting) -> _Said | None:
        self._looks -= 1
        return _clause(text, setting) if self._looks >= 0 else None


def _worth(text: str) -> tuple[str, ...]:
    return (text,) if len(_CONTENT.findall(text)) > 1 else ()


def _spoken_of(text: str, setting: Setting) -> Subject | None:
    """The fact that a clause is about, though it gives no value ("Ana's office has changed")."""
    if imperative := _IMPERATIVE.match(text):
        return subject_in(FORMER_WORD.sub("", imperative["subject"], count=1), setting)
    for verb in _SPOKEN_OF.finditer(text):
        if subject := subject_in(text[: verb.start()], setting):
            return subject
    return None


def _clause(text: str, setting: Setting) -> _Said | None:
    """The one thing that a clause states or takes back."""
    for framed in unframed(text, setting):
        if not framed.text or hedged(framed.text):
            continue
        for filled in _filled(framed.text, framed.setting):
            return _Said(filled, framed)
        if said := _leaning(framed):
            return said
    return None


def _filled(text: str, setting: Setting) -> Iterator[Filled]:
    for form in (*RETRACTIONS, *STATEMENTS):
        filled = fill(form, text, setting)
        if filled is not None:
            yield filled
    told = personal(text, setting)
    if told is not None:
        yield told


def _leaning(framed: Framed) -> _Said | None:
    """A clause that leans on the fact before it: "it is C3 now", "Bob's is C3"."""
    subject = framed.setting.subject
    if subject is None:
        return None
    if it := _IT.match(framed.text):
        verb = " is" if it.group()[-1] == "s" and it.group().casefold() != "this" else ""
        text = f"{subject.entity}'s {subject.key}{verb}{framed.text[it.end() :]}"
        for filled in _filled(text, framed.setting):
            said = _Said(filled, framed)
            return said if said.renewed or said.retracts else None
    # "… and works at Acme", of whoever was spoken of before.
    if _ELIDED.match(framed.text):
        who = "I" if subject.entity == framed.setting.speaker else subject.entity
        if (told := personal(f"{who} {framed.text}", framed.setting)) is not None:
            return _Said(told, framed)
    if (other := _ELLIPSIS.fullmatch(framed.text)) and (
        owner := owner_in(other["owner"], framed.setting, possessive=True)
    ):
        text = f"{owner}'s {subject.key} {other['rest']}"
        for filled in _filled(text, framed.setting):
            return _Said(filled, framed)
    return None
