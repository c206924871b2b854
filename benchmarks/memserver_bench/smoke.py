"""`memserver-bench smoke`: the two figures that a change most easily spoils, in a few minutes:
ingest of the ALFWorld runs, and retrieve at 10,000 items."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from memserver_bench import ingest, latency
from memserver_bench.material import DATA

RESULTS = Path(__file__).parents[1] / "results"
OVER_FLOOR = 1.5
BEYOND_EMBEDDING_MS = 2.0
OF_EMBEDDER = 0.8


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The benchmark as `memserver-bench` runs it. The lines also go to a file with the date."""
    parser = argparse.ArgumentParser(prog="memserver-bench smoke", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of runs and texts")
    parser.add_argument("--size", type=int, default=10_000, help="items to retrieve from")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    given = parser.parse_args(arguments)
    shared = ["--seed", str(given.seed), "--data", str(given.data)]
    lines: list[Mapping[str, object]] = []
    for line in (
        *ingest.command(shared),
        *latency.command([*shared, "--sizes", str(given.size)]),
    ):
        lines.append(line)
        latency.say(summary(line))
        yield line
    given.results.mkdir(parents=True, exist_ok=True)
    file = given.results / f"{datetime.now(UTC):%Y-%m-%d}-smoke.json"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    latency.say(f"written to {file}")


def summary(line: Mapping[str, object]) -> str:
    """A result as a sentence for people, with the lines that it meets or misses."""
    if "skipped" in line:
        return f"{line['bench']}: skipped, {line['skipped']}"
    if line["bench"] == "ingest":
        return (
            f"ingest: {line['runs_per_s']} runs/s, durable and searchable; the embedder alone"
            f" {line['embedder_runs_per_s']}; ratio {line['ratio']}"
            f" (line: at least {OF_EMBEDDER}, {_met(line['ratio'], at_least=OF_EMBEDDER)})"
        )
    return (
        f"latency at {line['size']} items: p50 {line['p50']} ms, p95 {line['p95']}, p99"
        f" {line['p99']}; floor {line['floor']}; ratio {line['p50_over_floor']} (line: at most"
        f" {OVER_FLOOR}, {_met(line['p50_over_floor'], at_most=OVER_FLOOR)}); beyond the"
        f" embedding {line['beyond_embedding']} ms (line: at most {BEYOND_EMBEDDING_MS},"
        f" {_met(line['beyond_embedding'], at_most=BEYOND_EMBEDDING_MS)});"
        f" {line['errors']} errors"
    )


def _met(value: object, *, at_least: float = float("-inf"), at_most: float = float("inf")) -> str:
    assert isinstance(value, int | float)
    return "met" if at_least <= value <= at_most else "not met"
