"""The SQL store on SQLite or PostgreSQL: the truth of what is remembered."""

from memserver.storage.sql.open import open_store

__all__ = ["open_store"]
