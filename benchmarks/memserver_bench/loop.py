"""`memserver-bench loop`: the whole loop on a server of its own, with a fleet of 16 agents.

Outcomes come in while the namespace explores; a policy is trained on them, proved, tried and
promoted; one that was made worse on purpose is refused, then forced, and taken back by the
guardrail.

Every step is a command that a user would type. Prints a line a phase.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memserver.domain.policy.folder import read_folder, write_folder
from memserver_bench.fleet import AGENTS, Ran, Report, tasks_of, work
from memserver_bench.latency import say
from memserver_bench.loop_picture import picture, table
from memserver_bench.provenance import provenance
from memserver_bench.soak_server import ServerProcess, default_command
from memserver_client import AsyncMemory
from memserver_trainers.worlds import CaseWorld

NAMESPACE = "team/agents"
TRAINED, HELD_OUT = "train", "test"


@dataclass(frozen=True)
class Loop:
    """How many runs each phase takes: `exploring` to learn from, `proving` to judge by. A canary
    and a guardrail take as many as they need, in stretches, but no more than `most`."""

    seed: int = 1
    before: int = 200
    exploring: int = 1_200
    proving: int = 1_700
    stretch: int = 100
    most: int = 1_500
    after: int = 200
    share: float = 0.3
    train: tuple[str, ...] = ()


@dataclass(frozen=True)
class Phase:
    """`line` is the result, `ran` the runs that it is about, in order."""

    name: str
    line: dict[str, Any]
    ran: tuple[Ran, ...] = ()


class Unexpected(Exception):
    """A step of the loop did not end as it should, so that what follows would mean nothing."""


class Walk:
    """One walk through the loop, on a running server."""

    def __init__(self, loop: Loop, server: ServerProcess, folder: Path) -> None:
        self._loop = loop
        self._server = server
        self._folder = folder
        self._world = CaseWorld(loop.seed)
        self._first = dict.fromkeys((TRAINED, HELD_OUT), 0)

    def phases(self) -> Iterator[Phase]:
        loop = self._loop
        yield self._phase("before", self._fleet(HELD_OUT, loop.before))
        self._say(
            "policy", "explore", *_in("--mode", "learning", "--temperature", "1", "--share", "1")
        )
        yield self._phase("exploring", self._fleet(TRAINED, loop.exploring))
        good = self._trained()
        bad = self._registered(self._worse(self._folder / "run" / "policy"))
        # What comes after the training is what proves.
        yield self._phase("exploring on", self._fleet(TRAINED, loop.proving))
        self._say("policy", "explore", *_in("--mode", "fixed"))
        yield Phase("evaluated", _brief(self._say("policy", "evaluate", good)))
        yield Phase("worse, evaluated", _brief(self._say("policy", "evaluate", bad)))
        yield Phase("worse, refused", {"refused": self._refused("policy", "canary", bad)})

        self._say("policy", "canary", good, "--share", str(loop.share))
        yield self._canary(good)
        yield self._phase("after", self._fleet(HELD_OUT, loop.after))

        self._say("policy", "promote", bad, "--override", "to see the guardrail at work")
        yield self._guardrail(bad, good)
        yield self._phase("demoted", self._fleet(HELD_OUT, loop.after))

        self._say("policy", "rollback", *_in("--reason", "to see the way back"))
        serves = self._status()["serves"]
        yield Phase("rolled back", {"serves": serves})
        if serves != "fixed-1":
            raise Unexpected(f"after a roll back {serves} serves")

    def _canary(self, policy: str) -> Phase:
        """Works until the server agrees to promote."""
        whole = Report()
        while len(whole.ran) < self._loop.most:
            _add(whole, self._fleet(HELD_OUT, self._loop.stretch))
            if self._try("policy", "promote", policy) is not None:
                return self._phase("canary", whole)
        raise Unexpected(f"after {len(whole.ran)} runs: {self._status()}")

    def _guardrail(self, bad: str, good: str) -> Phase:
        """Works until the server has taken the bad policy back."""
        whole = Report()
        while len(whole.ran) < self._loop.most:
            _add(whole, self._fleet(HELD_OUT, self._loop.stretch // 2))
            status = self._status()
            if status["serves"] == good:
                return self._phase("worse, forced", whole)
        raise Unexpected(f"the guardrail let {len(whole.ran)} runs pass under {bad}")

    # --- the steps, as a user would type them ---------------------------------------------

    def _trained(self) -> str:
        dataset, run = self._folder / "dataset", self._folder / "run"
        self._say("export", "decisions", *_in("-o", str(dataset)))
        trainer = Path(sys.executable).with_name("memserver-train")
        self._command(
            [
                *(str(trainer), "case-value", "--data", str(dataset), "--out", str(run)),
                *("--seed", str(self._loop.seed), *self._loop.train, "--json"),
            ]
        )
        return self._registered(run / "policy")

    def _registered(self, folder: Path) -> str:
        moved = self._say("policy", "register", str(folder), *_in())
        found: str = moved["policy"]["id"]
        return found

    def _worse(self, folder: Path) -> Path:
        """The same policy, which now prefers what it held to be of no use."""
        policy = read_folder(folder)
        turned = {
            name: -tensor if name in ("feature_weight", "query_map", "cosine_weight") else tensor
            for name, tensor in policy.tensors().items()
        }
        place = self._folder / "worse"
        write_folder(place, replace(policy.manifest, weights_sha256=""), turned)
        return place

    def _fleet(self, split: str, runs: int) -> Report:
        first = self._first[split]
        self._first[split] += runs
        tasks = tasks_of(self._world, split, first=first, runs=runs)

        async def all_of_it() -> Report:
            async with AsyncMemory(self._server.url, self._server.key, timeout=120) as memory:
                return await work(
                    memory,
                    self._world,
                    tasks,
                    namespace=NAMESPACE,
                    agents=AGENTS,
                    seed=self._loop.seed + first,
                )

        return asyncio.run(all_of_it())

    def _status(self) -> dict[str, Any]:
        return self._say("policy", "status", *_in())

    def _say(self, *words: str) -> dict[str, Any]:
        found = self._try(*words)
        if found is None:
            raise Unexpected(f"memserver {' '.join(words)} was refused")
        return found

    def _refused(self, *words: str) -> str:
        ran = self._memserver(*words)
        if ran.returncode == 0:
            raise Unexpected(f"memserver {' '.join(words)} was not refused")
        return ran.stderr.strip()

    def _try(self, *words: str) -> dict[str, Any] | None:
        """What the command printed, None where the server refused."""
        ran = self._memserver(*words)
        if ran.returncode == 1:
            say(ran.stderr.strip())
            return None
        if ran.returncode != 0:
            raise Unexpected(f"memserver {' '.join(words)}: {ran.stderr[-500:]}")
        found: dict[str, Any] = json.loads(ran.stdout)
        return found

    def _memserver(self, *words: str) -> "subprocess.CompletedProcess[str]":
        named = {"MEMSERVER_URL": self._server.url, "MEMSERVER_API_KEY": self._server.key}
        return subprocess.run(
            [*default_command(), *words, "--json"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **named},
        )

    @staticmethod
    def _command(words: Sequence[str]) -> None:
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise Unexpected(f"{' '.join(words)}: {ran.stderr[-800:]}")
        say(ran.stdout.strip())

    @staticmethod
    def _phase(name: str, report: Report) -> Phase:
        if report.errors:
            raise Unexpected(f"{name}: {len(report.errors)} runs failed: {report.errors[0]}")
        line = {key: value for key, value in report.line().items() if key != "bench"}
        return Phase(name, line, tuple(report.ran))


def _in(*more: str) -> tuple[str, ...]:
    return ("--namespace", NAMESPACE, *more)


def _add(whole: Report, part: Report) -> None:
    whole.ran += part.ran
    whole.errors += part.errors
    whole.seconds += part.seconds


def _brief(evaluation: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("decisions", "ess", "support", "difference", "reward_model", "refusal")
    return {key: evaluation[key] for key in keys}


def run(loop: Loop, folder: Path, *, command: Sequence[str] | None = None) -> Iterator[Phase]:
    """Walks through the loop on a server whose data lies in `folder`."""
    server = ServerProcess(command or default_command(), folder / "data")
    os.environ.setdefault("MEMSERVER_HOUSEKEEPING_S", "1")
    try:
        server.spawn()
        server.ready()
        yield from Walk(loop, server, folder).phases()
    finally:
        server.stop()


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The benchmark as `memserver-bench` runs it."""
    parser = argparse.ArgumentParser(prog="memserver-bench loop", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="which world")
    parser.add_argument("--exploring", type=int, default=Loop.exploring, help="runs to learn from")
    parser.add_argument("--proving", type=int, default=Loop.proving, help="runs to judge by")
    parser.add_argument("--picture", type=Path, default=None, help="an SVG of the success rate")
    given = parser.parse_args(arguments)
    loop = Loop(seed=given.seed, exploring=given.exploring, proving=given.proving)
    phases: list[Phase] = []
    with tempfile.TemporaryDirectory(prefix="memserver-loop-") as folder:
        for phase in run(loop, Path(folder)):
            phases.append(phase)
            say(f"{phase.name}: {phase.line}")
            yield {"bench": "loop", "phase": phase.name, **phase.line, **provenance(seed=loop.seed)}
    stretches = [(phase.name, phase.ran) for phase in phases if phase.ran]
    say(table(stretches))
    if given.picture is not None:
        given.picture.write_text(picture(stretches))
