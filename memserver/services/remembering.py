"""Remember: items and their versions, written by people and agents directly."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from memserver.domain.changes import Change, Draft, Row, Verb
from memserver.domain.errors import InvalidBody, ItemNotFound, NotYetValid
from memserver.domain.evidence import Belief, Event, Evidence, total
from memserver.domain.items import (
    BODY_OF,
    Body,
    Entry,
    FactBody,
    Item,
    Kind,
    Source,
    Status,
    Turn,
    Version,
    content_hash,
    normal_name,
)
from memserver.domain.ports import Clock, ItemFilter, Page, PageRequest, Reader, Store, Writer
from memserver.domain.scope import Namespace, Scope
from memserver.domain.times import TimeFrame
from memserver.services.access import Access
from memserver.services.known_facts import about_of, fact_id, known_fact
from memserver.services.skills.contents import sound
from memserver.services.skills.tools_allowed import require_allowed

INHERITED_SHARE = 0.5
CLOCK_SKEW = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Content:
    """What is to be remembered, before it has an id. A new version leaves the item's metadata,
    subject and end as they are where it names none."""

    title: str
    body: Body
    task_type: str | None = None
    sources: tuple[Source, ...] = ()
    metadata: dict[str, Any] | None = None
    valid_from: datetime | None = None
    method: str = "api"
    turn: Turn | None = None
    context: str = ""
    subject: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """The entry as it now stands; `change` is None where it was there before."""

    entry: Entry
    change: Change | None


@dataclass(frozen=True, slots=True)
class Known:
    """An entry with what outcomes say of its version so far."""

    entry: Entry
    belief: Belief


@dataclass(frozen=True, slots=True)
class ItemHistory:
    """An item with all its versions, newest first, each with its belief."""

    current: Known
    versions: tuple[Known, ...]


class Remembering:
    """`inherited_share` is the part of a version's belief that its successor starts with."""

    def __init__(
        self,
        store: Store,
        access: Access,
        *,
        clock: Clock,
        new_id: Callable[[], UUID],
        inherited_share: float = INHERITED_SHARE,
    ) -> None:
        self._store = store
        self._access = access
        self._clock = clock
        self._new_id = new_id
        self._inherited_share = inherited_share

    def remember(
        self, tx: Writer, scope: Scope, namespace: Namespace, kind: Kind, content: Content
    ) -> Remembered:
        """Keeps new content. The same content about the same person in the same namespace is not
        kept twice; a new value for a fact's (entity, key) becomes a new version of that fact."""
        content = _sound(tx, namespace, content)
        # What is looked for among what is stored has to be as it is stored.
        content = tx.protected([namespace], content)
        if isinstance(content.body, FactBody):
            known = known_fact(tx, scope, namespace, content.body, content.subject)
            if known is not None:
                return self._restate(tx, scope, known, content)
            item_id = fact_id(namespace, content.body, content.subject)
        else:
            digest = content_hash(content.title, content.body)
            # What is kept once for two people would go with the erasure of one.
            twins = [
                twin
                for twin in tx.items_by_content(scope, namespace, kind, digest)
                if twin.item.subject == content.subject
            ]
            if twins:
                return Remembered(twins[0], None)
            item_id = self._new_id()
        entry = self.first_version(item_id, namespace, kind, content)
        change = tx.apply(_draft(scope, Verb.REMEMBER, f"new {kind}", entry.version, entry.item))
        return Remembered(entry, change)

    def add_version(
        self, tx: Writer, scope: Scope, item_id: UUID, content: Content, *, kinds: frozenset[Kind]
    ) -> Remembered:
        """New content for an item, which makes it active again if it was not; what is in
        quarantine stays there."""
        entry = _visible(tx, scope, item_id, kinds)
        self._access.require_writable(scope, entry.item.namespace)
        if not isinstance(content.body, BODY_OF[entry.item.kind]):
            raise InvalidBody(f"The body is not that of a {entry.item.kind}.")
        if content.subject not in (None, entry.item.subject):
            # Else an erasure would no longer find what it said before of the first person.
            raise InvalidBody("An item stays with its person; remember another for this one.")
        content = _sound(tx, entry.item.namespace, content)
        # What is sealed of it goes with the person whom the item is about.
        content = replace(content, subject=content.subject or entry.item.subject)
        content = tx.protected([entry.item.namespace], content)
        if about_of(content.body) != about_of(entry.version.body):
            raise InvalidBody("A fact keeps its entity and key; remember another fact instead.")
        return self._restate(tx, scope, entry, content)

    def forget(self, tx: Writer, scope: Scope, item_id: UUID, *, kinds: frozenset[Kind]) -> Change:
        """Takes an item out of every retrieve and list; its history stays until erased."""
        entry = _visible(tx, scope, item_id, kinds)
        self._access.require_writable(scope, entry.item.namespace)
        gone = replace(entry.item, status=Status.DELETED)
        return tx.apply(_draft(scope, Verb.FORGET, "item deleted", gone))

    def get(
        self,
        scope: Scope,
        item_id: UUID,
        *,
        kinds: frozenset[Kind],
        frame: TimeFrame | None = None,
    ) -> Known:
        """The item with its present version, or with the one that the frame admits. Raises
        `ItemNotFound`, also where there was none then."""
        with self._store.reading() as reader:
            entry = _visible(reader, scope, item_id, kinds)
            if frame is not None:
                entry = _held(reader, scope, entry, frame)
            return _known(reader, scope, [_as_archived(entry, self._clock())])[0]

    def list(
        self,
        scope: Scope,
        where: ItemFilter,
        page: PageRequest,
        *,
        frame: TimeFrame | None = None,
    ) -> Page[Known]:
        if Status.ACTIVE in where.statuses:
            where = replace(where, live_at=self._clock())
        with self._store.reading() as reader:
            if frame is None:
                entries = reader.items(scope, where, page)
            else:
                entries = reader.items_held(scope, where, frame, page)
            return Page(tuple(_known(reader, scope, entries.rows)), entries.next_cursor)

    def history(self, scope: Scope, item_id: UUID, *, kinds: frozenset[Kind]) -> ItemHistory:
        """All versions; a deleted item's too."""
        with self._store.reading() as reader:
            entry = reader.item(scope, item_id)
            if entry is None or entry.item.kind not in kinds:
                raise ItemNotFound(item_id)
            versions = [Entry(entry.item, v) for v in reader.versions(scope, item_id)]
            current, *known = _known(reader, scope, [entry, *versions])
            return ItemHistory(current, tuple(known))

    def stands(self, entry: Entry) -> bool:
        """Whether that is how it is now: in use, and not ended."""
        return holds(entry, self._clock())

    # --- building blocks that distilling shares -------------------------------------------

    def first_version(
        self, item_id: UUID, namespace: Namespace, kind: Kind, content: Content
    ) -> Entry:
        """A new item with its first version, not yet stored."""
        version = self._version(item_id, namespace, content, number=1, parent=None)
        item = Item(
            id=item_id,
            namespace=namespace,
            kind=kind,
            title=content.title,
            status=Status.ACTIVE,
            head=version.id,
            created_at=version.recorded_at,
            subject=content.subject,
            expires_at=content.expires_at,
        )
        return Entry(item, version)

    def next_version(
        self, reader: Reader, scope: Scope, entry: Entry, content: Content
    ) -> "NextVersion":
        """The item's next version, which starts from a part of its parent's belief, not yet
        stored."""
        beliefs = reader.beliefs(scope, [entry.version.id]).get(entry.version.id, ())
        return self.succeed(
            entry,
            content,
            known=reader.versions(scope, entry.item.id),
            belief=total(entry.version.id, beliefs),
        )

    def succeed(
        self, entry: Entry, content: Content, *, known: Sequence[Version], belief: Belief
    ) -> "NextVersion":
        """As `next_version`, of an item's `known` versions and its head's belief. The parent's
        validity ends where the new one's begins, unless it had ended before; content that was
        valid only before the present head, or before that one's end was told, does not hold now,
        and no rows come of such content that is known for its time already. What is out of use
        comes back with what is told of it, whenever that is said to have begun; but for what is in
        quarantine, which only a promotion brings into use."""
        head = entry.version
        number = 1 + max((version.number for version in known), default=0)
        if content.metadata is None:
            content = replace(content, metadata=head.metadata)
        version = self._version(
            entry.item.id, entry.item.namespace, content, number=number, parent=head.id
        )
        if not in_use(entry.item, version.recorded_at):
            version = replace(version, valid_from=max(version.valid_from, head.valid_from))
        elif version.valid_from < head.valid_from:
            return NextVersion(Entry(entry.item, head), _inserted(version, known))
        elif _ended_since(head, version):
            if head.content_hash == version.content_hash:
                return NextVersion(entry, ())
            version = replace(version, valid_to=head.valid_to)
        closed = closed_by(head, version.valid_from, at=version.recorded_at)
        item = replace(
            entry.item,
            title=content.title,
            head=version.id,
            status=_brought_back(entry.item.status),
            merged_into=None,
            subject=content.subject or entry.item.subject,
            expires_at=content.expires_at or _still(entry.item.expires_at, version.recorded_at),
        )
        inherited = self.inherited(belief, version)
        return NextVersion(Entry(item, version), (version, closed, item, *inherited))

    def _restate(self, tx: Writer, scope: Scope, known: Entry, content: Content) -> Remembered:
        if holds(known, self._clock()) and _same(known, content):
            return Remembered(known, None)
        following = self.next_version(tx, scope, known, content)
        if not following.rows:
            return Remembered(known, None)
        change = tx.apply(_draft(scope, Verb.REMEMBER, "new version", *following.rows))
        return Remembered(following.entry, change)

    def _version(
        self,
        item_id: UUID,
        namespace: Namespace,
        content: Content,
        *,
        number: int,
        parent: UUID | None,
    ) -> Version:
        now = self._clock()
        return Version(
            id=self._new_id(),
            item_id=item_id,
            namespace=namespace,
            number=number,
            title=content.title,
            body=content.body,
            valid_from=_not_ahead(content.valid_from, now),
            recorded_at=now,
            parent=parent,
            method=content.method,
            sources=content.sources,
            task_type=content.task_type,
            metadata=content.metadata or {},
            turn=content.turn,
            context=content.context,
        )

    def inherited(self, belief: Belief, child: Version) -> tuple[Evidence, ...]:
        """The part of a belief that a version made of what it is about starts with, not yet
        stored."""
        weight = belief.weight * self._inherited_share
        if weight <= 0:
            return ()
        return (
            Evidence(
                id=self._new_id(),
                namespace=child.namespace,
                subject=child.id,
                event=Event.INHERITED,
                value=belief.successes / belief.weight,
                weight=weight,
                recorded_at=child.recorded_at,
                cause=belief.subject,
            ),
        )


