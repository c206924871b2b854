"""A database of an earlier revision is brought up to date with all that it holds."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from alembic import command
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Double,
    Inspector,
    Integer,
    LargeBinary,
    String,
    Uuid,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlmodel import AutoString

from memserver.domain.decisions import Considered, Decision
from memserver.domain.items import FactBody
from memserver.domain.ports.paging import PageRequest
from memserver.domain.ports.store import DecisionFilter
from memserver.domain.scope import Namespace, Role, Scope
from memserver.storage.sql import open_store
from memserver.storage.sql.engines import connect
from memserver.storage.sql.migrate import alembic_config
from memserver.storage.sql.tables import metadata
from memserver.storage.sql.types import UtcDateTime
from tests.contract.store.conftest import fresh_database
from tests.contract.store.world import START, Clock

ONE = UUID(int=1)
SCOPE = Scope(ONE, ONE, Role.ADMIN, ("**",))
HERE, THERE = Namespace(1, ONE, "path"), Namespace(2, ONE, "there")
FEATURES = (0.1 + 0.2, -1e-300)
Rows = dict[str, list[tuple[Any, ...]]]


@pytest.fixture(params=["sqlite", "postgresql"])
def first_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of the revision 0001 with a row in every table, and decisions over one
    namespace, two and none."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'first.db'}"
    else:
        url = fresh_database(request.getfixturevalue("postgres"))
    _move(url, command.upgrade, "0001")
    shape = _shape(url)
    with _writing(url) as connection:
        for table in metadata.sorted_tables:
            if table.name in shape:
                row = {name: _filled(table.c[name]) for name in shape[table.name]}
                connection.execute(insert(table).values(row))
        there = {"id": THERE.id, "tenant_id": ONE, "path": THERE.path}
        connection.execute(insert(metadata.tables["namespace"]).values(there))
        for number, namespaces in ((2, [THERE.id, HERE.id]), (3, [])):
            more = {"id": UUID(int=number), "namespaces": namespaces}
            connection.execute(insert(metadata.tables["decision"]).values(_decision_row() | more))
    return url


def test_an_earlier_database_keeps_every_row(first_url: str, clock: Clock) -> None:
    shape = _shape(first_url)
    before = _rows(first_url, shape)
    assert all(before.values())
    assert len(before) == 15
    _move(first_url, command.upgrade, "0002")
    assert _rows(first_url, shape) == before
    assert _revision(first_url) == "0002"
    open_store(first_url, clock=clock).close()
    assert _rows(first_url, shape) == before


def test_earlier_decisions_are_read_with_what_was_known_of_them(
    first_url: str, clock: Clock
) -> None:
    with closing(open_store(first_url, clock=clock)) as store, store.reading() as reader:
        found = [reader.decision(SCOPE, UUID(int=number)) for number in (1, 2)]
        of_here = reader.decisions(SCOPE, DecisionFilter(HERE.id), PageRequest()).rows
        of_there = reader.decisions(SCOPE, DecisionFilter(THERE.id), PageRequest()).rows
        explored = DecisionFilter(HERE.id, explored=True)
        assert reader.decisions(SCOPE, explored, PageRequest()).rows == ()
    assert found == [_decision(1, HERE), _decision(2, THERE, HERE)]
    assert (of_here, of_there) == ((found[0],), (found[1],))
    assert _decided_by(first_url) == {1: HERE.id, 2: THERE.id, 3: 0}


def test_a_migrated_database_takes_new_policies_and_decisions(first_url: str, clock: Clock) -> None:
    with closing(open_store(first_url, clock=clock)) as store:
        decision = Decision(
            id=UUID(int=9),
            tenant=ONE,
            namespaces=(HERE,),
            verb="retrieve",
            query="",
            task_type=None,
            trajectory_id=None,
            schema=1,
            policy="fixed-1",
            candidates=(Considered(ONE, FEATURES, 1, True, 0.5, None, 2.0, "policy"),),
            created_at=START,
            explored=True,
            query_vector=b"\x00\x01",
        )
        store.write(lambda tx: tx.add_decision(decision))
        store.write(lambda tx: tx.put_policy_weights("a hash", b"weights"))
        with store.reading() as reader:
            assert reader.decision(SCOPE, decision.id) == decision
            assert reader.policy_weights("a hash") == b"weights"
            assert reader.namespaces_with_policies() == ()


def test_facts_of_an_earlier_database_are_found_by_their_entity(
    first_url: str, clock: Clock
) -> None:
    version, body = (
        metadata.tables["version"],
        {"entity": "Ana  Lima", "key": "office", "value": "B12"},
    )
    with _writing(first_url) as connection:
        connection.execute(
            update(version).values(body_type="fact", body=body, sources=[], metadata={})
        )
        connection.execute(
            update(metadata.tables["item"]).values(status="active", kind="fact", head=ONE)
        )
    with closing(open_store(first_url, clock=clock)) as store, store.reading() as reader:
        found = reader.facts_about(SCOPE, HERE, ["ana lima"])
    assert [entry.version.body for entry in found] == [FactBody(**body)]


def test_going_back_to_the_first_revision_keeps_every_decision(
    first_url: str, clock: Clock
) -> None:
    shape, before = _shape(first_url), _rows(first_url, _shape(first_url))
    indexes = _indexes(first_url)
    open_store(first_url, clock=clock).close()
    _move(first_url, command.downgrade, "0001")
    assert _shape(first_url) == shape
    assert _indexes(first_url) == indexes
    assert _rows(first_url, shape) == before
    assert _revision(first_url) == "0001"
    open_store(first_url, clock=clock).close()
    assert _rows(first_url, shape) == before
    assert _decided_by(first_url) == {1: HERE.id, 2: THERE.id, 3: 0}


def _move(url: str, how: Callable[..., None], revision: str) -> None:
    config = alembic_config()
    with _writing(url) as connection:
        config.attributes["connection"] = connection
        how(config, revision)


@contextmanager
def _writing(url: str) -> Iterator[Connection]:
    engines = connect(url)
    try:
        with engines.writing.connect() as connection, connection.begin():
            yield connection
    finally:
        engines.dispose()


@contextmanager
def _reading(url: str) -> Iterator[Connection]:
    engines = connect(url)
    try:
        with engines.reading.connect() as connection:
            yield connection
    finally:
        engines.dispose()


def _filled(column: Column[Any]) -> Any:
    """Some value for a column. All references point at the one row of each table."""
    if column.table.name == "decision":
        return _decision_row()[column.name]
    match column.type:
        case Uuid():
            return ONE
        case UtcDateTime():
            return START
        case JSON():
            return ["ü", 1e22, {"nested": None}]
        case Boolean():
            return True
        case Integer():
            return 1
        case Double():
            return 0.1 + 0.2
        case LargeBinary():
            return b"\x00\xff"
        case String() | AutoString():
            return column.name
        case other:
            raise TypeError(f"{column} is {other!r}")


def _decision_row() -> Mapping[str, Any]:
    """As the first revision's code wrote it: candidates without a score and a slot."""
    return {
        "id": ONE,
        "tenant_id": ONE,
        "namespaces": [HERE.id],
        "verb": "retrieve",
        "query": "where is the mug",
        "task_type": "kitchen",
        "trajectory_id": ONE,
        "schema": 1,
        "policy": "fixed-1",
        "candidates": [
            [str(UUID(int=11)), 2, 1, True, 1.0, None],
            [str(UUID(int=12)), 0, None, False, 1.0, "lower bound"],
        ],
        "features": zlib.compress(np.array(FEATURES, "<f8").tobytes(), 1),
        "asked_by": ONE,
        "created_at": START,
    }


