"""The SQL store on SQLite or PostgreSQL: the truth of what is remembered."""

from memserver.storage.sql.open import open_store
from memserver.storage.sql.store import SqlStore

__all__ = ["SqlStore", "open_store"]
