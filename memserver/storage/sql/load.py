"""A checked archive in place of all that the database holds, in its caller's transaction."""

from typing import BinaryIO

from sqlalchemy import Connection, Table, delete, exists, func, insert, select, text, update
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, StatementError

from memserver.domain.backups import Manifest, lines
from memserver.domain.errors import (
    BackupMismatch,
    HoldsContent,
    InvalidBackup,
    OperationsUnfinished,
)
from memserver.domain.operations import TERMINAL
from memserver.storage.sql.dump import schema
from memserver.storage.sql.row_lines import RowLines
from memserver.storage.sql.tables import MARK, OPERATION, metadata

ROWS_TOGETHER = 500
# What a server has that nobody has stored anything in.
OF_A_NEW_SERVER = frozenset(
    {"tenant", "api_key", "namespace", "idempotency", "vector", "mark", "server_secret"}
)


def load(connection: Connection, archive: BinaryIO, manifest: Manifest, *, replace: bool) -> None:
    """Raises `BackupMismatch`, `OperationsUnfinished`, `HoldsContent` before it writes anything,
    and `InvalidBackup` for rows that the tables do not take: then nothing must be committed.

    Projections start over: their marks are set back, for what they hold was made of other rows.
    """
    _check(connection, manifest, replace=replace)
    for table in reversed(metadata.sorted_tables):
        _empty(connection, table)
    try:
        _fill(connection, archive, manifest)
    except (ValueError, KeyError, TypeError, StatementError) as error:
        # A full disk or a lost connection is no fault of the rows.
        if isinstance(error, DBAPIError) and not isinstance(error, DataError | IntegrityError):
            raise
        raise InvalidBackup(f"a row does not fit ({type(error).__name__})") from None
    connection.execute(update(MARK).values(position=0))
    if connection.dialect.name == "postgresql":
        _raise_sequences(connection)


def _check(connection: Connection, manifest: Manifest, *, replace: bool) -> None:
    here = schema(connection) or "none"
    if manifest.schema != here:
        raise BackupMismatch(
            "schema",
            archive=manifest.schema,
            here=here,
            help=f"Restore it with memserver {manifest.version}, then upgrade.",
        )
    if set(manifest.tables) != set(metadata.tables):
        raise InvalidBackup("it has other tables than its schema")
    running = OPERATION.c.state.not_in([state.value for state in TERMINAL])
    unfinished = connection.scalar(select(func.count()).select_from(OPERATION).where(running))
    if unfinished:
        raise OperationsUnfinished(unfinished)
    held = [] if replace else [table.name for table in _content() if _has_rows(connection, table)]
    if held:
        raise HoldsContent(held)


def _content() -> list[Table]:
    return [table for table in metadata.sorted_tables if table.name not in OF_A_NEW_SERVER]


def _has_rows(connection: Connection, table: Table) -> bool:
    return bool(connection.scalar(select(exists(select(table)))))


def _empty(connection: Connection, table: Table) -> None:
    """By DELETE, which leaves readers their view; TRUNCATE of PostgreSQL would not."""
    connection.execute(delete(table))


def _fill(connection: Connection, archive: BinaryIO, manifest: Manifest) -> None:
    for name, found in lines(archive, manifest):
        table = metadata.tables[name]
        form = RowLines(table)
        waiting = []
        for line in found:
            waiting.append(form.row(line))
            if len(waiting) == ROWS_TOGETHER:
                connection.execute(insert(table), waiting)
                waiting = []
        if waiting:
            connection.execute(insert(table), waiting)


def _raise_sequences(connection: Connection) -> None:
    """The next id that a sequence gives must be a new one. It is never set back, for that would
    outlive a rollback."""
    for table in metadata.sorted_tables:
        column = table.autoincrement_column
        if column is None:
            continue
        sequence = connection.scalar(
            text("SELECT pg_get_serial_sequence(:table, :column)"),
            {"table": f'"{table.name}"', "column": column.name},
        )
        if sequence is None:
            continue
        last = connection.scalar(select(func.max(column)))
        if last is not None:
            connection.execute(
                text(
                    "SELECT setval(CAST(:sequence AS regclass), "
                    f"greatest(:last, (SELECT last_value FROM {sequence})))"
                ),
                {"sequence": sequence, "last": last},
            )
