"""The verb remember for what was said: understand it, hold it against what is known, decide what
becomes of each thing in it, write it as one change."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from memserver.domain.changes import Change, Draft, Verb
from memserver.domain.decisions import Choice, Decision
from memserver.domain.errors import NotYetValid
from memserver.domain.items import Entry, TextBody, Turn, Version
from memserver.domain.policies import Mode
from memserver.domain.ports import Clock, Encoder, Reader, Store, Writer
from memserver.domain.ports.meter import Meter
from memserver.domain.ports.store import Serving
from memserver.domain.scope import Namespace, Scope
from memserver.services.asking import Asking
from memserver.services.remembering import CLOCK_SKEW, Remembering
from memserver.services.writing import telling
from memserver.services.writing.candidates import Candidate, Sort
from memserver.services.writing.conversation import LOOKED_BACK, stored_before
from memserver.services.writing.deciding import Deciding, Verdict, serving_of
from memserver.services.writing.judging import judge
from memserver.services.writing.recalled import (
    Handed,
    Sifted,
    paragraphs_of,
    rendered_facts,
    renders,
    renders_fact,
    sift,
)
from memserver.services.writing.searching import Found, Searching
from memserver.services.writing.standing import Standing
from memserver.services.writing.telling import Message, Told
from memserver.services.writing.turns import BEFORE, turn_contexts
from memserver.services.writing.understood import Known

MOST_JUDGED = 16
"""Candidates of one call that a model is asked about; it takes seconds for each."""
MOST_COMPARED = 16
"""Paragraphs of one text that are searched for as items that came back."""


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """A message without what was recalled in it; `recalled` where that was all of it."""

    number: int
    message: Message
    candidates: tuple[Candidate, ...] = ()
    recalled: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """What can be known before the transaction. `candidates` are those of a text or of facts;
    a conversation's depend on how far its session has come."""

    told: Told
    candidates: tuple[Candidate, ...] = ()
    messages: tuple[HeardMessage, ...] = ()
    found: Found = field(default_factory=Found)
    searched: bool = False
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def all_candidates(self) -> list[Candidate]:
        return [*self.candidates, *(one for m in self.messages for one in m.candidates)]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one candidate."""

    candidate: Candidate
    choice: Choice
    decision: UUID


@dataclass(frozen=True, slots=True)
class Report:
    """`change` is None where nothing new was said. `session` is that of the messages."""

    change: Change | None
    session: UUID | None
    written: tuple[Written, ...]


class Writing:
    """`asking` judges what the rules leave open, where no policy serves."""

    def __init__(
        self,
        store: Store,
        remembering: Remembering,
        searching: Searching,
        deciding: Deciding,
        handed: Handed,
        *,
        encoder: Encoder,
        meter: Meter,
        clock: Clock,
        new_id: Callable[[], UUID],
        asking: Asking | None = None,
    ) -> None:
        self._store = store
        self._remembering = remembering
        self._searching = searching
        self._deciding = deciding
        self._handed = handed
        self._encoder = encoder
        self._meter = meter
        self._clock = clock
        self._new_id = new_id
        self._asking = asking

    def now(self) -> datetime:
        return self._clock()

    def time_zone(self, namespace: Namespace) -> str:
        """In which dates are meant there where a call does not say."""
        with self._store.reading() as reader:
            return reader.namespace_settings(namespace).time_zone

    # --- before the transaction -----------------------------------------------------------

    def prepare(self, scope: Scope, namespace: Namespace, told: Told) -> Prepared:
        """All that takes long: reading the words, the encoder, the index, a model. Raises
        `NotYetValid` for what is to hold only later."""
        now = self._clock()
        _check_times(told, now)
        if told.messages is not None and told.session is None:
            told = replace(told, session=self._new_id())
        with self._store.reading() as reader:
            prepared = self._understood(reader, scope, namespace, told, now)
            prepared = replace(
                prepared,
                candidates=_shown(reader, namespace, prepared.candidates),
                messages=tuple(
                    replace(one, candidates=_shown(reader, namespace, one.candidates))
                    for one in prepared.messages
                ),
            )
            serving = serving_of(reader, namespace)
        # A policy, and whoever trains one, wants to see what a candidate resembles; the rules go
        # by the key of a fact alone, and by likeness for texts.
        searched = self._asking is not None or _learns(serving)
        wanted = [
            one
            for one in prepared.all_candidates
            if one.refused is None and (searched or one.sort is Sort.TEXT)
        ]
        found = self._searching.near(namespace, wanted)
        prepared = replace(prepared, found=found, searched=searched)
        if self._asking is None:
            return prepared
        return replace(prepared, verdicts=self._judged(scope, namespace, prepared, self._asking))

    def _understood(
        self, reader: Reader, scope: Scope, namespace: Namespace, told: Told, now: datetime
    ) -> Prepared:
        if told.facts is not None:
            return Prepared(told, candidates=tuple(telling.of_facts(told)))
        texts = [told.text or "", *(one.text for one in told.messages or ())]
        known = self._known(reader, scope, namespace, texts)
        if told.messages is None:
            text = told.text or ""
            sifted = self._sifted(reader, scope, namespace, text, lines=True)
            heard = telling.heard(told, sifted.rest, now=now, known=known, speaker=told.subject)
            note = telling.note_of(told, heard.rest, known)
            again = [telling.recalled(told, text)] if sifted.recalled else []
            return Prepared(told, (*again, *heard.candidates, *([note] if note else [])))
        return Prepared(
            told,
            messages=tuple(
                self._heard(reader, scope, namespace, told, now, known, number)
                for number in range(len(told.messages))
            ),
        )

    def _heard(
        self,
        reader: Reader,
        scope: Scope,
        namespace: Namespace,
        told: Told,
        now: datetime,
        known: Known,
        number: int,
    ) -> HeardMessage:
        assert told.messages is not None, "only a conversation has messages"
        message = told.messages[number]
        sifted = self._sifted(reader, scope, namespace, message.text)
        if sifted.recalled and not sifted.rest:
            return HeardMessage(number, message, recalled=True)
        message = replace(message, text=sifted.rest)
        if not message.states_facts:
            return HeardMessage(number, message)
        heard = telling.heard(
            told,
            message.text,
            now=now,
            known=known,
            at=message.at,
            speaker=_speaker(told, message),
            message=number,
        )
        if told.keep_turns:
            return HeardMessage(number, message, heard.candidates)
        # Without its turn, what no rule understood would be lost.
        note = telling.note_of(told, heard.rest, known)
        others = (replace(note, message=number),) if note else ()
        return HeardMessage(number, message, (*heard.candidates, *others))

    def _known(
        self, reader: Reader, scope: Scope, namespace: Namespace, texts: Sequence[str]
    ) -> Known:
        facts = reader.facts_about(scope, namespace, telling.names_in(texts))
        bodies = [entry.version.body for entry in facts]
        return Known.of(
            (getattr(body, "entity", "") for body in bodies),
            (getattr(body, "key", "") for body in bodies),
        )

    def _sifted(
        self,
        reader: Reader,
        scope: Scope,
        namespace: Namespace,
        text: str,
        *,
        lines: bool = False,
    ) -> Sifted:
        """Where there are several paragraphs (or `lines`) the index is asked for the items that
        they may be: the server renders most as more than one line."""
        near: list[Entry] = []
        if "\n\n" in text.strip() or (lines and "\n" in text.strip()):
            pieces = [text, *paragraphs_of(text)][:MOST_COMPARED]
            found = self._searching.like(namespace, pieces)
            ids = dict.fromkeys(one for some in found.near.values() for one in some)
            near = list(reader.items_by_id(scope, list(ids)).values())

        def is_recalled(piece: str) -> bool:
            if self._handed.knows(scope.key, piece):
                return True
            if any(renders(piece, entry, part=piece is not text) for entry in near):
                return True
            return self._is_rendered_fact(reader, scope, namespace, piece)

        return sift(text, is_recalled)

    def _is_rendered_fact(
        self, reader: Reader, scope: Scope, namespace: Namespace, piece: str
    ) -> bool:
        facts = rendered_facts(piece)
        if len(facts) != 1:
            return False
        entries = reader.facts_about(scope, namespace, [facts[0].entity])
        return any(renders_fact(piece, facts[0], entry) for entry in entries)

    def _judged(
        self, scope: Scope, namespace: Namespace, prepared: Prepared, asking: Asking
    ) -> dict[str, Verdict]:
        """What a model says of what the rules leave open, by the candidate's text."""
        with self._store.reading() as reader:
            serving = serving_of(reader, namespace)
            standing = self._standing(reader, scope, namespace, prepared)
            candidates = self._candidates(reader, scope, namespace, prepared)
            seen = [
                (one, standing.neighbours(one, prepared.found.of(one)))
                for one in candidates
                if one.sort is not Sort.TURN
            ]
        if any(policy.state.value == "active" for policy in serving.policies):
            return {}
        return judge(asking, scope.tenant, seen, most=MOST_JUDGED)

    # --- within it ------------------------------------------------------------------------

    def write(self, tx: Writer, scope: Scope, namespace: Namespace, prepared: Prepared) -> Report:
        """Decides each candidate against what stands now, and what the call said before it."""
        now = self._clock()
        serving = serving_of(tx, namespace)
        standing = self._standing(tx, scope, namespace, prepared)
        written: list[Written] = []
        decisions: list[Decision] = []
        for candidate in self._candidates(tx, scope, namespace, prepared):
            decided = self._deciding.decide(
                tx,
                scope,
                serving,
                candidate,
                standing.neighbours(candidate, prepared.found.of(candidate)),
                namespace=namespace,
                now=now,
                searched=prepared.searched or candidate.sort is Sort.TEXT,
                verdict=prepared.verdicts.get(candidate.text),
            )
            choice = standing.carry_out(decided)
            decisions.append(replace(decided.decision, choice=choice))
            written.append(Written(candidate, choice, decided.decision.id))
        change = None
        if standing.rows:
            change = tx.apply(
                Draft(
                    tenant=scope.tenant,
                    verb=Verb.REMEMBER,
                    actor=scope.key,
                    reason=_told(written),
                    puts=standing.rows,
                )
            )
        tx.add_decisions(decisions)
        self._keep_vectors(tx, standing, prepared.found)
        for one in written:
            self._meter.wrote(one.choice.operation, one.choice.by)
        return Report(change, prepared.told.session, tuple(written))

    def _standing(
        self, reader: Reader, scope: Scope, namespace: Namespace, prepared: Prepared
    ) -> Standing:
        standing = Standing(
            reader,
            scope,
            namespace,
            self._remembering,
            now=self._clock(),
            new_id=self._new_id,
            subject=prepared.told.subject,
        )
        standing.load(prepared.all_candidates)
        standing.load_likely(item for near in prepared.found.near.values() for item in near)
        if prepared.searched:
            standing.load_beliefs()
        return standing

    def _candidates(
        self, reader: Reader, scope: Scope, namespace: Namespace, prepared: Prepared
    ) -> list[Candidate]:
        """In the order said. A message that its session has already is not read again."""
        told = prepared.told
        found = list(prepared.candidates)
        sent = [one for one in prepared.messages if not one.recalled]
        found += [
            telling.recalled(told, one.message.text, message=one.number)
            for one in prepared.messages
            if one.recalled
        ]
        if not sent:
            return found
        assert told.session is not None, "messages have a session"
        last = reader.last_turn(scope, namespace, told.session)
        place = 0 if last is None else last + 1
        first = max(0, place - max(LOOKED_BACK, 2 * len(sent)))
        stored = reader.turns(scope, namespace, told.session, first=first, last=place)
        said = [
            replace(one.message, text=reader.protected([namespace], one.message.text))
            for one in sent
        ]
        before = stored_before(stored, said)
        contexts = _contexts(told, stored, [one.message for one in sent[before:]])
        for one in sent[:before]:
            found.append(telling.same_episode(told, one.message, number=one.number))
        for one, context in zip(sent[before:], contexts, strict=True):
            turn = Turn(told.session, place, one.message.speaker)
            if told.keep_turns:
                at = one.message.at or told.at
                said_there = telling.turn_of(
                    told, one.message, turn, context=context, at=at, number=one.number
                )
                found += _shown(reader, namespace, [said_there])
                place += 1
            found += [
                replace(candidate, turn=turn if told.keep_turns else None)
                for candidate in one.candidates
            ]
        return found

    def _keep_vectors(self, tx: Writer, standing: Standing, found: Found) -> None:
        """Of what was written, so that the indexer need not encode it again; nothing is kept of
        what was not."""
        texts = [row.text for row in standing.rows if isinstance(row, Version)]
        kept = {
            found.vectors[text].name: found.vectors[text].data
            for text in texts
            if text in found.vectors
        }
        if kept:
            tx.put_vectors(self._encoder.fingerprint, kept)


