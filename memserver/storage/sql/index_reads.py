"""What the vector index is built from: the log as a feed, and what each row should look like
in the index now. Not bound to one caller: the index holds every tenant's points."""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import and_, func, select

from memserver.domain.changes import RowRef, Table
from memserver.domain.items import Status, render
from memserver.domain.ports.index import NEVER
from memserver.domain.ports.store import PAST, Document, FeedEntry
from memserver.storage.sql import bodies
from memserver.storage.sql.tables import CHANGE, ITEM, MARK, ROW_CHANGE, TRAJECTORY, VECTOR, VERSION
from memserver.storage.sql.view import Cells, View, chunks

_INDEXED = (Table.TRAJECTORY, Table.ITEM, Table.VERSION)

_RUN = (
    TRAJECTORY.c.id,
    TRAJECTORY.c.tenant_id,
    TRAJECTORY.c.namespace_id,
    TRAJECTORY.c.task_type,
    TRAJECTORY.c.created_at,
    TRAJECTORY.c.goal,
)
_VERSION = (
    VERSION.c.id,
    VERSION.c.item_id,
    VERSION.c.tenant_id,
    VERSION.c.namespace_id,
    ITEM.c.kind,
    ITEM.c.status,
    VERSION.c.task_type,
    ITEM.c.created_at,
    ITEM.c.head,
    VERSION.c.title,
    VERSION.c.body_type,
    VERSION.c.body,
    VERSION.c.context,
    VERSION.c.valid_from,
    VERSION.c.valid_to,
    VERSION.c.recorded_at,
    VERSION.c.closed_at,
)
_VERSIONS = select(*_VERSION).join_from(
    VERSION, ITEM, and_(ITEM.c.id == VERSION.c.item_id, ITEM.c.tenant_id == VERSION.c.tenant_id)
)


class IndexReads(View):
    def feed(self, after: int, limit: int) -> tuple[FeedEntry, ...]:
        changes = self._all(
            select(CHANGE.c.position, CHANGE.c.tenant_id)
            .where(CHANGE.c.position > after)
            .order_by(CHANGE.c.position)
            .limit(limit)
        )
        if not changes:
            return ()
        refs: dict[int, list[RowRef]] = {}
        rows = self._all(
            select(ROW_CHANGE.c.position, ROW_CHANGE.c.table_name, ROW_CHANGE.c.row_id)
            .where(
                ROW_CHANGE.c.position.between(changes[0].position, changes[-1].position),
                ROW_CHANGE.c.table_name.in_([table.value for table in _INDEXED]),
            )
            .order_by(ROW_CHANGE.c.position, ROW_CHANGE.c.ordinal)
        )
        for position, table_name, row_id in rows:
            refs.setdefault(position, []).append(RowRef(Table(table_name), row_id))
        return tuple(
            FeedEntry(position, tenant, tuple(refs.get(position, ())))
            for position, tenant in changes
        )

    def head_position(self) -> int:
        return self._connection.scalar(select(func.max(CHANGE.c.position))) or 0

    def documents(self, tenant: UUID, refs: Sequence[RowRef]) -> tuple[Document, ...]:
        found: dict[UUID, Document] = {}
        named: dict[Table, list[UUID]] = {table: [] for table in Table}
        for ref in refs:
            named[ref.table].append(ref.id)
        for ids in chunks(named[Table.TRAJECTORY]):
            query = select(*_RUN).where(TRAJECTORY.c.tenant_id == tenant, TRAJECTORY.c.id.in_(ids))
            found |= _by_id(_run_document(row) for row in self._all(query))
        now = self._now()
        items = {*named[Table.ITEM], *self._items_of(tenant, named[Table.VERSION])}
        for ids in chunks(items):
            query = _VERSIONS.where(VERSION.c.tenant_id == tenant, VERSION.c.item_id.in_(ids))
            found |= _by_id(_version_document(row, now) for row in self._all(query))
        there = found.keys() | {document.item for document in found.values()}
        gone = {ref.id for ref in refs if ref.table in _INDEXED} - there
        return (*found.values(), *(_gone(tenant, row_id) for row_id in sorted(gone)))

    def _items_of(self, tenant: UUID, versions: Sequence[UUID]) -> set[UUID]:
        items: set[UUID] = set()
        for ids in chunks(versions):
            query = select(VERSION.c.item_id).where(
                VERSION.c.tenant_id == tenant, VERSION.c.id.in_(ids)
            )
            items.update(row.item_id for row in self._all(query))
        return items

    def live_documents(self, after: tuple[str, UUID] | None, limit: int) -> tuple[Document, ...]:
        """`after` is (`trajectory` or `version`, id). An id is unique only within a tenant, so
        a page goes on past the limit where several tenants hold its last id."""
        table, last = (Table.TRAJECTORY, None) if after is None else (Table(after[0]), after[1])
        if table not in (Table.TRAJECTORY, Table.VERSION):
            raise ValueError(f"There are no documents in the table {table!r}.")
        documents: list[Document] = []
        if table is Table.TRAJECTORY:
            documents = self._live_runs(last, limit)
            last = None
        if len(documents) < limit:
            documents += self._live_versions(last, limit - len(documents))
        return tuple(documents)

    def _live_runs(self, after: UUID | None, limit: int) -> list[Document]:
        query = select(*_RUN).order_by(TRAJECTORY.c.id, TRAJECTORY.c.tenant_id)
        page = query if after is None else query.where(TRAJECTORY.c.id > after)
        rows = list(self._all(page.limit(limit)))
        if len(rows) == limit:
            last = rows[-1]
            rows += self._all(
                query.where(TRAJECTORY.c.id == last.id, TRAJECTORY.c.tenant_id > last.tenant_id)
            )
        return [_run_document(row) for row in rows]

    def _live_versions(self, after: UUID | None, limit: int) -> list[Document]:
        query = _VERSIONS.where(ITEM.c.status == Status.ACTIVE.value).order_by(
            VERSION.c.id, VERSION.c.tenant_id
        )
        page = query if after is None else query.where(VERSION.c.id > after)
        rows = list(self._all(page.limit(limit)))
        if len(rows) == limit:
            last = rows[-1]
            rows += self._all(
                query.where(VERSION.c.id == last.id, VERSION.c.tenant_id > last.tenant_id)
            )
        now = self._now()
        return [_version_document(row, now) for row in rows]

    def vectors(self, hashes: Sequence[str], fingerprint: str) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for some in chunks(hashes):
            query = select(VECTOR.c.hash, VECTOR.c.data).where(
                VECTOR.c.fingerprint == fingerprint, VECTOR.c.hash.in_(some)
            )
            found |= {row.hash: bytes(row.data) for row in self._all(query)}
        return found

    def mark(self, name: str) -> tuple[int, str] | None:
        row = self._first(select(MARK.c.position, MARK.c.fingerprint).where(MARK.c.name == name))
        return None if row is None else (row.position, row.fingerprint)


