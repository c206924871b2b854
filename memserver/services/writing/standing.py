"""A namespace as it stands while one call is decided: what SQL holds, and over it what the call
itself has written so far, so that what is said later in a call is held against what was said
earlier. `subject` is the person whom the call is about: what another person is known by is not
there."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid5

from memserver.domain.changes import Row
from memserver.domain.decisions import Choice
from memserver.domain.evidence import Belief, Event, Evidence, total
from memserver.domain.items import Entry, FactBody, Status, Version, content_hash, normal_name
from memserver.domain.policy.write_features import Operation
from memserver.domain.ports import Reader
from memserver.domain.scope import Namespace, Scope
from memserver.domain.times import valid_at
from memserver.services.known_facts import (
    fact_id,
    fact_ids,
    facts_of,
)
from memserver.services.remembering import (
    Content,
    Remembering,
    closed_by,
)
from memserver.services.writing.candidates import Candidate, Neighbour, Sort, about_of, same_value
from memserver.services.writing.deciding import Decided
from memserver.services.writing.searching import Likeness

MOST_NEIGHBOURS = 5


class Standing:
    def __init__(
        self,
        reader: Reader,
        scope: Scope,
        namespace: Namespace,
        remembering: Remembering,
        *,
        now: datetime,
        new_id: Callable[[], UUID],
        subject: str | None = None,
    ) -> None:
        self._reader = reader
        self._scope = scope
        self._namespace = namespace
        self._remembering = remembering
        self._now = now
        self._new_id = new_id
        self._subject = subject
        self._entries: dict[UUID, Entry] = {}
        self._of_entity: dict[str, dict[UUID, None]] = {}
        self._of_fact: dict[tuple[str, str], UUID] = {}
        self._versions: dict[UUID, dict[UUID, Version]] = {}
        self._stored_versions: dict[UUID, tuple[Version, ...]] = {}
        self._beliefs: dict[UUID, Belief] = {}
        self._rows: dict[UUID, Row] = {}
        self._made: set[UUID] = set()

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is to be written, each row once, as it stands in the end."""
        return tuple(self._rows.values())

    # --- what there is ------------------------------------------------------------------

    def load(self, candidates: Sequence[Candidate]) -> None:
        """The facts that these may bear on, and the versions of those that will get another one, in
        a few queries however many there are."""
        said = [(one.fact, one.at) for one in candidates if one.fact is not None]
        facts = [fact for fact, _ in said]
        if not facts:
            return
        entities = dict.fromkeys(fact.entity for fact in facts)
        self._file(self._reader.facts_about(self._scope, self._namespace, list(entities)))
        missing = [fact for fact in facts if about_of(fact) not in self._of_fact]
        ids = [
            item_id
            for fact in missing
            for item_id in fact_ids(self._namespace, fact, self._subject)
        ]
        if ids:
            # Those that are not active, which come back where they are stated again.
            known = self._reader.items_by_id(self._scope, list(dict.fromkeys(ids)))
            self._file(known.values())
        changed = {
            own
            for fact, at in said
            if (own := self._of_fact.get(about_of(fact))) is not None
            and not _says(self._entries[own], fact, at)
        }
        if changed:
            versions = self._reader.versions_of(self._scope, sorted(changed))
            self._stored_versions |= versions

    def load_likely(self, near: Iterable[UUID]) -> None:
        ids = [item_id for item_id in dict.fromkeys(near) if item_id not in self._entries]
        if ids:
            self._file(self._reader.items_by_id(self._scope, ids).values())

    def load_beliefs(self) -> None:
        versions = [entry.version.id for entry in self._entries.values()]
        found = self._reader.beliefs(self._scope, versions) if versions else {}
        self._beliefs |= {one: total(one, found.get(one, ())) for one in versions}

    def neighbours(
        self, candidate: Candidate, near: Mapping[UUID, Likeness]
    ) -> tuple[Neighbour, ...]:
        """A fact's own item first, then what says the same word for word, then by likeness."""
        ids: dict[UUID, None] = {}
        if candidate.sort in (Sort.FACT, Sort.RETRACTION) and candidate.fact is not None:
            ids |= self._facts_near(candidate.fact)
        elif candidate.sort is Sort.TEXT and candidate.refused is None:
            ids |= self._same_content(candidate)
        by_likeness = sorted(near, key=lambda one: (-near[one].cosine, -near[one].sparse, one.int))
        ids |= dict.fromkeys(one for one in by_likeness if one in self._entries)
        if candidate.sort is Sort.TEXT:
            # What is kept once for two people would go with the erasure of one.
            ids = dict.fromkeys(
                one
                for one in ids
                if one in self._entries and self._entries[one].item.subject == self._subject
            )
        found = [self._neighbour(self._entries[one], near.get(one, Likeness())) for one in ids]
        own = self._of_fact.get(about_of(candidate.fact)) if candidate.fact else None
        kept = [
            replace(one, had=self._had(one.entry, candidate.at))
            if one.entry.item.id == own
            else one
            for one in found
            if one.active or one.entry.item.id == own
        ]
        return tuple(kept[:MOST_NEIGHBOURS])

    def _had(self, entry: Entry, at: datetime) -> str | None:
        """The value that the fact had at a time before its head's, if it had one."""
        if at >= entry.version.valid_from:
            return None
        then = next((one for one in self._known_versions(entry) if valid_at(one, at)), None)
        return then.body.value if then and isinstance(then.body, FactBody) else None

    def _facts_near(self, fact: FactBody) -> dict[UUID, None]:
        own = self._of_fact.get(about_of(fact))
        ids = {} if own is None else {own: None}
        others = self._of_entity.get(normal_name(fact.entity), {})
        words = set(normal_name(fact.key).split())

        def shared(item_id: UUID) -> int:
            body = self._entries[item_id].version.body
            assert isinstance(body, FactBody), "only facts are filed by entity"
            return -len(words & set(normal_name(body.key).split()))

        return ids | dict.fromkeys(sorted(others, key=shared)[:MOST_NEIGHBOURS])

    def _same_content(self, candidate: Candidate) -> dict[UUID, None]:
        """Also what the index does not hold yet."""
        digest = content_hash(candidate.title, candidate.body)
        twins = self._reader.items_by_content(self._scope, self._namespace, candidate.kind, digest)
        self._file(twins)
        return dict.fromkeys(entry.item.id for entry in twins)

    def _neighbour(self, entry: Entry, likeness: Likeness) -> Neighbour:
        belief = self._beliefs.get(entry.version.id, Belief(entry.version.id))
        return Neighbour(
            entry,
            live=is_live(entry, self._now),
            cosine=likeness.cosine,
            sparse=likeness.sparse,
            mentions=belief.mentions,
            outcomes=belief.outcomes,
            mean=belief.mean,
        )

    def _file(self, entries: Iterable[Entry]) -> None:
        here = [entry for entry in entries if entry.item.namespace == self._namespace]
        facts = [entry for entry in here if isinstance(entry.version.body, FactBody)]
        others = [
            entry
            for entry in here
            if not isinstance(entry.version.body, FactBody)
            and (self._subject is None or entry.item.subject in (None, self._subject))
        ]
        for entry in (*facts_of(facts, self._subject), *others):
            if entry.item.id not in self._entries:
                self._put_entry(entry)

    def _put_entry(self, entry: Entry) -> None:
        self._entries[entry.item.id] = entry
        if isinstance(entry.version.body, FactBody):
            about = about_of(entry.version.body)
            known = self._of_fact.get(about)
            if known is None or self._entries[known].item.status is not Status.ACTIVE:
                self._of_fact[about] = entry.item.id
            if entry.item.status is Status.ACTIVE:
                self._of_entity.setdefault(about[0], {})[entry.item.id] = None

    # --- what becomes of it ---------------------------------------------------------------

    def carry_out(self, decided: Decided) -> Choice:
        """Writes what was decided over what stands, and says what stands now."""
        choice = decided.decision.choice
        assert choice is not None, "a write decision has a choice"
        target = decided.option.target
        match decided.option.operation:
            case Operation.ADD:
                return self._added(decided.candidate, choice)
            case Operation.UPDATE:
                assert target is not None, "an update has a target"
                return self._updated(decided.candidate, self._entries[target.entry.item.id], choice)
            case Operation.DELETE:
                assert target is not None, "a retraction that is carried out has a target"
                return self._ended(decided.candidate, self._entries[target.entry.item.id], choice)
            case Operation.NOOP:
                if target is None:
                    return choice
                return self._mentioned(
                    decided.candidate,
                    self._entries[target.entry.item.id],
                    choice,
                    cause=decided.decision.id,
                )

    def _added(self, candidate: Candidate, choice: Choice) -> Choice:
        if candidate.fact is not None:
            own = self._of_fact.get(about_of(candidate.fact))
            if own is not None:
                return self._updated(candidate, self._entries[own], choice)
            item_id = fact_id(self._namespace, candidate.fact, self._subject)
        elif candidate.turn is not None:
            item_id = turn_id(self._namespace, candidate)
        else:
            item_id = self._new_id()
        content = _content(candidate.told or candidate, candidate.metadata)
        entry = self._remembering.first_version(item_id, self._namespace, candidate.kind, content)
        self._made.add(item_id)
        self._write(entry, entry.item, entry.version)
        return _standing_as(choice, entry)

    def _updated(self, candidate: Candidate, known: Entry, choice: Choice) -> Choice:
        told = candidate.told or candidate
        metadata = {**known.version.metadata, **(candidate.metadata or {})}
        content = _content(told, metadata)
        body = known.version.body
        if isinstance(body, FactBody) and told.fact is not None:
            # It is called what it was first called.
            named = FactBody(body.entity, body.key, told.fact.value)
            content = replace(content, body=named, title=known.version.title)
        following = self._remembering.succeed(
            known,
            content,
            known=self._known_versions(known),
            belief=self._belief(known.version.id),
        )
        if not following.rows:
            return replace(
                _standing_as(choice, known),
                operation=Operation.NOOP.value,
                reason="known for its time",
            )
        self._write(following.entry, *following.rows)
        written = following.rows[0]
        return replace(_standing_as(choice, following.entry), version=written.id)

    def _ended(self, candidate: Candidate, known: Entry, choice: Choice) -> Choice:
        ended = closed_by(known.version, candidate.at, at=self._now)
        entry = Entry(known.item, ended)
        self._write(entry, ended)
        return _standing_as(choice, entry)

    def _mentioned(
        self, candidate: Candidate, known: Entry, choice: Choice, *, cause: UUID
    ) -> Choice:
        again = Evidence(
            id=self._new_id(),
            namespace=self._namespace,
            subject=known.version.id,
            event=Event.MENTION,
            value=1.0,
            weight=1.0,
            recorded_at=self._now,
            cause=cause,
        )
        self._rows[again.id] = again
        if lasts_longer(known.item.expires_at, candidate.expires_at):
            item = replace(known.item, expires_at=candidate.expires_at)
            self._write(Entry(item, known.version), item)
        return _standing_as(choice, known)

    def _write(self, entry: Entry, *rows: Row) -> None:
        item_id = entry.item.id
        for row in rows:
            self._rows[row.id] = row
            if isinstance(row, Version):
                self._versions.setdefault(item_id, {})[row.id] = row
        self._put_entry(entry)

    def _known_versions(self, entry: Entry) -> tuple[Version, ...]:
        """Newest first."""
        written = self._versions.get(entry.item.id, {})
        stored = self._stored_versions.get(entry.item.id)
        if stored is None:
            # Nothing is stored of an item that this call has made.
            made = entry.item.id in self._made
            stored = () if made else self._reader.versions(self._scope, entry.item.id)
        versions = {version.id: version for version in stored} | written
        return tuple(sorted(versions.values(), key=lambda one: -one.number))

    def _belief(self, version: UUID) -> Belief:
        if version in self._beliefs:
            return self._beliefs[version]
        if version in self._rows:
            return Belief(version)
        return total(version, self._reader.beliefs(self._scope, [version]).get(version, ()))