@dataclass(frozen=True, slots=True)
class NextVersion:
    """The entry as it will stand, and the rows that make it so."""

    entry: Entry
    rows: tuple[Row, ...]


def _brought_back(status: Status) -> Status:
    return status if status is Status.QUARANTINED else Status.ACTIVE


def _sound(tx: Writer, namespace: Namespace, content: Content) -> Content:
    """The content as it may be kept. Raises `InvalidBody`, `ToolNotAllowed`."""
    require_allowed(tx, namespace, content.body)
    return replace(content, body=sound(tx, namespace, content.body))


def _inserted(past: Version, known: Sequence[Version]) -> tuple[Version, ...]:
    """A version of earlier times in its place: it ends where the one that held then did, which
    ends where it begins; before all others, it ends where the first of them begins."""
    begins = past.valid_from
    held = [
        v for v in known if v.valid_from <= begins and (v.valid_to is None or begins < v.valid_to)
    ]
    if not held:
        first = min(v.valid_from for v in known if v.valid_from > begins)
        return (replace(past, valid_to=first),)
    if held[0].content_hash == past.content_hash:
        return ()
    return (
        replace(past, valid_to=held[0].valid_to),
        closed_by(held[0], begins, at=past.recorded_at),
    )


def _ended_since(head: Version, told: Version) -> bool:
    """Whether the head is over, and went on to hold after what is told now had begun."""
    end = head.valid_to
    return end is not None and told.valid_from < end <= told.recorded_at


