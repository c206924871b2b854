"""What all parts of a reader share: one connection, within one transaction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Executable

from memserver.domain.ports.privacy import Known, Looking, Protector
from memserver.domain.ports.store import Clock
from memserver.domain.scope import Namespace
from memserver.storage.sql.namespaces import NamespaceCache

V = TypeVar("V")
# A row, by column order.
Cells = Sequence[Any]
Names = Mapping[int, Namespace]
# SQLite takes 32,766 parameters a statement, PostgreSQL 65,535; shorter lists plan better.
CHUNK = 1_000


def chunks(values: Iterable[V]) -> Iterator[list[V]]:
    """Distinct values in lists that fit into one statement."""
    distinct = list(dict.fromkeys(values))
    for start in range(0, len(distinct), CHUNK):
        yield distinct[start : start + CHUNK]


class View:
    """One transaction's view of the database."""

    def __init__(
        self,
        connection: Connection,
        *,
        namespaces: NamespaceCache,
        clock: Clock,
        protector: Protector | None = None,
    ) -> None:
        self._connection = connection
        self._namespaces = namespaces
        self._clock = clock
        self._protector = protector
        self._wanted: dict[int, Looking] = {}
        self._looked_at: dict[Looking, Known] = {}

    def _all(self, statement: Executable) -> Sequence[Any]:
        return self._connection.execute(statement).all()

    def _first(self, statement: Executable) -> Any:
        return self._connection.execute(statement).first()

    def _names(self, ids: Iterable[int]) -> dict[int, Namespace]:
        return self._namespaces.resolve(self._connection, ids)

    def _now(self) -> datetime:
        return self._clock()
