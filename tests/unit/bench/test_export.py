"""The export benchmark writes what it says it writes, the same in both formats."""

from pathlib import Path

import pytest

from memserver_bench.export import Shape, run


def test_both_formats_are_of_the_same_rows_and_nothing_is_left(tmp_path: Path) -> None:
    lines = {
        line["format"]: line
        for line in run(200, shape=Shape(candidates=3, dimension=8), seed=7, folder=tmp_path)
    }
    assert lines.keys() == {"jsonl", "parquet"}
    assert lines["jsonl"]["sha256"] == lines["parquet"]["sha256"]
    assert lines["jsonl"]["file_mb"] == pytest.approx(lines["jsonl"]["json_mb"])
    assert all(line["rows"] == 200 and line["rows_per_s"] > 0 for line in lines.values())
    assert [path.name for path in tmp_path.iterdir()] == ["first"]


def test_another_seed_makes_other_rows(tmp_path: Path) -> None:
    shape = Shape(candidates=3, dimension=8)
    hashes = {next(run(5, shape=shape, seed=seed, folder=tmp_path))["sha256"] for seed in (1, 1, 2)}
    assert len(hashes) == 2