def in_use(item: Item, now: datetime) -> bool:
    """Whether it is active and has not expired."""
    return item.status is Status.ACTIVE and (item.expires_at is None or item.expires_at > now)


def _as_archived(entry: Entry, now: datetime) -> Entry:
    """The entry, archived as it is going to be where it has expired."""
    expires_at = entry.item.expires_at
    if entry.item.status is not Status.ACTIVE or expires_at is None or expires_at > now:
        return entry
    return replace(entry, item=replace(entry.item, status=Status.ARCHIVED))


def _still(expires_at: datetime | None, now: datetime) -> datetime | None:
    """What is told again after it had expired is there to stay."""
    return expires_at if expires_at is not None and expires_at > now else None


def closed_by(version: Version, end: datetime, *, at: datetime) -> Version:
    """The version, valid no longer than to `end`, which was recorded `at`. One that had ended
    before stays as it is."""
    if version.valid_to is not None and version.valid_to <= end:
        return version
    return replace(version, valid_to=end, closed_at=at)


def _not_ahead(valid_from: datetime | None, now: datetime) -> datetime:
    """When content begins to hold: now, or earlier. Clocks that run a little ahead are forgiven;
    what is to hold only later would hide what holds today. Raises `NotYetValid`."""
    if valid_from is None:
        return now
    if valid_from > now + CLOCK_SKEW:
        raise NotYetValid(valid_from)
    return min(valid_from, now)


