"""`memserver-bench learned`: what a learned policy costs a retrieve, beside the built-in one.

Of equal namespaces on one server every second one gets a learned policy, and queries go to them in
turns, so that both see the same noise. Prints one line, with the time that the policy needs to rank
200 candidates by itself.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.features import NAMES, SCHEMA_VERSION
from memserver.domain.policy.folder import Manifest, write_folder
from memserver.domain.policy.sampling import draw
from memserver.domain.policy.scorer import CASE_VALUE, Scorer, make_scorer
from memserver_bench.latency import WARM_UP, Latency, fill, percentile, say, start
from memserver_bench.material import DATA, Material, material, questions
from memserver_bench.provenance import provenance
from memserver_bench.soak_server import ServerProcess, default_command
from memserver_bench.talking import Client, Refused
from memserver_client import Memory

RANK = 16
CANDIDATES = 200
TIMES = 300
Tensors = dict[str, npt.NDArray[np.float32]]


def run(latency: Latency, of: Material, folder: Path) -> dict[str, Any]:
    server = ServerProcess(default_command(), folder / "data")
    try:
        fill(server, latency, of, folder)
        server.stop()
        start(server)
        asked = questions(of, Random(f"{latency.seed} learned"))
        tensors = made_up(384, latency.seed)
        serve_in_every_second(server, latency, tensors, folder)
        with closing(Client(server.url, server.key)) as client:
            timed(client, latency, list(islice(asked, 2 * WARM_UP)))
            fixed, learned = timed(client, latency, list(islice(asked, latency.queries)))
    finally:
        server.stop()
    return {
        "bench": "learned",
        "size": latency.size,
        "queries": latency.queries,
        "p50_fixed": _ms(percentile(fixed, 50)),
        "p50_learned": _ms(percentile(learned, 50)),
        "p95_fixed": _ms(percentile(fixed, 95)),
        "p95_learned": _ms(percentile(learned, 95)),
        "p50_learned_over_fixed": round(percentile(learned, 50) / percentile(fixed, 50), 3),
        "rank_200_ms": _ms(ranking_seconds(make_scorer(CASE_VALUE, tensors), latency.seed)),
    }


def timed(
    client: Client, latency: Latency, asked: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Seconds of each query, by the built-in policy and by the learned one. Each answer must
    name the policy that its namespace should have."""
    fixed: list[float] = []
    learned: list[float] = []
    for number, query in enumerate(asked):
        body = {"query": query, "namespace": latency.namespace(number)}
        reply = client.post("/v1/retrieve", body)
        found = reply.json() if reply.status == 200 else {}
        if not found.get("items") or (found["policy"] == "fixed-1") != bool(number % 2):
            raise Refused(f"{query!r} was not answered by the policy that it is about", reply)
        (fixed if number % 2 else learned).append(reply.seconds)
    return fixed, learned


def serve_in_every_second(
    server: ServerProcess, latency: Latency, tensors: Tensors, folder: Path
) -> None:
    with Memory(server.url, server.key, timeout=120) as memory:
        found = memory.retrieve("which encoder", namespace=latency.namespace(0))
        encoder = memory.decision(found.retrieval_id).encoder
        policy = folder / "policy"
        if not policy.exists():
            write_folder(policy, _manifest(encoder, latency.seed), tensors)
        for number in range(0, latency.namespaces, 2):
            moved = memory.register_policy(policy, namespace=latency.namespace(number))
            memory.promote_policy(moved.policy.id, override="to measure what it costs")


def made_up(dimension: int, seed: int) -> Tensors:
    """Weights of no meaning and the usual size."""
    rng = np.random.default_rng(seed)
    shapes = {
        "feature_mean": (len(NAMES),),
        "feature_weight": (len(NAMES),),
        "query_map": (RANK, dimension),
        "item_map": (RANK, dimension),
        "cosine_weight": (1,),
        "bias": (1,),
    }
    tensors = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return {**tensors, "feature_scale": np.ones(len(NAMES), np.float32)}


def ranking_seconds(scorer: Scorer, seed: int) -> float:
    """The median time for scores and ten places of 200 candidates."""
    rng = np.random.default_rng(seed)
    query = rng.normal(size=384).astype(np.float32)
    items = rng.normal(size=(CANDIDATES, 384)).astype(np.float32)
    features = rng.normal(size=(CANDIDATES, len(NAMES))).astype(np.float32)
    seconds = []
    for number in range(TIMES):
        started = time.perf_counter()
        logits = scorer.logits(query, items, features)
        draw(logits, 10, temperature=0.0, exposure_slots=0, seed=UUID(int=number))
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def _manifest(encoder: str, seed: int) -> Manifest:
    return Manifest(
        kind=CASE_VALUE,
        feature_schema=SCHEMA_VERSION,
        feature_names=NAMES,
        encoder=encoder,
        dimension=384,
        dataset_sha256="",
        config_sha256="",
        config={},
        metrics={},
        evaluation=None,
        seed=seed,
        created_at="2026-01-01T00:00:00+00:00",
    )


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The benchmark as `memserver-bench` runs it."""
    parser = argparse.ArgumentParser(prog="memserver-bench learned", description=__doc__)
    parser.add_argument("--size", type=int, default=10_000, help="number of items")
    parser.add_argument("--queries", type=int, default=Latency.queries)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the texts")
    parser.add_argument("--keep", type=Path, default=None, help="keep the filled server here")
    given = parser.parse_args(arguments)
    of = material(given.data)
    latency = Latency(size=given.size, queries=given.queries, seed=given.seed)
    shared = provenance(seed=given.seed, data_sha256=of.data_sha256)
    with tempfile.TemporaryDirectory(prefix="memserver-learned-") as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        say(f"filling {given.size} items in {folder}")
        yield {**run(latency, of, folder), **shared}
