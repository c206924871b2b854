"""The arithmetic and the material of the benchmarks, without a server."""

import random
from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("qdrant_edge", reason="the benchmarks measure the server's own parts")

from memserver_bench.floor import Cost
from memserver_bench.latency import Timed
from memserver_bench.material import material, memories, questions
from memserver_bench.smoke import summary


def test_a_timed_run_is_told_in_milliseconds_and_as_a_ratio_to_its_floor() -> None:
    timed = Timed((0.012, 0.015, 0.030), (Cost(0.008, 0.002),) * 3)
    line = timed.line()
    assert (line["p50"], line["p95"], line["floor"]) == (15.0, 30.0, 10.0)
    assert line["p50_over_floor"] == 1.5


def test_what_lies_beyond_the_embedding_is_taken_query_by_query() -> None:
    timed = Timed((0.020, 0.011, 0.012), (Cost(0.018, 0.001), Cost(0.009, 0.001), Cost(0.009, 0)))
    assert timed.line()["beyond_embedding"] == 2.0


def test_no_memory_and_no_question_occurs_twice(tmp_path: Path) -> None:
    made_up = material(tmp_path)
    bodies = [str(body["body"]) for body in memories(made_up, 500, random.Random(1))]
    assert len(set(bodies)) == 500
    asked = list(islice(questions(made_up, random.Random(1)), 500))
    assert len(set(asked)) == 500


def test_the_same_seed_gives_the_same_memories(tmp_path: Path) -> None:
    made_up = material(tmp_path)
    first, again = (list(memories(made_up, 20, random.Random("s"))) for _ in range(2))
    assert first == again


def test_made_up_material_has_no_hash_and_real_data_has_one(tmp_path: Path) -> None:
    assert material(tmp_path).data_sha256 is None
    (tmp_path / "memento_pairs_dev.jsonl").write_text(
        '{"query": "who was it?", "case": "which one was it?", '
        '"plan": "look it up in the records"}\n'
    )
    real = material(tmp_path)
    assert real.data_sha256 is not None
    assert real.asked == ("who was it?", "which one was it?")
    assert real.lines == ("look it up in the records",)


@pytest.mark.parametrize(("ratio", "said"), [(0.8, "met"), (0.79, "not met")])
def test_the_summary_says_whether_a_line_is_met(ratio: float, said: str) -> None:
    line = {"bench": "ingest", "runs_per_s": 1.0, "embedder_runs_per_s": 1.0, "ratio": ratio}
    assert f", {said})" in summary(line)
