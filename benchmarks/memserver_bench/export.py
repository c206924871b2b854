"""`memserver-bench export`: made-up decisions through the server's row maker and the command
line's writers, as JSON lines and as Parquet: how many a second, and that memory does not grow with
their number. No server and no network: what is left is what every exported row costs."""

import argparse
import gc
import hashlib
import random
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from memserver.cli.row_files import Format, open_rows
from memserver.domain.decisions import Considered, Decision
from memserver.domain.policy.features import KINDS, SCHEMA_VERSION, Features
from memserver.domain.scope import Namespace
from memserver.services.exporting.decisions import decision_row
from memserver.services.exporting.lines import line_of
from memserver.services.exporting.rewards import Rewarded
from memserver.services.exporting.splits import group_of_goal
from memserver.services.exporting.wording import REDACTED
from memserver_bench.provenance import provenance

PATTERNS = 64
"""Different queries, vectors and lists of candidates, taken in turn: making new ones for each row
would be measured too."""
SAMPLED_EVERY_S = 0.05
START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Shape:
    """How large a row is."""

    candidates: int
    dimension: int


def run(rows: int, *, shape: Shape, seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    for format in Format:
        yield _written(rows, format, shape=shape, seed=seed, folder=folder)


def _written(rows: int, format: Format, *, shape: Shape, seed: int, folder: Path) -> dict[str, Any]:
    path = folder / f"decisions.{format}"
    decisions = _decisions(rows, shape, random.Random(seed))
    digest = hashlib.sha256()
    size = 0
    # One row before the clock starts: what is loaded for a format is no cost of a row.
    with closing(open_rows(folder / "first", format, "decisions")) as first:
        _write_all(first, _decisions(1, shape, random.Random(seed)), hashlib.sha256())
    with Growth() as growth:
        started = time.perf_counter()
        with closing(open_rows(path, format, "decisions")) as file:
            size = _write_all(file, decisions, digest)
        seconds = time.perf_counter() - started
    line = {
        "bench": "export",
        "format": format.value,
        "rows": rows,
        "candidates": shape.candidates,
        "dimension": shape.dimension,
        "rows_per_s": round(rows / seconds, 1),
        "seconds": round(seconds, 1),
        "peak_growth_mb": round(growth.peak / 1e6, 1),
        "json_mb": round(size / 1e6, 1),
        "file_mb": round(path.stat().st_size / 1e6, 1),
        "sha256": digest.hexdigest(),
    }
    path.unlink()
    return line


def _write_all(file: Any, decisions: Iterator[tuple[Decision, Rewarded]], digest: Any) -> int:
    """As the server and the command line together: a row, its line, its hash, the file."""
    size = 0
    for decision, came in decisions:
        row = dict(decision_row(decision, came, REDACTED))
        line = line_of(row)
        digest.update(line)
        file.write(row, line)
        size += len(line)
    return size


def _decisions(rows: int, shape: Shape, rng: random.Random) -> Iterator[tuple[Decision, Rewarded]]:
    tenant = UUID(int=rng.getrandbits(128))
    namespaces = (Namespace(1, tenant, "bench/export"),)
    queries = [
        f"put the {rng.choice(KINDS)} {n} for ada{n}@example.org away" for n in range(PATTERNS)
    ]
    groups = [group_of_goal(query) for query in queries]
    vectors = [
        np.random.default_rng(rng.getrandbits(32))
        .normal(size=shape.dimension)
        .astype("<f4")
        .tobytes()
        for _ in range(PATTERNS)
    ]
    offered = [_candidates(shape.candidates, rng) for _ in range(PATTERNS)]
    credits = [{offers[0].id: 1.0} for offers in offered]
    for number in range(rows):
        at = number % PATTERNS
        decision = Decision(
            id=UUID(int=rng.getrandbits(128)),
            tenant=tenant,
            namespaces=namespaces,
            verb="retrieve",
            query=queries[at],
            task_type="heat",
            trajectory_id=UUID(int=rng.getrandbits(128)),
            schema=SCHEMA_VERSION,
            policy="fixed-1",
            candidates=offered[at],
            created_at=START + timedelta(seconds=number),
            encoder="bench",
            query_vector=vectors[at],
        )
        score = float(number % 3 == 0)
        rewards = {"outcome": score, "environment": score}
        yield decision, Rewarded(rewards, credits[at], groups[at])


def _candidates(number: int, rng: random.Random) -> tuple[Considered, ...]:
    return tuple(
        Considered(
            id=UUID(int=rng.getrandbits(128)),
            features=tuple(
                Features(
                    dense_rank=rank,
                    dense_score=rng.random(),
                    cosine=rng.random(),
                    belief_mean=rng.random(),
                    belief_lower=rng.random() / 2,
                    belief_outcomes=rng.randrange(20),
                    age_days=rng.expovariate(0.1),
                    days_since_use=rng.expovariate(0.5),
                    length_tokens=rng.randrange(20, 200),
                    kind=rng.choice(KINDS),
                )
                .vector()
                .tolist()
            ),
            rank=rank,
            packed=rank <= 5,
            score=rng.gauss(0, 1),
            slot="policy",
        )
        for rank in range(1, number + 1)
    )


class Growth:
    """How much more memory this process took than at the start, at its most, in bytes. Linux."""

    def __init__(self) -> None:
        self.peak = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Growth":
        gc.collect()
        self._start = _resident()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLED_EVERY_S):
            self.peak = max(self.peak, _resident() - self._start)


def _resident() -> int:
    status = Path("/proc/self/status").read_text()
    [line] = [each for each in status.splitlines() if each.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The benchmark as `memserver-bench` runs it."""
    parser = argparse.ArgumentParser(prog="memserver-bench export", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--candidates", type=int, default=10, help="of each decision")
    parser.add_argument("--dimension", type=int, default=384, help="of the queries' vectors")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=None, help="where to write meanwhile")
    given = parser.parse_args(arguments)
    shape = Shape(given.candidates, given.dimension)
    with tempfile.TemporaryDirectory(prefix="memserver-export-", dir=given.folder) as folder:
        for line in run(given.rows, shape=shape, seed=given.seed, folder=Path(folder)):
            yield {**line, **provenance(seed=given.seed)}
