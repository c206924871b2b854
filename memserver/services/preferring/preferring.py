"""Preferences from edits: learnt once each, kept by the context they were shown in, and handed out
for near contexts only."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memserver.domain.changes import Change, Draft, Row, Verb
from memserver.domain.evidence import Belief, Event, Evidence, total
from memserver.domain.items import (
    Entry,
    Item,
    Kind,
    Source,
    Status,
    TextBody,
    Version,
    normal_name,
    revived,
)
from memserver.domain.ports import Clock, Store, Writer
from memserver.domain.scope import Namespace, Scope
from memserver.services.asking import Asking
from memserver.services.nearby import Near, Nearby
from memserver.services.preferring.edits import About, Leaning, infer
from memserver.services.preferring.voting import NEAR, Elected, Voter, elect
from memserver.services.preferring.wording import in_words, judged

METHOD = "preferences/edit"
SAME = 0.75
"""Cosine from which two contexts are one."""
SOURCE = "edit"


@dataclass(frozen=True, slots=True)
class Edit:
    """What somebody made of a text of an agent. Neither text is kept."""

    namespace: Namespace
    context: str
    before: str
    after: str
    subject: str | None = None
    run: UUID | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """One preference that an edit showed: `known` where there is an item of it already, and what
    it goes against."""

    leaning: Leaning
    statement: str
    known: UUID | None
    against: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """An edit as it was understood, to be kept in a transaction. `by` says who worded what is new
    ("rules" or "model"), `reason` why it was not the model, where one was asked."""

    edit: Edit
    shown: tuple[Shown, ...]
    by: str = "rules"
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A preference as it stands after an edit."""

    entry: Entry
    leaning: Leaning
    repeated: bool
    against: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Learnt:
    reading: Reading
    kept: tuple[Kept, ...]
    change: Change | None


@dataclass(frozen=True, slots=True)
class Suited:
    """Preferences to keep to in a context, with the entries that they rest on."""

    elected: tuple[Elected, ...]
    entries: dict[UUID, Entry]


class Preferring:
    """`asking` is None where no chat model is configured."""

    def __init__(
        self,
        store: Store,
        nearby: Nearby,
        *,
        asking: Asking | None,
        settle: Callable[[], object],
        clock: Clock,
        new_id: Callable[[], UUID],
    ) -> None:
        self._store = store
        self._nearby = nearby
        self._asking = asking
        self._settle = settle
        self._clock = clock
        self._new_id = new_id

    def read(self, scope: Scope, edit: Edit) -> Reading:
        """What an edit shows, beside what is known. Takes as long as a model does, so it is done
        before the transaction; what it found is looked at again there."""
        found = infer(edit.before, edit.after)
        if not found:
            return Reading(edit, ())
        # What the last edit taught must be found, or it would be learnt twice.
        self._settle()
        near = self._nearby.find(scope, [edit.namespace], edit.context, kind=Kind.PREFERENCE)
        known = [
            one for one in near if one.similarity >= SAME and one.entry.item.subject == edit.subject
        ]
        shown = tuple(_shown(leaning, known) for leaning in found)
        return self._worded(scope, Reading(edit, shown))

    def keep(self, tx: Writer, scope: Scope, reading: Reading) -> Learnt:
        """Makes what is new, adds to the evidence of what was shown again, and lowers what it
        goes against; all of it one change."""
        rows: list[Row] = []
        kept: list[Kept] = []
        edit_id = self._new_id()
        for shown in reading.shown:
            item_id = shown.known or preference_id(reading.edit, shown.leaning)
            entry = tx.item(scope, item_id)
            repeated = entry is not None
            if entry is None:
                entry = self._new(item_id, reading.edit, shown)
                rows += [entry.item, entry.version]
            else:
                # What was deleted or merged away and is shown again, is a preference again.
                back = revived(entry)
                rows += [] if back is entry else [back.item]
                entry = back
                rows += self._said(entry, edit_id, reading.edit.namespace)
            against = _still_there(tx, scope, shown.against)
            rows += [
                self._evidence(other, edit_id, Event.OUTCOME, 0.0, other.item.namespace)
                for other in against
            ]
            kept.append(
                Kept(entry, shown.leaning, repeated, tuple(other.item.id for other in against))
            )
        if not rows:
            return Learnt(reading, (), None)
        names = ", ".join(sorted({str(shown.leaning.about) for shown in reading.shown}))
        change = tx.apply(
            Draft(scope.tenant, Verb.REMEMBER, scope.key, f"an edit shows: {names}", tuple(rows))
        )
        return Learnt(reading, tuple(kept), change)

    def suited(
        self,
        scope: Scope,
        namespaces: Sequence[Namespace],
        context: str,
        *,
        k: int,
        subject: str | None,
    ) -> Suited:
        """What the `k` nearest contexts want. A person's own preferences count, and those that
        are about nobody in particular; never another person's."""
        near = [
            one
            for one in self._nearby.find(scope, namespaces, context, kind=Kind.PREFERENCE)
            if one.similarity >= NEAR and one.entry.item.subject in (None, subject)
        ]
        with self._store.reading() as reader:
            beliefs = reader.beliefs(scope, [one.entry.version.id for one in near])
        voters = [
            voter
            for one in near
            if (
                voter := _voter(
                    one,
                    total(one.entry.version.id, beliefs.get(one.entry.version.id, ())),
                )
            )
        ]
        entries = {one.entry.item.id: one.entry for one in near}
        return Suited(elect(voters, k=k), entries)

    def _worded(self, scope: Scope, reading: Reading) -> Reading:
        """With what is new in a model's words, without what it does not see in the edit."""
        new = [shown for shown in reading.shown if shown.known is None]
        if self._asking is None or not new:
            return reading
        edit = reading.edit
        answer = judged(
            self._asking,
            scope.tenant,
            [shown.leaning for shown in new],
            context=edit.context,
            before=edit.before,
            after=edit.after,
        )
        if answer.value is None:
            return replace(reading, reason=f"model: {answer.outcome}")
        said = {finding.number: finding for finding in answer.value.findings}
        worded = []
        for number, shown in enumerate(new, 1):
            finding = said.get(number)
            if finding is None:
                worded.append(shown)
            elif finding.holds:
                words = finding.instruction.strip() or shown.statement
                worded.append(replace(shown, statement=words))
        repeated = [shown for shown in reading.shown if shown.known is not None]
        return replace(reading, shown=(*repeated, *worded), by="model")

    def _new(self, item_id: UUID, edit: Edit, shown: Shown) -> Entry:
        now = self._clock()
        version = Version(
            id=self._new_id(),
            item_id=item_id,
            namespace=edit.namespace,
            number=1,
            title=shown.statement,
            body=TextBody(in_words(edit.context, shown.statement)),
            valid_from=now,
            recorded_at=now,
            method=METHOD,
            sources=() if edit.run is None else (Source(edit.run),),
            metadata=_metadata(shown.leaning),
            context=edit.context,
        )
        item = Item(
            id=item_id,
            namespace=edit.namespace,
            kind=Kind.PREFERENCE,
            title=shown.statement,
            status=Status.ACTIVE,
            head=version.id,
            created_at=now,
            subject=edit.subject,
        )
        return Entry(item, version)

    def _said(self, entry: Entry, cause: UUID, namespace: Namespace) -> list[Row]:
        """Shown once more: said again, and found to be right."""
        return [
            self._evidence(entry, cause, event, 1.0, namespace)
            for event in (Event.MENTION, Event.OUTCOME)
        ]

    def _evidence(
        self, entry: Entry, cause: UUID, event: Event, value: float, namespace: Namespace
    ) -> Evidence:
        return Evidence(
            id=self._new_id(),
            namespace=namespace,
            subject=entry.version.id,
            event=event,
            value=value,
            weight=1.0,
            recorded_at=self._clock(),
            source=SOURCE,
            cause=cause,
        )