def holds(entry: Entry, now: datetime) -> bool:
    """Whether it is in use and its head has not ended."""
    end = entry.version.valid_to
    return in_use(entry.item, now) and (end is None or end > now)


def _same(entry: Entry, content: Content) -> bool:
    """A fact is the same however its entity and key are spelt, if its value is."""
    known, told = entry.version.body, content.body
    if isinstance(known, FactBody) and isinstance(told, FactBody):
        titles = normal_name(entry.version.title) == normal_name(content.title)
        return titles and about_of(known) == about_of(told) and known.value == told.value
    return entry.version.content_hash == content_hash(content.title, content.body)


def _visible(reader: Reader, scope: Scope, item_id: UUID, kinds: frozenset[Kind]) -> Entry:
    entry = reader.item(scope, item_id)
    if entry is None or entry.item.status is Status.DELETED or entry.item.kind not in kinds:
        raise ItemNotFound(item_id)
    return entry


def _held(reader: Reader, scope: Scope, entry: Entry, frame: TimeFrame) -> Entry:
    versions = reader.versions(scope, entry.item.id)
    if frame.known_at is not None:
        versions = reader.as_known(scope, versions, frame.known_at)
    held = next((version for version in versions if frame.admits(version)), None)
    if held is None:
        raise ItemNotFound(entry.item.id)
    return replace(entry, version=held)


def _known(reader: Reader, scope: Scope, entries: Sequence[Entry]) -> list[Known]:
    beliefs = reader.beliefs(scope, [entry.version.id for entry in entries])
    return [
        Known(entry, total(entry.version.id, beliefs.get(entry.version.id, ())))
        for entry in entries
    ]


def _draft(scope: Scope, verb: Verb, reason: str, *rows: Row) -> Draft:
    return Draft(tenant=scope.tenant, verb=verb, actor=scope.key, reason=reason, puts=rows)
