"""`memserver-bench soak`: kills a server with SIGKILL again and again while it is written to, and
counts what was lost. Every number that it reports under `lost`, `orphans` and
`stuck_operations` must be 0."""

import argparse
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memserver_bench.soak_checks import Findings, check
from memserver_bench.soak_load import Ledger, Operator, Writer
from memserver_bench.soak_server import Caller, ServerProcess, default_command

STARTS_KILLED = 0.2
"""The share of kills that hit a server which is still starting, and perhaps recovering."""


@dataclass(frozen=True)
class Soak:
    """`rounds` kills, or as many as fit into `minutes`; on average one each `kill_every`
    seconds that the server is up."""

    minutes: float = 1.0
    kill_every: float = 3.0
    seed: int = 0
    rounds: int | None = None
    writers: int = 3
    command: Sequence[str] = field(default_factory=default_command)


@dataclass(frozen=True)
class Tally:
    """What happened, and what was found at the end."""

    ledger: Ledger
    findings: Findings
    kills: int
    seconds: float
    server_errors: tuple[str, ...]

    @property
    def passed(self) -> bool:
        found = self.findings
        return not (
            found.lost
            or found.unsearchable
            or found.repeated
            or found.orphans
            or found.unindexed
            or found.stuck_operations
            or found.failures
            or self.ledger.refused
            or self.server_errors
        )

    def line(self) -> dict[str, Any]:
        found = self.findings
        return {
            "benchmark": "soak",
            "acknowledged": len(self.ledger.writes),
            "lost": len({*found.lost, *found.unsearchable}),
            "unsearchable": len(found.unsearchable),
            "repeated": found.repeated,
            "orphans": found.orphans,
            "unindexed": found.unindexed,
            "stuck_operations": found.stuck_operations,
            "operations": found.operations,
            "failed_operations": list(found.failures[:5]),
            "cancelled": self.ledger.cancelled,
            "undone": self.ledger.undone,
            "refused": self.ledger.refused[:5],
            "server_errors": list(self.server_errors[:5]),
            "kills": self.kills,
            "seconds": round(self.seconds, 1),
            "passed": self.passed,
        }


def run(soak: Soak, data: Path) -> Tally:
    """Starts a server on the empty folder `data`, soaks it, and checks what is left."""
    started = time.monotonic()
    server = ServerProcess(soak.command, data)
    ledger = Ledger()
    with ExitStack() as stack:
        stack.callback(server.kill)
        callers = [stack.enter_context(closing(Caller(server))) for _ in range(soak.writers + 2)]
        auditor, operator, *writers = callers
        work = [Operator(operator, ledger, random.Random(f"{soak.seed} operator")).work]
        work += [
            Writer(caller, ledger, random.Random(f"{soak.seed} writer {number}")).work
            for number, caller in enumerate(writers)
        ]
        server.spawn()
        server.ready()
        with Crew(work) as crew:
            kills = _kill_now_and_then(
                server, soak, random.Random(f"{soak.seed} kills"), crew.failures
            )
        findings = check(auditor, ledger)
    errors = tuple(line for caller in callers for line in caller.server_errors)
    return Tally(ledger, findings, kills, time.monotonic() - started, errors)


class Crew:
    """Threads that work while the block runs. Raises what one of them raised."""

    def __init__(self, work: Sequence[Callable[[threading.Event], None]]) -> None:
        self.failures: list[BaseException] = []
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._guarded, args=(each,), daemon=True) for each in work
        ]

    def __enter__(self) -> "Crew":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stopping.set()
        if kind is None:
            for thread in self._threads:
                thread.join()
            if self.failures:
                raise self.failures[0]

    def _guarded(self, work: Callable[[threading.Event], None]) -> None:
        try:
            work(self._stopping)
        except BaseException as error:
            self.failures.append(error)


def _kill_now_and_then(
    server: ServerProcess, soak: Soak, rng: random.Random, failures: Sequence[BaseException]
) -> int:
    """Leaves the server running, and gives the number of kills."""
    deadline = time.monotonic() + soak.minutes * 60
    kills = 0
    while not failures and (
        kills < soak.rounds if soak.rounds is not None else time.monotonic() < deadline
    ):
        time.sleep(rng.uniform(0.2, 1.8) * soak.kill_every)
        server.kill()
        kills += 1
        print(f"kill {kills}", file=sys.stderr, flush=True)
        server.spawn()
        if rng.random() < STARTS_KILLED:
            time.sleep(rng.uniform(0.1, 1.0) * soak.kill_every)
            server.kill()
            kills += 1
            server.spawn()
        server.ready()
    return kills


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The benchmark as `memserver-bench` runs it."""
    parser = argparse.ArgumentParser(prog="memserver-bench soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--kill-every", type=float, default=3.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=None, help="kills, instead of --minutes")
    parser.add_argument("--keep", type=Path, default=None, help="keep the server's data here")
    given = parser.parse_args(arguments)
    soak = Soak(
        minutes=given.minutes, kill_every=given.kill_every, seed=given.seed, rounds=given.rounds
    )
    folder = given.keep or Path(tempfile.mkdtemp(prefix="memserver-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    yield run(soak, folder / "data").line()
    if given.keep is None:
        shutil.rmtree(folder)
