"""A namespace's items with what is believed of them, as those see it who tidy a bank."""

from collections.abc import Sequence

from memserver.domain.evidence import total
from memserver.domain.items import Entry, Kind, Status
from memserver.domain.ports import ItemFilter, Reader
from memserver.domain.scope import Namespace, Scope
from memserver.services.paging import every
from memserver_skills.plans import Rated

A_READ = 500


def rated_items(
    reader: Reader,
    scope: Scope,
    namespace: Namespace,
    *,
    kinds: tuple[Kind, ...] = (),
    statuses: tuple[Status, ...] = (Status.ACTIVE,),
) -> list[Rated]:
    """Those in use where nothing else is said, of every kind."""
    where = ItemFilter((namespace.id,), kinds=kinds, statuses=statuses)
    entries = list(every(lambda page: reader.items(scope, where, page)))
    rated: list[Rated] = []
    for start in range(0, len(entries), A_READ):
        rated += _rated(reader, scope, entries[start : start + A_READ])
    return rated


def _rated(reader: Reader, scope: Scope, entries: Sequence[Entry]) -> list[Rated]:
    beliefs = reader.beliefs(scope, [entry.version.id for entry in entries])
    return [Rated(e, total(e.version.id, beliefs.get(e.version.id, ()))) for e in entries]