def preference_id(edit: Edit, leaning: Leaning) -> UUID:
    """One item for a person, a context and what is wanted there, so that edits that are sent at
    the same time make one preference."""
    parts = (
        str(edit.namespace.id),
        "preference",
        edit.subject or "",
        leaning.about.value,
        leaning.of,
        leaning.wants,
        normal_name(edit.context),
    )
    return uuid.uuid5(edit.namespace.tenant, "\x1f".join(parts))


def leaning_of(entry: Entry) -> Leaning | None:
    """What a preference wants; None for one that was told in words and not learnt from edits."""
    told = entry.version.metadata
    try:
        return Leaning(
            About(told["about"]), str(told["wants"]), str(told["of"]), clear=bool(told["clear"])
        )
    except (KeyError, ValueError):
        return None


def _metadata(leaning: Leaning) -> dict[str, Any]:
    return {
        "about": leaning.about.value,
        "wants": leaning.wants,
        "of": leaning.of,
        "clear": leaning.clear,
    }


def _shown(leaning: Leaning, known: Sequence[Near]) -> Shown:
    same: UUID | None = None
    against: list[UUID] = []
    for one in known:
        other = leaning_of(one.entry)
        if other is None:
            continue
        if (other.about, other.wants, other.of) == (leaning.about, leaning.wants, leaning.of):
            same = same or one.entry.item.id
        elif leaning.contradicts(other):
            against.append(one.entry.item.id)
    return Shown(leaning, leaning.statement, same, tuple(against))


def _still_there(tx: Writer, scope: Scope, ids: Sequence[UUID]) -> list[Entry]:
    found = tx.items_by_id(scope, ids) if ids else {}
    return [entry for entry in found.values() if entry.item.status is Status.ACTIVE]


def _voter(near: Near, belief: Belief) -> Voter | None:
    leaning = leaning_of(near.entry)
    if leaning is None:
        return None
    return Voter(
        item=near.entry.item.id,
        context=near.entry.version.context,
        leaning=leaning,
        similarity=near.similarity,
        support=1.0 + belief.mentions,
        against=belief.failures,
    )
