"""`memserver-bench latency`: how long a retrieve over HTTP takes, beside the floor under it.

Queries go to the server and to the floor in turns, so that both see the same noise; each query
is new to both. Prints a line a size.
"""

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from memserver_bench.floor import Cost, Encoding, Floor, namespace_numbers
from memserver_bench.material import DATA, Material, material, memories, questions
from memserver_bench.provenance import provenance
from memserver_bench.soak_server import ServerProcess, default_command
from memserver_bench.talking import Client, Refused

AGENTS = 64
LOADERS = 16
WARM_UP = 40


@dataclass(frozen=True)
class Latency:
    """`size` items in `namespaces` namespaces; `queries` are timed one by one, then as many as
    fit into `busy_s` seconds are asked by one agent and by 64."""

    size: int = 10_000
    namespaces: int = 10
    queries: int = 400
    busy_s: float = 5.0
    seed: int = 0

    def namespace(self, number: int) -> str:
        return f"bench/agent-{number % self.namespaces}"


@dataclass(frozen=True)
class Timed:
    """Seconds of each query: over HTTP, and the floor's cost of the same one."""

    http: tuple[float, ...]
    floor: tuple[Cost, ...]

    def line(self) -> dict[str, Any]:
        """In milliseconds. `beyond_embedding` is the median, over the queries, of what HTTP
        took more than the floor's embedding of the same query."""
        floors = [cost.embedding + cost.engine for cost in self.floor]
        pairs = zip(self.http, self.floor, strict=True)
        beyond = [seconds - cost.embedding for seconds, cost in pairs]
        p50, floor = percentile(self.http, 50), percentile(floors, 50)
        return {
            "queries": len(self.http),
            "p50": _ms(p50),
            "p95": _ms(percentile(self.http, 95)),
            "p99": _ms(percentile(self.http, 99)),
            "floor": _ms(floor),
            "floor_p95": _ms(percentile(floors, 95)),
            "p50_over_floor": round(p50 / floor, 3),
            "embedding": _ms(statistics.median(cost.embedding for cost in self.floor)),
            "engine": _ms(statistics.median(cost.engine for cost in self.floor)),
            "beyond_embedding": _ms(statistics.median(beyond)),
        }


def run(latency: Latency, of: Material, folder: Path) -> dict[str, Any]:
    """Fills a server in `folder` (or uses what an equal run left there) and measures it."""
    data = folder / "data"
    server = ServerProcess(default_command(), data)
    try:
        fill(server, latency, of, folder)
        server.stop()
        copy = folder / "floor-index"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(data / "index", copy)
        start(server)
        asked = questions(of, random.Random(f"{latency.seed} questions"))
        with (
            closing(Floor(Encoding(), copy, namespace_numbers(data))) as floor,
            closing(Client(server.url, server.key)) as client,
        ):
            _timed(client, floor, latency, list(islice(asked, WARM_UP)))
            timed = _timed(client, floor, latency, list(islice(asked, latency.queries)))
        one, errors_one = _throughput(server, latency, asked, agents=1)
        many, errors_many = _throughput(server, latency, asked, agents=AGENTS)
    finally:
        server.stop()
    return {
        "bench": "latency",
        "size": latency.size,
        "namespaces": latency.namespaces,
        **timed.line(),
        "throughput_1": round(one, 1),
        "throughput_64": round(many, 1),
        "throughput_64_over_1": round(many / one, 2),
        "errors": errors_one + errors_many,
    }


def start(server: ServerProcess) -> None:
    server.spawn()
    server.ready()