def _shown(
    reader: Reader, namespace: Namespace, candidates: Sequence[Candidate]
) -> tuple[Candidate, ...]:
    """As they would be stored, with what was told beside it where that is something else."""
    shown = []
    for one in candidates:
        told = (one.text, one.title, one.body)
        text, title, body = reader.protected([namespace], told)
        same = (text, title, body) == told
        shown.append(one if same else replace(one, text=text, title=title, body=body, told=one))
    return tuple(shown)


def _contexts(told: Told, stored: Sequence[Entry], new: Sequence[Message]) -> list[str]:
    """What is said around each new message, which the session's last turns are part of."""
    before = [
        Message(turn.speaker, entry.version.body.text, entry.version.valid_from)
        for entry in stored[-BEFORE:]
        if (turn := entry.version.turn) and isinstance(entry.version.body, TextBody)
    ]
    dated = [replace(one, at=one.at or told.at) for one in new]
    return turn_contexts([*before, *dated])[len(before) :]


def _speaker(told: Told, message: Message) -> str:
    """A user without a name is the person whom the call is about."""
    if told.subject and message.speaker.casefold() == "user":
        return told.subject
    return message.speaker


def _learns(serving: Serving) -> bool:
    exploring = serving.exploration is not None and serving.exploration.mode is Mode.LEARNING
    return bool(serving.policies) or exploring


def _check_times(told: Told, now: datetime) -> None:
    moments = [
        told.at,
        *(fact.valid_from for fact in told.facts or ()),
        *(message.at for message in told.messages or ()),
    ]
    for moment in moments:
        if moment is not None and moment > now + CLOCK_SKEW:
            raise NotYetValid(moment)


def _told(written: Sequence[Written]) -> str:
    """As `history` says it: "2 added, 1 updated"."""
    counts = Counter(one.choice.operation for one in written)
    words = {"ADD": "added", "UPDATE": "updated", "DELETE": "ended", "NOOP": "already known"}
    return ", ".join(f"{counts[name]} {word}" for name, word in words.items() if counts[name])
