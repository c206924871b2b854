"""When a namespace is consolidated without being asked: after so many writes, so many hours, or
while nobody writes. What is due is asked for as an operation like any other, so that it is durable,
can be watched and stopped, and keeps no request waiting."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from memserver.domain.changes import Verb
from memserver.domain.namespace_settings import NamespaceSettings
from memserver.domain.operations import Operation, State
from memserver.domain.ports import Clock, Reader, Store, Writer
from memserver.domain.ports.keeping import Written
from memserver.services.consolidating import Consolidating
from memserver.services.own_work import as_server

logger = logging.getLogger(__name__)

PAUSE = timedelta(hours=1)
"""After a consolidation that failed or was stopped, none is asked for within this time."""


@dataclass(frozen=True, slots=True)
class Past:
    """What a decision goes by: the last consolidation, what was written since, and when the
    namespace was first written to."""

    last: Operation | None
    written: Written
    began: datetime | None


class Scheduling:
    def __init__(self, store: Store, consolidating: Consolidating, *, clock: Clock) -> None:
        self._store = store
        self._consolidating = consolidating
        self._clock = clock

    def consolidate(self) -> list[Operation]:
        """Asks for what is due. A namespace that cannot be looked at keeps no other from it."""
        with self._store.reading() as reader:
            scheduled = [s for s in reader.namespaces_with_settings() if _is_scheduled(s)]
        asked: list[Operation] = []
        for settings in scheduled:
            try:
                with self._store.reading() as reader:
                    why = due(settings, past(reader, settings), now=self._clock())
                if why is not None:
                    operation = self._store.write(partial(self._ask, settings))
                    asked += [] if operation is None else [operation]
            except Exception as error:
                logger.error("A consolidation was not asked for: %s", type(error).__name__)
        return asked

    def _ask(self, settings: NamespaceSettings, tx: Writer) -> Operation | None:
        # Decided again where nobody else can ask: never two at once for a namespace.
        why = due(settings, past(tx, settings), now=self._clock())
        if why is None:
            return None
        namespace = settings.namespace
        return self._consolidating.request(
            tx, as_server(namespace), namespace, apply=True, plan=None, because=why
        )


def past(reader: Reader, settings: NamespaceSettings) -> Past:
    namespace = settings.namespace
    last = reader.latest_operation(namespace, Verb.CONSOLIDATE)
    written = reader.written(
        namespace,
        since=None if last is None else last.created_at,
        limit=settings.consolidate_every_writes or 1,
    )
    began = None
    if last is None and settings.consolidate_every_hours is not None:
        began = reader.first_written(namespace)
    return Past(last, written, began)


def due(settings: NamespaceSettings, past: Past, *, now: datetime) -> str | None:
    """Why the namespace is to be consolidated now, None where it is not. Without a write since the
    last time there is nothing to do."""
    last = past.last
    if last is not None and not last.ended:
        return None
    if last is not None and last.state is not State.SUCCEEDED:
        if now < last.updated_at + PAUSE:
            return None
        return f"the last one {last.state} {_ago(now - last.updated_at)} ago"
    if past.written.changes == 0 or past.written.last is None:
        return None
    writes = settings.consolidate_every_writes
    if writes is not None and past.written.changes >= writes:
        return f"{writes} writes"
    since = past.began if last is None else last.created_at
    hours = settings.consolidate_every_hours
    if hours is not None and since is not None and now - since >= timedelta(hours=hours):
        return f"{hours:g} hours since the last one"
    idle = settings.consolidate_when_idle_minutes
    if idle is not None and now - past.written.last >= timedelta(minutes=idle):
        return f"{idle:g} minutes without a write"
    return None


def _is_scheduled(settings: NamespaceSettings) -> bool:
    occasions = (
        settings.consolidate_every_writes,
        settings.consolidate_every_hours,
        settings.consolidate_when_idle_minutes,
    )
    return any(occasion is not None for occasion in occasions)


def _ago(time: timedelta) -> str:
    return f"{time.total_seconds() / 3600:.1f} h"
