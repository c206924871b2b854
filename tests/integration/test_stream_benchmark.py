"""The benchmark stream against a real server with a cheap encoder: what it heard is true, once."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("qdrant_edge", reason="the server's default index")

from memserver_bench.stream import run
from memserver_bench.stream_script import read_templates

TEMPLATES = Path(__file__).parents[1] / "unit" / "bench" / "templates"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clinic", "office"])
def test_a_stream_of_any_wording_is_kept_small_and_true(name: str, tmp_path: Path) -> None:
    line = run(
        read_templates(TEMPLATES / f"{name}.json"),
        writes=200,
        seed=2,
        folder=tmp_path,
        command=[sys.executable, "-m", "tests.integration.cheap_server"],
    )
    assert line["lost"] == 0
    assert line["live_ratio"] <= 1.1
    assert line["accuracy"] >= 0.98
    assert line["questions"] > 20
