"""The way in: from a database URL to a store that is ready."""

from memserver.domain.ports.store import Clock
from memserver.storage.sql.engines import connect
from memserver.storage.sql.migrate import migrate
from memserver.storage.sql.store import SqlStore


def open_store(url: str, *, clock: Clock, queue_size: int = 1024) -> SqlStore:
    """A store on `sqlite:///path` or `postgresql://…`, its tables made or brought up to date.

    `clock` gives aware times. At most `queue_size` writes wait; one more is `Busy`.
    """
    engines = connect(url)
    try:
        migrate(engines)
    except BaseException:
        engines.dispose()
        raise
    return SqlStore(engines, clock=clock, queue_size=queue_size)
