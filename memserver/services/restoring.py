"""Bringing an earlier version of an item back, or an item that was taken out."""

from dataclasses import replace
from uuid import UUID

from memserver.domain.changes import Draft, Verb
from memserver.domain.errors import ItemNotFound, VersionNotFound
from memserver.domain.items import Entry, Status, Version
from memserver.domain.ports import Clock, PageRequest, Reader, Writer
from memserver.domain.scope import Scope
from memserver.services.access import Access
from memserver.services.remembering import Content, Remembered, Remembering, holds

METHOD = "restore"
LATEST_CHANGES = 100


class Restoring:
    def __init__(self, remembering: Remembering, access: Access, *, clock: Clock) -> None:
        self._remembering = remembering
        self._access = access
        self._clock = clock

    def __call__(
        self, tx: Writer, scope: Scope, item_id: UUID, version_id: UUID | None
    ) -> Remembered:
        """The item says again, from now on, what that version said (by default its newest), and is
        active again if it was not; what was in quarantine when it was deleted is there again. As a
        new version, so that what stood between stays readable. Nothing happens where that is how
        it stands. Raises `ItemNotFound`, `VersionNotFound`,
        `NamespaceForbidden`."""
        entry = tx.item(scope, item_id)
        if entry is None:
            raise ItemNotFound(item_id)
        self._access.require_writable(scope, entry.item.namespace)
        wanted = entry.version.id if version_id is None else version_id
        version = next((v for v in tx.versions(scope, item_id) if v.id == wanted), None)
        if version is None:
            raise VersionNotFound(wanted)
        if holds(entry, self._clock()) and entry.version.id == version.id:
            return Remembered(entry, None)
        entry = _as_before_its_end(tx, scope, entry)
        following = self._remembering.next_version(tx, scope, entry, _content(version))
        change = tx.apply(
            Draft(
                tenant=scope.tenant,
                verb=Verb.REMEMBER,
                actor=scope.key,
                reason=f"version {version.number} brought back",
                puts=following.rows,
            )
        )
        return Remembered(following.entry, change)


def _as_before_its_end(reader: Reader, scope: Scope, entry: Entry) -> Entry:
    """A deleted entry as quarantined where it was: only a promotion brings it into use."""
    item = entry.item
    if item.status is not Status.DELETED:
        return entry
    page = PageRequest(LATEST_CHANGES)
    changes = reader.changes(scope, [item.namespace.id], page, item.id).rows
    deleted = next((change for change in changes if change.verb is Verb.FORGET), None)
    if deleted is None:
        return entry
    for row in reader.row_changes(scope, deleted.id, page).rows:
        if row.ref.id == item.id and (row.before or {}).get("status") == Status.QUARANTINED:
            return replace(entry, item=replace(item, status=Status.QUARANTINED))
    return entry


def _content(version: Version) -> Content:
    return Content(
        title=version.title,
        body=version.body,
        task_type=version.task_type,
        sources=version.sources,
        metadata=version.metadata,
        method=METHOD,
        turn=version.turn,
        context=version.context,
    )
