"""What a call tells, and the candidates in it: facts and retractions as they were understood, and
what no rule understands as text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

from memserver.domain.items import TITLE_LENGTH, FactBody, Kind, TextBody, Turn, first_line
from memserver.services.remembering import CLOCK_SKEW
from memserver.services.writing.candidates import Candidate, Sort
from memserver.services.writing.facts import facts_in
from memserver.services.writing.sentences import sentences
from memserver.services.writing.small_talk import is_rubbish, is_small_talk
from memserver.services.writing.turns import turn_title
from memserver.services.writing.understood import Known, Retracted, Stated, Understood

SAY_NOTHING_NEW = frozenset({"assistant", "system", "tool"})
"""Roles whose messages are kept as turns and never read for facts: what they state they were told,
or made up."""
FACT_TITLE_LENGTH = 500
NAME_WORDS, MOST_NAMES = 3, 3_000


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. `speaker` is a name or a role."""

    speaker: str
    text: str
    at: datetime | None = None

    @property
    def states_facts(self) -> bool:
        return self.speaker.casefold() not in SAY_NOTHING_NEW


@dataclass(frozen=True, slots=True)
class ToldFact:
    body: FactBody
    valid_from: datetime | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """One call: exactly one of `text`, `messages` and `facts` is set. `at` is when it was said and
    `zone` where; `subject` is the person it is about, who speaks where nobody else is named."""

    at: datetime
    zone: tzinfo
    text: str | None = None
    messages: tuple[Message, ...] | None = None
    facts: tuple[ToldFact, ...] | None = None
    subject: str | None = None
    session: UUID | None = None
    keep_turns: bool = True
    expires_at: datetime | None = None
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """The candidates of one text in the order said, and the sentences that are none of them."""

    candidates: tuple[Candidate, ...]
    rest: str


def of_facts(told: Told) -> list[Candidate]:
    return [
        _fact(told, fact.body, text=fact.body.line, at=fact.valid_from or told.at, method="facts")
        for fact in told.facts or ()
    ]


def heard(
    told: Told,
    text: str,
    *,
    now: datetime,
    known: Known,
    at: datetime | None = None,
    speaker: str | None = None,
    message: int | None = None,
) -> Heard:
    """What `text` states and takes back. What is said to hold only later is left in the rest: as a
    fact it would hide what holds today."""
    said_at = at or told.at
    method = "text" if message is None else "messages"
    found = facts_in(text, at=said_at, zone=told.zone, speaker=speaker, known=known)
    later = [one for one in found.facts if _is_ahead(one.valid_from, now)]
    candidates = [
        _stated(told, one, text=text, at=said_at, method=method, message=message)
        if isinstance(one, Stated)
        else _retracted(told, one, text=text, at=said_at, method=method, message=message)
        for one in _in_order(found)
        if one not in later
    ]
    rest = "\n".join(filter(None, [found.rest, *(_words(text, one) for one in later)]))
    return Heard(tuple(candidates), rest)


def note_of(told: Told, rest: str, known: Known) -> Candidate | None:
    """What was not understood, as one note, without the small talk in it; None where nothing is
    left to keep, and refused where it was nothing else."""
    if not rest.strip():
        return None
    kept = without_small_talk(rest, known)
    text = kept or rest.strip()
    refused = None
    if is_rubbish(text):
        refused = "rubbish"
    elif not kept:
        refused = "small talk"
    return _text(told, text, Sort.TEXT, at=told.at, method="remember/text", refused=refused)


def turn_of(
    told: Told, message: Message, turn: Turn, *, context: str, at: datetime, number: int
) -> Candidate:
    candidate = _text(told, message.text, Sort.TURN, at=at, method="remember/messages")
    return replace(
        candidate,
        title=turn_title(message.speaker, at)[:TITLE_LENGTH],
        turn=turn,
        context=context,
        message=number,
    )


def recalled(told: Told, text: str, *, message: int | None = None) -> Candidate:
    method = "remember/text" if message is None else "remember/messages"
    candidate = _text(told, text, Sort.TEXT, at=told.at, method=method, refused="recalled")
    return replace(candidate, message=message)


def same_episode(told: Told, message: Message, *, number: int) -> Candidate:
    candidate = _text(
        told,
        message.text,
        Sort.TURN,
        at=told.at,
        method="remember/messages",
        refused="same episode",
    )
    return replace(candidate, message=number)


def without_small_talk(text: str, known: Known) -> str:
    """As it was written where there is none in it."""
    found = sentences(text)
    kept = [one.text for one in found if not is_small_talk(one.text, known)]
    return text.strip() if len(kept) == len(found) else " ".join(kept)


def names_in(texts: Iterable[str]) -> list[str]:
    """The runs of up to `NAME_WORDS` words, any of which may be a name that the namespace knows;
    the first `MOST_NAMES` of them."""
    names: dict[str, None] = {}
    for text in texts:
        spoken = [word.strip('.,;:!?"“”()[]') for word in text.split()]
        plain = [word.removesuffix("'s").removesuffix("’s") for word in spoken]
        for size in range(1, NAME_WORDS + 1):
            for start in range(len(plain) - size + 1):
                run = [*spoken[start : start + size - 1], plain[start + size - 1]]
                names[" ".join(run)] = None
                if len(names) >= MOST_NAMES:
                    return list(names)
    return list(names)


def _stated(
    told: Told, found: Stated, *, text: str, at: datetime, method: str, message: int | None
) -> Candidate:
    body = FactBody(found.entity, found.key, found.value)
    candidate = _fact(
        told, body, text=_words(text, found), at=found.valid_from or at, method=method
    )
    return replace(candidate, correction=found.correction, message=message)


def _retracted(
    told: Told, found: Retracted, *, text: str, at: datetime, method: str, message: int | None
) -> Candidate:
    body = FactBody(found.entity, found.key, found.value or "")
    candidate = _fact(told, body, text=_words(text, found), at=found.valid_to or at, method=method)
    return replace(candidate, sort=Sort.RETRACTION, message=message)


def _fact(told: Told, body: FactBody, *, text: str, at: datetime, method: str) -> Candidate:
    return Candidate(
        sort=Sort.FACT,
        kind=Kind.FACT,
        text=text,
        body=body,
        title=body.about[:FACT_TITLE_LENGTH],
        at=at,
        method=f"remember/{method}",
        metadata=told.metadata,
        subject=told.subject,
        expires_at=told.expires_at,
    )


def _text(
    told: Told,
    text: str,
    sort: Sort,
    *,
    at: datetime,
    method: str,
    refused: str | None = None,
) -> Candidate:
    return Candidate(
        sort=sort,
        kind=Kind.NOTE,
        text=text,
        body=TextBody(text),
        title=first_line(text),
        at=at,
        method=method,
        refused=refused,
        metadata=told.metadata,
        subject=told.subject,
        expires_at=told.expires_at,
    )


def _in_order(found: Understood) -> Sequence[Stated | Retracted]:
    return sorted((*found.facts, *found.retractions), key=lambda one: one.span)


def _words(text: str, found: Stated | Retracted) -> str:
    return text[found.span.start : found.span.end].strip() or text.strip()


def _is_ahead(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment > now + CLOCK_SKEW
