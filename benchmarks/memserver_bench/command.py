"""The command `memserver-bench NAME [options] --json`: finds the benchmark, prints its lines."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from memserver_bench import (
    export,
    fleet,
    ingest,
    latency,
    learned,
    locomo,
    loop,
    smoke,
    soak,
    stream,
    worlds,
)
from memserver_bench.distill import command as distill
from memserver_bench.trust import command as trust

Benchmark = Callable[[Sequence[str]], Iterable[Mapping[str, object]]]

BENCHMARKS: dict[str, Benchmark] = {
    "distill": distill.command,
    "export": export.command,
    "fleet": fleet.command,
    "ingest": ingest.command,
    "latency": latency.command,
    "learned": learned.command,
    "locomo": locomo.command,
    "loop": loop.command,
    "smoke": smoke.command,
    "soak": soak.command,
    "stream": stream.command,
    "trust": trust.command,
    "worlds": worlds.command,
}
"""Name → a function of the remaining arguments that yields one mapping a result line."""

ALL = ("ingest", "latency", "learned", "worlds", "loop")
"""What `all` runs: each that ends within an hour; `smoke` is made of the same parts."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one benchmark; results go to stdout as JSON lines, everything else to stderr."""
    known = ", ".join([*sorted(BENCHMARKS), "all"])
    parser = argparse.ArgumentParser(prog="memserver-bench", epilog=f"benchmarks: {known}")
    parser.add_argument("name", help="which benchmark to run")
    parser.add_argument("--json", action="store_true", help="compact JSON lines for machines")
    arguments, rest = parser.parse_known_args(argv)
    names = ALL if arguments.name == "all" else (arguments.name,)
    if not BENCHMARKS.keys() >= set(names):
        print(f"memserver-bench knows no {arguments.name!r}; it knows: {known}", file=sys.stderr)
        return 2
    for name in names:
        for line in BENCHMARKS[name](rest):
            print(json.dumps(line, indent=None if arguments.json else 2), flush=True)
    return 0
