"""Rows as Parquet: few are held at a time, and a reader finds the types that JSON has no words
for. What may have any shape (metadata, bodies) is kept as JSON text."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet

Row = dict[str, Any]

ROWS_CONVERTED_TOGETHER = 64
"""Rows held as Python objects, which take ten times the memory that they take in Arrow."""
GROUP_BYTES = 16 * 1024 * 1024
GROUP_ROWS = 65_536

_TEXT, _REAL, _COUNT, _FLAG = arrow.string(), arrow.float64(), arrow.int32(), arrow.bool_()


def _struct(**fields: arrow.DataType) -> arrow.StructType:
    return arrow.struct(list(fields.items()))


CANDIDATE = _struct(
    id=_TEXT,
    # Not narrower than JSON's numbers: the hash of the rows must be the same in both formats.
    features=arrow.list_(_REAL),
    score=_REAL,
    rank=_COUNT,
    packed=_FLAG,
    slot=_TEXT,
    propensity=_REAL,
    gated=_TEXT,
    credit=_REAL,
)
DECISIONS = _struct(
    id=_TEXT,
    namespace=_TEXT,
    trajectory_id=_TEXT,
    group=_TEXT,
    split=_TEXT,
    verb=_TEXT,
    query=_TEXT,
    task_type=_TEXT,
    policy=_TEXT,
    schema=_COUNT,
    encoder=_TEXT,
    query_vector=arrow.list_(arrow.float32()),
    temperature=_REAL,
    exposure_slots=_COUNT,
    explored=_FLAG,
    created_at=_TEXT,
    candidates=arrow.list_(CANDIDATE),
    rewards=arrow.map_(_TEXT, _REAL),
)
VECTORS = _struct(id=_TEXT, vector=arrow.list_(arrow.float32()))
RUNS = _struct(
    id=_TEXT,
    task=_struct(goal=_TEXT, type=_TEXT, environment=_TEXT, template_id=_TEXT),
    agent=_TEXT,
    steps=arrow.list_(_struct(observation=_TEXT, action=_TEXT, reward=_REAL, metadata=_TEXT)),
    outcome=_struct(score=_REAL, success=_FLAG, source=_TEXT, cost=_REAL),
    used=arrow.list_(_TEXT),
    mistakes=arrow.list_(_TEXT),
    metadata=_TEXT,
    created_at=_TEXT,
)
ITEMS = _struct(
    id=_TEXT,
    namespace=_TEXT,
    kind=_TEXT,
    title=_TEXT,
    status=_TEXT,
    created_at=_TEXT,
    merged_into=_TEXT,
    version=_struct(
        id=_TEXT,
        item_id=_TEXT,
        number=_COUNT,
        title=_TEXT,
        body=_TEXT,
        text=_TEXT,
        method=_TEXT,
        sources=arrow.list_(_struct(trajectory_id=_TEXT, steps=arrow.list_(_COUNT))),
        task_type=_TEXT,
        metadata=_TEXT,
        parent=_TEXT,
        valid_from=_TEXT,
        valid_to=_TEXT,
        recorded_at=_TEXT,
        belief=_struct(mean=_REAL, lower_bound=_REAL, outcomes=_COUNT),
    ),
)


def _as_it_is(row: Row) -> Row:
    return row


def _decision(row: Row) -> Row:
    return {**row, "rewards": list(row["rewards"].items())}


def _run(row: Row) -> Row:
    steps = [{**step, "metadata": _json(step["metadata"])} for step in row["steps"]]
    return {**row, "steps": steps, "metadata": _json(row["metadata"])}


def _item(row: Row) -> Row:
    version = row["version"]
    words = {"body": _json(version["body"]), "metadata": _json(version["metadata"])}
    return {**row, "version": {**version, **words}}


KINDS: dict[str, tuple[arrow.StructType, Callable[[Row], Row]]] = {
    "decisions": (DECISIONS, _decision),
    "vectors": (VECTORS, _as_it_is),
    "trajectories": (RUNS, _run),
    "items": (ITEMS, _item),
}


class ParquetRows:
    """A file whose row groups hold about `GROUP_BYTES`, however large a row is."""

    def __init__(self, path: Path, kind: str) -> None:
        struct, self._shape = KINDS[kind]
        self._schema = arrow.schema(list(struct))
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Row] = []
        self._batches: list[arrow.RecordBatch] = []
        self._bytes = self._count = 0

    def write(self, row: Row, line: bytes) -> None:
        self._rows.append(self._shape(row))
        self._bytes += len(line)
        if len(self._rows) == ROWS_CONVERTED_TOGETHER or self._bytes >= GROUP_BYTES:
            self._convert()
        if self._bytes >= GROUP_BYTES or self._count >= GROUP_ROWS:
            self._write_group()

    def close(self) -> None:
        self._convert()
        self._write_group()
        self._writer.close()

    def _convert(self) -> None:
        if self._rows:
            self._batches.append(arrow.RecordBatch.from_pylist(self._rows, schema=self._schema))
            self._count += len(self._rows)
            self._rows = []

    def _write_group(self) -> None:
        if self._batches:
            table = arrow.Table.from_batches(self._batches, schema=self._schema)
            self._writer.write_table(table, row_group_size=len(table))
        self._batches, self._bytes, self._count = [], 0, 0


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