def _by_id(documents: Iterable[Document]) -> dict[UUID, Document]:
    return {document.id: document for document in documents}


def _run_document(row: Cells) -> Document:
    row_id, tenant, namespace_id, task_type, created_at, goal = row
    return Document(
        id=row_id,
        item=row_id,
        tenant=tenant,
        namespace_id=namespace_id,
        kind="trajectory",
        status=Status.ACTIVE.value,
        task_type=task_type or "",
        created=int(created_at.timestamp()),
        text=" ".join(goal.split()),
        live=True,
        valid_from=_seconds(created_at, 0),
        recorded=_seconds(created_at, 0),
    )


def _version_document(row: Cells, now: datetime) -> Document:
    (
        row_id,
        item_id,
        tenant,
        namespace_id,
        kind,
        status,
        task_type,
        created_at,
        head,
        title,
        body_type,
        body,
        context,
        valid_from,
        valid_to,
        recorded_at,
        closed_at,
    ) = row
    active = status == Status.ACTIVE.value
    holds = row_id == head and (valid_to is None or valid_to > now)
    return Document(
        id=row_id,
        item=item_id,
        tenant=tenant,
        namespace_id=namespace_id,
        kind=kind,
        status=PAST if active and not holds else status,
        task_type=task_type or "",
        created=int(created_at.timestamp()),
        text=render(title, bodies.from_json(body_type, body)),
        live=active,
        context=context or "",
        valid_from=_seconds(valid_from, 0),
        valid_to=_seconds(valid_to, NEVER),
        recorded=_seconds(recorded_at, 0),
        closed=_seconds(closed_at, NEVER),
    )


def _seconds(moment: datetime | None, otherwise: int) -> int:
    """The whole second in which a moment lies."""
    return otherwise if moment is None else math.floor(moment.timestamp())


def _gone(tenant: UUID, row_id: UUID) -> Document:
    """What an undo or a delete took away: all that is known is that it must not be found."""
    return Document(
        id=row_id,
        item=row_id,
        tenant=tenant,
        namespace_id=0,
        kind="",
        status="",
        task_type="",
        created=0,
        text="",
        live=False,
    )
