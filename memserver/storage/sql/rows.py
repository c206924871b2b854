"""Content rows by reference: their images read, written and removed in bulk."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, and_, bindparam, delete, insert, select, update

from memserver.domain.changes import RowRef, Table
from memserver.storage.sql.content import TABLES
from memserver.storage.sql.images import Image, from_image, to_image
from memserver.storage.sql.reach import Condition
from memserver.storage.sql.view import chunks

_ORDER = tuple(Table)


def read(connection: Connection, tenant: UUID, refs: Iterable[RowRef]) -> dict[RowRef, Image]:
    """The images of those rows that are there."""
    ids: dict[Table, list[UUID]] = defaultdict(list)
    for ref in refs:
        ids[ref.table].append(ref.id)
    found: dict[RowRef, Image] = {}
    for table, wanted in ids.items():
        content = TABLES[table]
        for some in chunks(wanted):
            query = select(content).where(content.c.tenant_id == tenant, content.c.id.in_(some))
            for row in connection.execute(query):
                found[RowRef(table, row.id)] = to_image(content, row._asdict())
    return found


def write(
    connection: Connection,
    tenant: UUID,
    found: Mapping[RowRef, Image],
    wanted: Mapping[RowRef, Image | None],
) -> None:
    """Brings the rows from the state found to the state wanted. Versions go before their items
    and come after them."""
    gone: dict[Table, list[dict[str, Any]]] = defaultdict(list)
    new: dict[Table, list[dict[str, Any]]] = defaultdict(list)
    changed: dict[Table, list[dict[str, Any]]] = defaultdict(list)
    for ref, image in wanted.items():
        if image is None:
            gone[ref.table].append({"of_id": ref.id})
        elif ref in found:
            row = from_image(TABLES[ref.table], image, tenant)
            changed[ref.table].append({"of_id": row.pop("id")} | row)
        else:
            new[ref.table].append(from_image(TABLES[ref.table], image, tenant))
    for table in reversed(_ORDER):
        if gone[table]:
            connection.execute(delete(TABLES[table]).where(_which(table, tenant)), gone[table])
    for table in _ORDER:
        if new[table]:
            connection.execute(insert(TABLES[table]), new[table])
        if changed[table]:
            connection.execute(update(TABLES[table]).where(_which(table, tenant)), changed[table])


def _which(table: Table, tenant: UUID) -> Condition:
    content = TABLES[table]
    return and_(content.c.tenant_id == tenant, content.c.id == bindparam("of_id"))