def _says(entry: Entry, fact: FactBody, at: datetime) -> bool:
    """Whether its head is the value of that time."""
    version = entry.version
    if at < version.valid_from or not isinstance(version.body, FactBody):
        return False
    return same_value(version.body.value, fact.value)


def lasts_longer(end: datetime | None, told: datetime | None) -> bool:
    """Whether what is told again is to stay for longer than it was to. It is never cut short."""
    return end is not None and told is not None and told > end


def is_live(entry: Entry, now: datetime) -> bool:
    """Whether it is active and holds now."""
    item, version = entry.item, entry.version
    return (
        item.status is Status.ACTIVE
        and (version.valid_to is None or version.valid_to > now)
        and (item.expires_at is None or item.expires_at > now)
    )


def turn_id(namespace: Namespace, candidate: Candidate) -> UUID:
    """One item a namespace, session and place: two who write a turn at once write one."""
    turn = candidate.turn
    assert turn is not None, "a turn has its place"
    return uuid5(namespace.tenant, f"{namespace.id}\x1fturn\x1f{turn.session}\x1f{turn.ordinal}")


def _content(candidate: Candidate, metadata: dict[str, object] | None) -> Content:
    return Content(
        title=candidate.title,
        body=candidate.body,
        metadata=metadata,
        valid_from=candidate.at,
        method=candidate.method,
        turn=candidate.turn,
        context=candidate.context,
        subject=candidate.subject,
        expires_at=candidate.expires_at,
    )


def _standing_as(choice: Choice, entry: Entry) -> Choice:
    return replace(choice, item=entry.item.id, version=entry.version.id)