def fill(server: ServerProcess, latency: Latency, of: Material, folder: Path) -> None:
    """Stores the memories, sixteen at a time, and waits until all are searchable. The note that
    it leaves holds the server's first key, which is said only once."""
    note = folder / "filled.json"
    wanted = {"size": latency.size, "namespaces": latency.namespaces, "seed": latency.seed}
    left = json.loads(note.read_text()) if note.exists() else {}
    if left.get("filled") == wanted:
        server.key = left["key"]
        return
    start(server)
    bodies = memories(of, latency.size, random.Random(f"{latency.seed} memories"))
    started = time.monotonic()
    waiting = threading.local()

    def store(numbered: tuple[int, dict[str, Any]]) -> None:
        number, body = numbered
        if not hasattr(waiting, "client"):
            waiting.client = Client(server.url, server.key)
        named = {"namespace": latency.namespace(number), **body}
        reply = waiting.client.post("/v1/memories?wait=false", named)
        if reply.status not in (201, 202):
            raise Refused("a memory was not stored", reply)

    with ThreadPoolExecutor(LOADERS) as pool:
        for done, _ in enumerate(pool.map(store, enumerate(bodies)), 1):
            if done % 1000 == 0:
                say(f"{done} stored after {time.monotonic() - started:.0f} s")
    with closing(Client(server.url, server.key)) as client:
        client.wait_until_searchable()
    say(f"{latency.size} searchable after {time.monotonic() - started:.0f} s")
    note.write_text(json.dumps({"filled": wanted, "key": server.key}))


def _timed(client: Client, floor: Floor, latency: Latency, asked: Sequence[str]) -> Timed:
    """Every query to both sides; who comes first changes with each."""
    http: list[float] = []
    costs: list[Cost] = []
    for number, query in enumerate(asked):
        namespace = latency.namespace(number)
        if number % 2:
            costs.append(floor.ask(query, namespace))
        reply = client.post("/v1/retrieve", {"query": query, "namespace": namespace})
        if reply.status != 200 or not reply.json()["items"]:
            raise Refused(f"nothing was retrieved for {query!r}", reply)
        http.append(reply.seconds)
        if not number % 2:
            costs.append(floor.ask(query, namespace))
    return Timed(tuple(http), tuple(costs))


def _throughput(
    server: ServerProcess, latency: Latency, asked: Iterator[str], *, agents: int
) -> tuple[float, int]:
    """Answered queries a second of so many agents at once, and how many failed."""
    queries = [list(islice(asked, max(60, 1500 // agents))) for _ in range(agents)]
    ends = time.monotonic() + latency.busy_s

    def agent(number: int) -> list[bool]:
        answered = []
        with closing(Client(server.url, server.key)) as client:
            for query in queries[number]:
                if time.monotonic() > ends:
                    break
                body = {"query": query, "namespace": latency.namespace(number)}
                answered.append(client.post("/v1/retrieve", body).status == 200)
        return answered

    started = time.monotonic()
    with ThreadPoolExecutor(agents) as pool:
        answers = [answer for each in pool.map(agent, range(agents)) for answer in each]
    return sum(answers) / (time.monotonic() - started), answers.count(False)


def say(text: str) -> None:
    """Progress for people; results alone go to stdout."""
    print(text, file=sys.stderr, flush=True)


def percentile(values: Sequence[float], percent: int) -> float:
    """The nearest-rank percentile: a value that was really measured."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The benchmark as `memserver-bench` runs it."""
    parser = argparse.ArgumentParser(prog="memserver-bench latency", description=__doc__)
    parser.add_argument("--sizes", default="10000", help="numbers of items, with commas")
    parser.add_argument("--queries", type=int, default=Latency.queries)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the texts")
    parser.add_argument("--keep", type=Path, default=None, help="keep the filled servers here")
    given = parser.parse_args(arguments)
    of = material(given.data)
    for size in map(int, given.sizes.split(",")):
        latency = Latency(size=size, queries=given.queries, seed=given.seed)
        shared = provenance(seed=given.seed, data_sha256=of.data_sha256)
        if given.keep is not None:
            folder = given.keep / str(size)
            folder.mkdir(parents=True, exist_ok=True)
            yield {**run(latency, of, folder), **shared}
            continue
        with tempfile.TemporaryDirectory(prefix="memserver-latency-") as folder_name:
            yield {**run(latency, of, Path(folder_name)), **shared}