def _decision(number: int, *namespaces: Namespace) -> Decision:
    return Decision(
        id=UUID(int=number),
        tenant=ONE,
        namespaces=namespaces,
        verb="retrieve",
        query="where is the mug",
        task_type="kitchen",
        trajectory_id=ONE,
        schema=1,
        policy="fixed-1",
        candidates=(
            Considered(UUID(int=11), FEATURES, rank=1, packed=True),
            Considered(UUID(int=12), (), rank=None, packed=False, gated="lower bound"),
        ),
        created_at=START,
        asked_by=ONE,
    )


def _rows(url: str, shape: Mapping[str, list[str]]) -> Rows:
    """All rows of these tables, in these columns."""
    with _reading(url) as connection:
        return {
            name: [
                tuple(row)
                for row in connection.execute(
                    select(*(metadata.tables[name].c[column] for column in columns)).order_by(
                        *metadata.tables[name].primary_key
                    )
                )
            ]
            for name, columns in shape.items()
        }


def _decided_by(url: str) -> dict[int, int]:
    """The namespace whose policy decided, by the number of the decision."""
    table = metadata.tables["decision"]
    with _reading(url) as connection:
        rows = connection.execute(select(table.c.id, table.c.namespace_id)).all()
    return {decision.int: namespace for decision, namespace in rows}


def _shape(url: str) -> dict[str, list[str]]:
    """The columns of each table that there is."""
    return _inspected(
        url,
        lambda found: {
            name: sorted(column["name"] for column in found.get_columns(name))
            for name in sorted(found.get_table_names())
            if name != "alembic_version"
        },
    )


def _indexes(url: str) -> dict[str, set[str | None]]:
    return _inspected(
        url,
        lambda found: {
            name: {index["name"] for index in found.get_indexes(name)}
            for name in found.get_table_names()
        },
    )


def _inspected(url: str, look: Callable[[Inspector], Any]) -> Any:
    with _reading(url) as connection:
        return look(inspect(connection))


def _revision(url: str) -> Any:
    with _reading(url) as connection:
        return connection.scalar(text("SELECT version_num FROM alembic_version"))
