"""The `Store` port: connections for reading, one writer, and the clock they share."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import BinaryIO, TypeVar

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import TimeoutError as PoolTimeout

from memserver.domain.backups import Manifest
from memserver.domain.changes import Verb
from memserver.domain.errors import Busy
from memserver.domain.operations import State
from memserver.domain.policies import PolicyInUse, PolicyRole, PolicyState
from memserver.domain.ports.privacy import Compacted, Protector, VectorNames
from memserver.domain.ports.store import Clock, Reader, Writer
from memserver.storage.sql.compacting import compact
from memserver.storage.sql.dump import dump
from memserver.storage.sql.engines import Engines
from memserver.storage.sql.group_commit import GroupCommit
from memserver.storage.sql.load import load
from memserver.storage.sql.namespaces import NamespaceCache
from memserver.storage.sql.protecting import ProtectingWriter
from memserver.storage.sql.reading import SqlReader
from memserver.storage.sql.reapplying import carried, reapply
from memserver.storage.sql.tables import OPERATION, POLICY
from memserver.storage.sql.tally import Tally
from memserver.storage.sql.writing import SqlWriter

T = TypeVar("T")


class SqlStore:
    """A store on a database whose tables are there. `open_store` makes one."""

    def __init__(self, engines: Engines, *, clock: Clock, queue_size: int) -> None:
        self._engines = engines
        self._clock = clock
        self._namespaces = NamespaceCache()
        self._protector: Protector | None = None
        self._tally = Tally()
        self._writes = GroupCommit(engines, self._writer, capacity=queue_size)

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """`Busy` when all connections are in use for ten seconds."""
        with self._connected() as connection:
            yield self._reader(connection)

    def write(self, work: Callable[[Writer], T]) -> T:
        verbs: list[Verb] = []
        result = self._writes.run(self._tally.noting(work, verbs))
        self._tally.add(verbs)
        return result

    def write_later(self, work: Callable[[Writer], None]) -> None:
        self._writes.run_later(work)

    @property
    def alive(self) -> bool:
        """Whether the writer's thread still runs."""
        return self._writes.alive

    @property
    def dropped(self) -> int:
        return self._writes.dropped

    # backups

    def dump(self, into: BinaryIO) -> Manifest:
        with self._connected() as connection:
            return dump(connection, into, now=self._clock())

    def load(
        self,
        archive: BinaryIO,
        manifest: Manifest,
        *,
        replace: bool,
        check: Callable[[Reader], None],
        vector_names: VectorNames,
    ) -> int:
        def work(connection: Connection) -> int:
            known = carried(connection)
            load(connection, archive, manifest, replace=replace)
            # What is read here is none of what was read before.
            writer = SqlWriter(connection, namespaces=NamespaceCache(), clock=self._clock)
            check(writer)
            return reapply(writer, known, vector_names)

        erased = self._writes.run_alone(work)
        # A new one: whoever still reads the old state must not fill it again.
        self._namespaces = NamespaceCache()
        return erased

    # privacy

    def protect_with(self, protector: Protector) -> None:
        self._protector = protector

    def compact(self) -> Compacted:
        return self._writes.run_outside(compact)

    # for those who watch

    @property
    def kept(self) -> int:
        """How many of the works that nobody waited for are durable."""
        return self._writes.kept

    @property
    def waiting(self) -> int:
        """Works in the writer's queue."""
        return self._writes.waiting

    def written(self) -> Mapping[Verb, int]:
        """Changes that this process has made since the start."""
        return self._tally.written()

    def operations(self) -> Mapping[State, int]:
        """All operations there are, of every tenant."""
        query = select(OPERATION.c.state, func.count()).group_by(OPERATION.c.state)
        with self._connected() as connection:
            found = {row.state: row[1] for row in connection.execute(query)}
        return {state: found.get(state.value, 0) for state in State}

    def policies_in_use(self) -> tuple[PolicyInUse, ...]:
        """All that are not retired, of every tenant."""
        query = select(POLICY.c.role, POLICY.c.id, POLICY.c.state).where(
            POLICY.c.state != PolicyState.RETIRED.value
        )
        with self._connected() as connection:
            return tuple(
                PolicyInUse(PolicyRole(role), policy, PolicyState(state))
                for role, policy, state in connection.execute(query)
            )

    def close(self) -> None:
        """Commits what is queued, then closes every connection; safe to call twice."""
        self._writes.close()
        self._engines.dispose()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        try:
            connection = self._engines.reading.connect()
        except PoolTimeout as error:
            raise Busy("The database") from error
        with connection, connection.begin():
            yield connection

    def _writer(self, connection: Connection) -> Writer:
        return ProtectingWriter(
            connection,
            namespaces=self._namespaces.fork(),
            clock=self._clock,
            protector=self._protector,
        )

    def _reader(self, connection: Connection) -> SqlReader:
        return SqlReader(
            connection,
            namespaces=self._namespaces,
            clock=self._clock,
            protector=self._protector,
        )
