"""The `Store` port: connections for reading, one writer, and the clock they share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import TimeoutError as PoolTimeout

from memserver.domain.errors import Busy
from memserver.domain.ports.store import Clock, Reader, Writer
from memserver.storage.sql.engines import Engines
from memserver.storage.sql.group_commit import GroupCommit
from memserver.storage.sql.namespaces import NamespaceCache
from memserver.storage.sql.reading import SqlReader
from memserver.storage.sql.writing import SqlWriter

T = TypeVar("T")


class SqlStore:
    """A store on a database whose tables are there. `open_store` makes one."""

    def __init__(self, engines: Engines, *, clock: Clock, queue_size: int) -> None:
        self._engines = engines
        self._clock = clock
        self._namespaces = NamespaceCache()
        self._writes = GroupCommit(engines, self._writer, capacity=queue_size)

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """`Busy` when all connections are in use for ten seconds."""
        try:
            connection = self._engines.reading.connect()
        except PoolTimeout as error:
            raise Busy("The database") from error
        with connection, connection.begin():
            yield SqlReader(connection, namespaces=self._namespaces, clock=self._clock)

    def write(self, work: Callable[[Writer], T]) -> T:
        return self._writes.run(work)

    def write_later(self, work: Callable[[Writer], None]) -> None:
        self._writes.run_later(work)

    @property
    def alive(self) -> bool:
        """Whether the writer's thread still runs."""
        return self._writes.alive

    @property
    def dropped(self) -> int:
        return self._writes.dropped

    def close(self) -> None:
        """Commits what is queued, then closes every connection; safe to call twice."""
        self._writes.close()
        self._engines.dispose()

    def _writer(self, connection: Connection) -> Writer:
        return SqlWriter(connection, namespaces=self._namespaces.fork(), clock=self._clock)
