"""Everything in the database as an archive: all tables, as one transaction sees them."""

from collections.abc import Iterator
from datetime import datetime
from typing import BinaryIO

from alembic.migration import MigrationContext
from sqlalchemy import Connection, Table, func, select

import memserver
from memserver.domain.backups import ArchiveWriter, Manifest
from memserver.storage.sql.row_lines import RowLines
from memserver.storage.sql.tables import CHANGE, MARK, metadata

ROWS_TOGETHER = 200


def dump(connection: Connection, into: BinaryIO, *, now: datetime) -> Manifest:
    """Writes all rows in bounded memory. The connection's transaction must see one state."""
    archive = ArchiveWriter(into)
    tables = metadata.sorted_tables
    for table in tables:
        archive.add(table.name, _lines(connection, table))
    manifest = Manifest(
        version=memserver.__version__,
        schema=schema(connection) or "",
        created_at=now,
        encoder=connection.scalar(select(MARK.c.fingerprint).limit(1)),
        position=connection.scalar(select(func.max(CHANGE.c.position))) or 0,
        tables=tuple(table.name for table in tables),
        members=tuple(archive.members),
    )
    archive.close(manifest)
    return manifest


def schema(connection: Connection) -> str | None:
    """The revision of the tables that are there; None where there are none."""
    return MigrationContext.configure(connection).get_current_revision()


def _lines(connection: Connection, table: Table) -> Iterator[bytes]:
    """In no order: a sort could need memory for the whole table."""
    form = RowLines(table)
    rows = connection.execution_options(yield_per=ROWS_TOGETHER).execute(select(table))
    for row in rows:
        yield form.line(row)
