"""Forgetting of the server's own accord: what has expired, and what a bound leaves no room for. It
is archived by changes that name the reason and can be undone."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from memserver.domain.changes import Change, Draft, Verb
from memserver.domain.forgetting import decay, last_use
from memserver.domain.items import Item, Status
from memserver.domain.namespace_settings import NamespaceSettings
from memserver.domain.ports import Clock, Reader, Store, Writer
from memserver.domain.scope import EVERYTHING, Role, Scope
from memserver.services.own_work import SERVER, as_server
from memserver.services.rated import rated_items
from memserver.services.retrieval.query import Candidate
from memserver_skills.evicting import Evictions, evictions

TOGETHER = 1_000


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many items a change archived, and by how many a bound is missed all the same."""

    change: Change
    items: int
    short: int = 0


class Forgetting:
    def __init__(self, store: Store, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._bounded_at: int | None = None

    def expire(self) -> list[Forgotten]:
        """Archives what has expired, one change a tenant."""
        done: list[Forgotten] = []
        while True:
            with self._store.reading() as reader:
                found = reader.expired_items(self._clock(), TOGETHER)
            for tenant, items in itertools.groupby(sorted(found, key=_tenant), key=_tenant):
                change = self._archive(tenant, [item.id for item in items], Verb.EXPIRE)
                if change is not None:
                    done.append(change)
            if len(found) < TOGETHER:
                return done

    def bound(self) -> list[Forgotten]:
        """Brings every namespace that has a bound down to it, one change a namespace; a frozen one
        stays as it is. Without a change since the last look there is nothing to count."""
        with self._store.reading() as reader:
            position = reader.head_position()
            if position == self._bounded_at:
                return []
            bounded = [
                settings
                for settings in reader.namespaces_with_settings()
                if settings.most_items is not None and not settings.frozen
            ]
            over = [s for s in bounded if reader.active_items(s.namespace) > _most(s)]
        done = [gone for settings in over if (gone := self._evict(settings)) is not None]
        self._bounded_at = position
        return done

    def _evict(self, settings: NamespaceSettings) -> Forgotten | None:
        namespace = settings.namespace
        with self._store.reading() as reader:
            found = to_evict(reader, as_server(namespace), settings, now=self._clock())
        if not found.gone:
            return None
        done = self._archive(
            namespace.tenant,
            [one.item for one in found.gone],
            Verb.EVICT,
            reason=f"{len(found.gone)} items past the {_most(settings)} of {namespace.path}",
        )
        return None if done is None else replace(done, short=found.short)

    def _archive(
        self, tenant: UUID, ids: Sequence[UUID], verb: Verb, reason: str = ""
    ) -> Forgotten | None:
        scope = Scope(tenant, SERVER, Role.ADMIN, (EVERYTHING,))

        def archive(tx: Writer) -> Forgotten | None:
            # Looked at again where nobody else can write: one may have been told again since.
            now = self._clock()
            entries = tx.items_by_id(scope, ids).values()
            rows = [
                archived(entry.item)
                for entry in entries
                if entry.item.status is Status.ACTIVE
                and (verb is not Verb.EXPIRE or is_expired(entry.item.expires_at, now))
            ]
            if not rows:
                return None
            why = reason or f"{len(rows)} items have expired"
            change = tx.apply(Draft(tenant, verb, SERVER, why, puts=tuple(rows)))
            return Forgotten(change, len(rows))

        return self._store.write(archive)


def to_evict(
    reader: Reader, scope: Scope, settings: NamespaceSettings, *, now: datetime
) -> Evictions:
    """What would go now, of a namespace that has a bound."""
    return evictions(
        rated_items(reader, scope, settings.namespace),
        most=_most(settings),
        now=now,
        half_life_days=settings.half_life_days,
    )


def archived(item: Item) -> Item:
    return replace(item, status=Status.ARCHIVED)


def is_expired(expires_at: datetime | None, now: datetime) -> bool:
    return expires_at is not None and expires_at <= now


def decayed(
    candidates: Iterable[Candidate], half_lives: Mapping[int, float], *, now: datetime
) -> list[Candidate]:
    """The candidates with what is left of their standing, in namespaces where it fades."""
    return [
        candidate
        if (half_life := half_lives.get(candidate.namespace.id)) is None
        else replace(
            candidate,
            decay=decay(
                last_use(candidate.belief, candidate.created_at, candidate.recorded_at),
                now=now,
                half_life_days=half_life,
            ),
        )
        for candidate in candidates
    ]


def _most(settings: NamespaceSettings) -> int:
    assert settings.most_items is not None
    return settings.most_items


def _tenant(item: Item) -> UUID:
    return item.namespace.tenant
