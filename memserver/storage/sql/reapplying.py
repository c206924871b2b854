"""Erasures outlive a restore: whoever was erased after a backup was made is in it still, and must
not come back with it."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Connection, insert, select

from memserver.domain.ports.privacy import Erasing, Erasure, VectorNames
from memserver.storage.sql.sealed_rows import erasure_row, to_erasure
from memserver.storage.sql.tables import ERASURE, TENANT
from memserver.storage.sql.writing import SqlWriter

SERVER = UUID(int=0)
"""The actor of what nobody asked for."""


def carried(connection: Connection) -> tuple[Erasure, ...]:
    """What this server knows of, before it is replaced; oldest first."""
    query = select(ERASURE).order_by(ERASURE.c.created_at, ERASURE.c.id)
    return tuple(to_erasure(row) for row in connection.execute(query))


def reapply(writer: SqlWriter, known: Sequence[Erasure], vector_names: VectorNames) -> int:
    """Does again, on what was restored, each erasure that the archive does not know of, and notes
    it under its own id and time. How many."""
    connection = writer._connection
    there = set(connection.scalars(select(ERASURE.c.id)))
    tenants = set(connection.scalars(select(TENANT.c.id)))
    again = [one for one in known if one.id not in there and one.tenant in tenants]
    for one in again:
        done = writer.erase(Erasing(one.tenant, one.digest, one.pattern, SERVER), vector_names)
        connection.execute(ERASURE.delete().where(ERASURE.c.id == done.id))
        connection.execute(insert(ERASURE).values(erasure_row(one)))
    return len(again)
