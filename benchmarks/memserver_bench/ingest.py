"""`memserver-bench ingest`: runs a second over HTTP until they are durable and searchable,
against the encoder alone on the same texts. Each round has a fresh server, since vectors of
known texts are kept."""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from memserver_bench.floor import Encoding
from memserver_bench.material import DATA, RUNS
from memserver_bench.provenance import provenance, sha256_of
from memserver_bench.soak_server import ServerProcess, default_command
from memserver_bench.talking import Client, Refused

IMPORT = "/v1/trajectories/import?namespace=bench/alfworld&format=alfworld-condensed&wait=true"


def run(file: Path, *, rounds: int, encoding: Encoding) -> dict[str, Any]:
    """Rates are medians over the rounds; `ratio` is the median of the rounds' own ratios, whose
    two sides were measured right after one another."""
    body = file.read_bytes()
    ours: list[float] = []
    alone: list[float] = []
    runs = texts = 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="memserver-ingest-") as folder:
            data = Path(folder) / "data"
            runs, seconds = _import(body, data)
            windows = encoding.texts_of(data)
        texts = len(windows)
        ours.append(runs / seconds)
        alone.append(runs / encoding.seconds(windows))
    return {
        "bench": "ingest",
        "runs": runs,
        "texts": texts,
        "rounds": rounds,
        "runs_per_s": round(statistics.median(ours), 1),
        "embedder_runs_per_s": round(statistics.median(alone), 1),
        "ratio": round(statistics.median(a / b for a, b in zip(ours, alone, strict=True)), 3),
        "ratios": [round(a / b, 3) for a, b in zip(ours, alone, strict=True)],
    }


def _import(body: bytes, data: Path) -> tuple[int, float]:
    """How many runs a fresh server took in, and in how many seconds they were searchable."""
    server = ServerProcess(default_command(), data)
    try:
        server.spawn()
        server.ready()
        with closing(Client(server.url, server.key)) as client:
            started = time.perf_counter()
            reply = client.post_raw(IMPORT, body)
            if reply.status not in (201, 202):
                raise Refused("the runs were not imported", reply)
            client.wait_until_searchable()
            seconds = time.perf_counter() - started
    finally:
        server.stop()
    return reply.json()["stored"], seconds


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The benchmark as `memserver-bench` runs it."""
    parser = argparse.ArgumentParser(prog="memserver-bench ingest", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="noted only: nothing is drawn")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the runs")
    given = parser.parse_args(arguments)
    file = given.data / RUNS
    if not file.exists():
        yield {"bench": "ingest", "skipped": f"{RUNS} is not in {given.data}", "seed": given.seed}
        return
    shared = provenance(seed=given.seed, data_sha256=sha256_of([file]))
    yield {**run(file, rounds=given.rounds, encoding=Encoding()), **shared}
