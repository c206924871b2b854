"""Gives the space of deleted rows back. Until then their bytes lie in free pages and in the
write-ahead log, for whoever reads the files."""

import time

from sqlalchemy import text

from memserver.domain.ports.privacy import Compacted
from memserver.storage.sql.engines import Engines

PATIENCE_S = 20.0
"""How long readers may keep the write-ahead log from being emptied: each sees the state in which it
began."""

LOG_LEFT = "Long reads kept the write-ahead log from being emptied; the next erasure or start does."
OF_POSTGRESQL = (
    "PostgreSQL keeps deleted rows' bytes in its write-ahead log, its archives, its replicas and, "
    "until they are written over, in its pages: VACUUM FULL, and your retention, see to them."
)


def compact(engines: Engines) -> Compacted:
    """No transaction may be open on the writing connection. What is left is said, not raised."""
    if engines.writing.dialect.name == "postgresql":
        return _postgresql(engines)
    return _sqlite(engines)


def _sqlite(engines: Engines) -> Compacted:
    connection = engines.writing.raw_connection()
    try:
        cursor = connection.cursor()
        # The copy that it makes on the way could be larger than the memory.
        cursor.execute("PRAGMA temp_store = FILE")
        try:
            cursor.execute("VACUUM")
        finally:
            cursor.execute("PRAGMA temp_store = MEMORY")
        until = time.monotonic() + PATIENCE_S
        while True:
            busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if not busy:
                return Compacted()
            if time.monotonic() > until:
                return Compacted(LOG_LEFT)
            time.sleep(0.1)
    finally:
        connection.close()


def _postgresql(engines: Engines) -> Compacted:
    outside = engines.writing.execution_options(isolation_level="AUTOCOMMIT")
    with outside.connect() as connection:
        connection.execute(text("VACUUM"))
    return Compacted(OF_POSTGRESQL)
