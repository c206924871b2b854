"""The database as a server left it or uses it now: its schema, its soundness, its keys, and the
operations that have not ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.exc import SQLAlchemyError

from memserver.app.opening import database_url
from memserver.app.settings import Settings
from memserver.cli import Finding, Health
from memserver.domain.operations import Operation, State
from memserver.domain.ports import Clock
from memserver.services.indexing_rebuild import MARK
from memserver.storage.sql.inspecting import Inspection, NotReadable

CHECK = "database"
STUCK_AFTER = timedelta(hours=1)
STOPS_WITHIN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Database:
    """`reads` is None where nothing more can be read of it. `mark` is the index's: how far it has
    come and what made its vectors; `head` is the newest change."""

    findings: tuple[Finding, ...]
    reads: Inspection | None = None
    mark: tuple[int, str] | None = None
    head: int = 0


@contextmanager
def examine_database(settings: Settings, *, in_use: bool, clock: Clock) -> Iterator[Database]:
    """Open for as long as the block lasts. An error's text is never told: it may hold the URL,
    and the URL a password."""
    try:
        reads = Inspection(database_url(settings), clock=clock, in_use=in_use)
    except NotReadable as error:
        yield Database((_not_there(str(error)),))
        return
    try:
        try:
            found = _examine(reads, in_use=in_use, clock=clock)
        except (SQLAlchemyError, ValueError, LookupError) as error:
            found = Database((_cannot_be_read(error),))
        yield found
    finally:
        reads.close()


def _examine(reads: Inspection, *, in_use: bool, clock: Clock) -> Database:
    schema = reads.schema()
    if schema != reads.newest_schema:
        return Database((_other_schema(reads, schema),))
    if faults := reads.faults():
        return Database((_damaged(faults),))
    with reads.reading() as reader:
        mark, head = reader.mark(MARK), reader.head_position()
        unfinished = reader.unfinished_operations()
    findings = [
        Finding(CHECK, Health.OK, f"It is sound, and its schema {schema} is the newest."),
        _keys(reads.administrators()),
    ]
    if not in_use:
        findings.append(_left_operations(unfinished))
    else:
        findings.append(stuck_operations(unfinished, clock=clock))
    return Database(tuple(findings), reads, mark, head)


def stuck_operations(unfinished: tuple[Operation, ...], *, clock: Clock) -> Finding:
    """Of a server that runs, and so should get on with them."""
    now = clock()
    stuck = [
        operation
        for operation in unfinished
        if now - operation.updated_at
        > (STOPS_WITHIN if operation.state is State.CANCELLING else STUCK_AFTER)
    ]
    if stuck:
        return Finding(
            "operations",
            Health.PROBLEM,
            f"{_named(stuck)} came no further for {_longest(stuck, clock)}.",
            "memserver operations show ID says where; cancel and retry it, or restart the server.",
        )
    return Finding("operations", Health.OK, f"{len(unfinished)} under way, none of them stuck.")


def _left_operations(unfinished: tuple[Operation, ...]) -> Finding:
    if not unfinished:
        return Finding("operations", Health.OK, "Every one has ended.")
    return Finding(
        "operations",
        Health.WARNING,
        f"{_named(unfinished)} had not ended when the server stopped.",
        "The next start goes on with what is pending or running.",
    )


def _named(operations: list[Operation] | tuple[Operation, ...]) -> str:
    shown = ", ".join(f"{one.verb} {one.id} ({one.state})" for one in operations[:3])
    more = len(operations) - 3
    return shown if more <= 0 else f"{shown} and {more} more"


def _longest(stuck: list[Operation], clock: Clock) -> str:
    longest = max(clock() - operation.updated_at for operation in stuck)
    return f"{longest.total_seconds() / 60:,.0f} minutes"


def _keys(administrators: int) -> Finding:
    if administrators:
        return Finding("keys", Health.OK, f"{administrators} can administer.")
    return Finding(
        "keys",
        Health.PROBLEM,
        "No key that is not revoked can administer.",
        "Where the server was never started, its first start prints the system key; else restore "
        "a backup from before the last one was revoked.",
    )


def _not_there(reason: str) -> Finding:
    return Finding(
        CHECK,
        Health.WARNING,
        f"It was not read: {reason}.",
        "A start of the server makes or mends it; look again after that.",
    )


def _cannot_be_read(error: Exception) -> Finding:
    return Finding(
        CHECK,
        Health.PROBLEM,
        f"It cannot be read ({type(error).__name__}).",
        "Look at whether it is this server's, and running; else restore a backup into a new one.",
    )


def _other_schema(reads: Inspection, schema: str | None) -> Finding:
    if schema is None or schema in reads.known_schemas():
        return Finding(
            CHECK,
            Health.WARNING,
            f"Its schema is {schema or 'not there'}, the newest is {reads.newest_schema}.",
            "The next start of this version brings it up to date; back up first.",
        )
    return Finding(
        CHECK,
        Health.PROBLEM,
        f"Its schema {schema} is none that this version knows.",
        "A newer memserver made it: install that one.",
    )


def _damaged(faults: tuple[str, ...]) -> Finding:
    return Finding(
        CHECK,
        Health.PROBLEM,
        f"SQLite finds {len(faults)} faults or more in its file.",
        "Stop the server, keep the file, and restore the last backup into a new folder.",
    )
