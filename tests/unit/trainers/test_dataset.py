"""The dataset folder: what is read is what was exported, or the reading says what is wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memserver.cli.parquet_rows import ParquetRows
from memserver_trainers.dataset import canonical_line, open_dataset
from memserver_trainers.errors import InvalidDataset
from tests.unit.trainers.made import DIMENSION, candidate, dataset, row, rows, vectors, written


def edit(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    said = json.loads(file.read_text())
    change(said)
    file.write_text(json.dumps(said))


def as_parquet(folder: Path) -> None:
    """The same rows as the server's command writes them in Parquet."""
    for kind in ("decisions", "vectors"):
        source = folder / f"{kind}.jsonl"
        table = ParquetRows(folder / f"{kind}.parquet", kind)
        for line in source.read_bytes().splitlines():
            table.write(json.loads(line), line)
        table.close()
        source.unlink()
    files = {"decisions": "decisions.parquet", "vectors": "vectors.parquet"}
    edit(folder / "manifest.json", lambda said: said.update(files=files))


def test_decisions_come_back_as_they_were_written(tmp_path: Path) -> None:
    read = list(dataset(tmp_path, tasks=5).decisions())
    sent = list(rows(tasks=5))
    assert [each.id for each in read] == [each["id"] for each in sent]
    first, said = read[0], sent[0]
    assert (first.group, first.split, dict(first.rewards)) == (
        said["group"],
        said["split"],
        said["rewards"],
    )
    assert first.query_vector is not None
    assert first.query_vector.tolist() == said["query_vector"]
    assert [each.propensity for each in first.candidates] == [
        each["propensity"] for each in said["candidates"]
    ]


def test_vectors_come_back_by_id(tmp_path: Path) -> None:
    read = dataset(tmp_path).vectors()
    for id, vector in vectors().items():
        assert np.array_equal(read.matrix[read.index[id]], vector)


def test_parquet_gives_the_same_decisions_under_the_same_hash(tmp_path: Path) -> None:
    before = list(dataset(tmp_path, tasks=5).decisions())
    as_parquet(tmp_path)
    folder = open_dataset(tmp_path)
    after = list(folder.decisions())
    assert [(each.id, dict(each.rewards)) for each in after] == [
        (each.id, dict(each.rewards)) for each in before
    ]
    assert np.array_equal(after[0].candidates[0].features, before[0].candidates[0].features)
    assert folder.vectors().matrix.shape == (len(vectors()), DIMENSION)


def test_a_row_that_was_changed_after_the_export_is_noticed(tmp_path: Path) -> None:
    folder = dataset(tmp_path)
    file = tmp_path / "decisions.jsonl"
    file.write_text(file.read_text().replace('"outcome":0.0', '"outcome":1.0', 1))
    with pytest.raises(InvalidDataset, match="changed after the export"):
        list(folder.decisions())


def test_a_row_that_is_missing_is_noticed(tmp_path: Path) -> None:
    folder = dataset(tmp_path, tasks=5)
    file = tmp_path / "decisions.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(InvalidDataset, match="19 decisions, but its manifest says 20"):
        list(folder.decisions())


@pytest.mark.parametrize(
    ("key", "value"),
    [("format", 2), ("kind", "items"), ("feature_schema", 2), ("feature_names", ["cosine"])],
)
def test_what_this_version_cannot_read_is_refused_by_name(
    tmp_path: Path, key: str, value: object
) -> None:
    dataset(tmp_path)
    edit(tmp_path / "manifest.json", lambda said: said.update({key: value}))
    with pytest.raises(InvalidDataset, match=f"{key} is"):
        open_dataset(tmp_path)


def test_a_folder_without_a_manifest_is_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataset, match="not a dataset folder"):
        open_dataset(tmp_path)


def test_a_task_in_two_splits_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, [row("1", split="train"), row("2", split="test")])
    with pytest.raises(InvalidDataset, match="a split goes by task"):
        list(folder.decisions())


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"split": "dev"}, "split is 'dev'"),
        ({"rewards": {"outcome": 1.5}}, r"in \[0, 1\]"),
        ({"candidates": [candidate("1", taken=True, features=[1.0])]}, "1 features"),
        ({"candidates": None}, "not a decision"),
        ({"query_vector": [1.0]}, "not of 8 numbers"),
    ],
)
def test_a_row_out_of_shape_is_named_by_its_line(
    tmp_path: Path, said: dict[str, Any], reason: str
) -> None:
    folder = written(tmp_path, [row("1"), row("2", **said)])
    with pytest.raises(InvalidDataset, match=f"line 2: .*{reason}"):
        list(folder.decisions())


def test_a_line_that_is_no_json_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path, [row("1")])
    (tmp_path / "decisions.jsonl").write_bytes(canonical_line(row("1")) + b"{")
    with pytest.raises(InvalidDataset, match="line 2: not JSON"):
        list(folder.decisions())


@pytest.mark.parametrize("name", ["../decisions.jsonl", "/dev/zero", "..", ""])
def test_a_file_out_of_the_folder_is_not_read(tmp_path: Path, name: str) -> None:
    folder = dataset(tmp_path, tasks=5).folder
    edit(folder / "manifest.json", lambda said: said["files"].update(decisions=name))
    with pytest.raises(InvalidDataset, match="no file of its folder"):
        open_dataset(folder)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = dataset(tmp_path)
    (tmp_path / "vectors.jsonl").unlink()
    with pytest.raises(InvalidDataset, match=r"vectors\.jsonl"):
        folder.vectors()


@pytest.mark.parametrize("vectors_said", [11, 13])
def test_another_number_of_vectors_than_promised_is_noticed(
    tmp_path: Path, vectors_said: int
) -> None:
    dataset(tmp_path)
    edit(tmp_path / "manifest.json", lambda said: said.update(vectors=vectors_said))
    with pytest.raises(InvalidDataset, match=str(vectors_said)):
        open_dataset(tmp_path).vectors()
