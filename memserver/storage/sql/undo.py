"""Taking a change back: its rows return to the state in which it found them, provided that
nobody has touched them since."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, select, update

from memserver.domain.changes import Action, Change, RowChange, RowRef, Table, Verb
from memserver.domain.errors import AlreadyUndone, ChangeErased, ChangeNotFound, UndoConflict
from memserver.domain.scope import Scope
from memserver.storage.sql import rows
from memserver.storage.sql.changes import Changes, Why
from memserver.storage.sql.images import Image, image_hash, state_hash
from memserver.storage.sql.log_reads import (
    CHANGE_COLUMNS,
    ROW_CHANGE_COLUMNS,
    to_change,
    to_row_change,
)
from memserver.storage.sql.namespaces import NamespaceCache
from memserver.storage.sql.tables import CHANGE, ROW_CHANGE, VERSION
from memserver.storage.sql.view import chunks


class Undo:
    """Undoes changes of one tenant within one writing transaction."""

    def __init__(
        self, connection: Connection, *, namespaces: NamespaceCache, now: datetime
    ) -> None:
        self._connection = connection
        self._namespaces = namespaces
        self._changes = Changes(connection, namespaces=namespaces, now=now)

    def undo(self, scope: Scope, change_id: UUID, reason: str) -> Change:
        """As the port says. An undo can be undone as well."""
        change = self._find(scope, change_id)
        if change.undone_by is not None:
            raise AlreadyUndone(change_id, change.undone_by)
        logged = {row.ref: row for row in self._rows_of(change, scope)}
        found = rows.read(self._connection, scope.tenant, logged)
        self._refuse_if_touched_since(change, logged, found)
        wanted: dict[RowRef, Image | None] = {ref: row.before for ref, row in logged.items()}
        undoing = self._changes.record(
            Why(scope.tenant, Verb.UNDO, scope.key, reason, undoes=change.id),
            position=self._changes.next_position(),
            found=found,
            wanted=wanted,
        )
        self._mark(change, undoing)
        self._prove(change, logged)
        return undoing

    def _find(self, scope: Scope, change_id: UUID) -> Change:
        query = select(*CHANGE_COLUMNS).where(
            CHANGE.c.tenant_id == scope.tenant, CHANGE.c.id == change_id
        )
        row = self._connection.execute(query).first()
        if row is None:
            raise ChangeNotFound(change_id)
        return to_change(row)

    def _rows_of(self, change: Change, scope: Scope) -> list[RowChange]:
        """All rows of the change; `ChangeNotFound` unless the scope reaches every one."""
        query = (
            select(*ROW_CHANGE_COLUMNS)
            .where(ROW_CHANGE.c.position == change.position)
            .order_by(ROW_CHANGE.c.ordinal)
        )
        logged = [to_row_change(row) for row in self._connection.execute(query)]
        names = self._namespaces.resolve(self._connection, (row.namespace_id for row in logged))
        if not all(scope.may_read(namespace.path) for namespace in names.values()):
            raise ChangeNotFound(change.id)
        if change.verb is Verb.ERASE or any(row.action is Action.ERASE for row in logged):
            raise ChangeErased(change.id)
        return logged

    def _refuse_if_touched_since(
        self,
        change: Change,
        logged: Mapping[RowRef, RowChange],
        found: Mapping[RowRef, Image],
    ) -> None:
        touched = {
            ref
            for ref, row in logged.items()
            if row.after_hash != (image_hash(found[ref]) if ref in found else None)
        }
        touched |= self._relatives(change.tenant, logged)
        if touched:
            raise UndoConflict(change.id, self._later(change, touched))

    def _relatives(self, tenant: UUID, logged: Mapping[RowRef, RowChange]) -> set[RowRef]:
        """Rows of others that the undo would orphan: versions of an item that it takes away, and
        the missing item of a version that it brings back."""
        leaving = [
            ref.id for ref, row in logged.items() if ref.table is Table.ITEM and row.before is None
        ]
        in_the_way: set[RowRef] = set()
        for ids in chunks(leaving):
            query = select(VERSION.c.id).where(
                VERSION.c.tenant_id == tenant, VERSION.c.item_id.in_(ids)
            )
            versions = {RowRef(Table.VERSION, row.id) for row in self._connection.execute(query)}
            in_the_way |= versions - logged.keys()
        needed = {
            RowRef(Table.ITEM, UUID(row.before["item_id"]))
            for ref, row in logged.items()
            if ref.table is Table.VERSION and row.before is not None
        }
        missing = needed - logged.keys()
        return in_the_way | (missing - rows.read(self._connection, tenant, missing).keys())

    def _later(self, change: Change, touched: set[RowRef]) -> list[UUID]:
        """The changes that touched these rows since and still hold, newest first."""
        later: dict[UUID, Change] = {}
        for ids in chunks(ref.id for ref in touched):
            query = (
                select(ROW_CHANGE.c.table_name, ROW_CHANGE.c.row_id, *CHANGE_COLUMNS)
                .join_from(ROW_CHANGE, CHANGE, ROW_CHANGE.c.position == CHANGE.c.position)
                .where(
                    ROW_CHANGE.c.tenant_id == change.tenant,
                    ROW_CHANGE.c.row_id.in_(ids),
                    ROW_CHANGE.c.position > change.position,
                )
            )
            for table_name, row_id, *cells in self._connection.execute(query):
                if RowRef(Table(table_name), row_id) in touched:
                    other = to_change(cells)
                    later[other.id] = other
        # A change and its undo have cancelled each other; naming either would help nobody.
        holding = [
            other
            for other in later.values()
            if other.undone_by is None and other.undoes not in later
        ]
        newest_first = sorted(
            holding or later.values(), key=lambda other: other.position, reverse=True
        )
        return [other.id for other in newest_first]

    def _mark(self, change: Change, undoing: Change) -> None:
        """Notes who undid what. Undoing an undo brings the first change back into force, so that
        it may be undone again; and so on down the chain."""
        undone: UUID | None = change.id
        by: UUID | None = undoing.id
        while undone is not None:
            which = (CHANGE.c.tenant_id == change.tenant) & (CHANGE.c.id == undone)
            self._connection.execute(update(CHANGE).where(which).values(undone_by=by))
            by = undone if by is None else None
            undone = self._connection.scalar(select(CHANGE.c.undoes).where(which))

    def _prove(self, change: Change, refs: Iterable[RowRef]) -> None:
        found = rows.read(self._connection, change.tenant, refs)
        state = state_hash((ref, image_hash(found[ref]) if ref in found else None) for ref in refs)
        if state != change.before_hash:
            raise RuntimeError(f"The undo of the change {change.id} did not put its rows back.")
