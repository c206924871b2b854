"""The command `memserver-bench NAME [options] --json`: finds the benchmark, prints its lines."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from memserver_bench import soak

Benchmark = Callable[[Sequence[str]], Iterable[Mapping[str, object]]]

BENCHMARKS: dict[str, Benchmark] = {"soak": soak.command}
"""Name → a function of the remaining arguments that yields one mapping a result line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one benchmark; results go to stdout as JSON lines, everything else to stderr."""
    known = ", ".join(sorted(BENCHMARKS)) or "none yet"
    parser = argparse.ArgumentParser(prog="memserver-bench", epilog=f"benchmarks: {known}")
    parser.add_argument("name", help="which benchmark to run")
    parser.add_argument("--json", action="store_true", help="compact JSON lines for machines")
    arguments, rest = parser.parse_known_args(argv)
    benchmark = BENCHMARKS.get(arguments.name)
    if benchmark is None:
        print(f"memserver-bench knows no {arguments.name!r}; it knows: {known}", file=sys.stderr)
        return 2
    for line in benchmark(rest):
        print(json.dumps(line, indent=None if arguments.json else 2), flush=True)
    return 0
