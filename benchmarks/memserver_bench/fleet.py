"""`memserver-bench fleet`: agents that do CaseWorld's tasks with what a memserver gives them, and
say how it went. Everything goes through the client: they stand for your agents.

Each asks for one case, uses it, and stores its run with the outcome. Prints one line.
"""

import argparse
import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import numpy as np

from memserver_bench.provenance import provenance
from memserver_client import AsyncMemory, NewTrajectory
from memserver_trainers.worlds import Case, CaseWorld, Task

AGENTS = 16
TOPICS_OF = {"train": 2, "test": 2}
"""Topics that the fleet works on. Memory has cases of two skills for each, of which the nearest
mostly is of the wrong one; one that fits is always to be had, from another topic."""

DISTINCT = 4_000
"""Tasks that are told apart, before those about other topics are left out."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One run: which policy served it, whether it was explored, how it went."""

    policy: str
    explored: bool
    score: float


@dataclass
class Report:
    """What a fleet went through, in the order in which runs ended."""

    ran: list[Ran] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def success(self) -> float:
        return sum(run.score for run in self.ran) / max(len(self.ran), 1)

    def by_policy(self) -> dict[str, dict[str, float]]:
        names = dict.fromkeys(run.policy for run in self.ran)
        found = {}
        for name in names:
            scores = [run.score for run in self.ran if run.policy == name]
            found[name] = {"runs": len(scores), "success": round(sum(scores) / len(scores), 4)}
        return found

    def line(self) -> dict[str, Any]:
        return {
            "bench": "fleet",
            "runs": len(self.ran),
            "success": round(self.success, 4),
            "by_policy": self.by_policy(),
            "explored": sum(run.explored for run in self.ran),
            "errors": len(self.errors),
            "first_error": self.errors[0] if self.errors else None,
            "seconds": round(self.seconds, 1),
        }


async def remember(memory: AsyncMemory, world: CaseWorld, namespace: str) -> dict[UUID, str]:
    """Stores the world's cases, where they are not there already: item version → case."""
    stored = {}
    for case in cases_of(world):
        receipt = await memory.remember(
            case.text,
            namespace=namespace,
            kind="note",
            title=case.text,
            metadata={"case": case.id},
        )
        stored[receipt.version_id] = case.id
    return stored


async def work(
    memory: AsyncMemory,
    world: CaseWorld,
    tasks: Sequence[Task],
    *,
    namespace: str,
    agents: int = AGENTS,
    seed: int = 0,
) -> Report:
    """Does the tasks, `agents` at a time. A request that fails is reported and ends its run."""
    cases = await remember(memory, world, namespace)
    waiting = iter(enumerate(tasks))
    report = Report()
    started = time.monotonic()

    async def agent() -> None:
        for number, task in waiting:
            try:
                report.ran.append(
                    await _do(memory, world, task, cases, namespace, rng=_rng(seed, number))
                )
            except Exception as error:
                report.errors.append(f"{type(error).__name__}: {error}"[:300])

    await asyncio.gather(*(agent() for _ in range(agents)))
    report.seconds = time.monotonic() - started
    return report


async def _do(
    memory: AsyncMemory,
    world: CaseWorld,
    task: Task,
    cases: Mapping[UUID, str],
    namespace: str,
    *,
    rng: np.random.Generator,
) -> Ran:
    run_id = uuid4()
    found = await memory.retrieve(task.text, namespace=namespace, k=1, trajectory_id=run_id)
    taken = found.items[0].version_id if found.items else None
    score = world.outcome(task, None if taken is None else cases[taken], rng)
    await memory.add_trajectory(
        NewTrajectory.model_validate(
            {
                "id": run_id,
                "namespace": namespace,
                "task": {"goal": task.text},
                "steps": [{"action": "try the case"}],
                "outcome": {"score": score, "success": score >= 0.5, "source": "environment"},
                "used": [] if taken is None else [taken],
            }
        )
    )
    return Ran(found.policy, found.explored, score)


def _rng(seed: int, number: int) -> np.random.Generator:
    return np.random.default_rng((seed, number))


def cases_of(world: CaseWorld) -> tuple[Case, ...]:
    """One case for each skill of each topic that the fleet works on."""
    topics = {topic for split in TOPICS_OF for topic in topics_of(world, split)}
    kept: dict[tuple[str, str], Case] = {}
    for case in world.cases():
        if case.topic in topics:
            kept.setdefault((case.topic, case.skill), case)
    return tuple(kept.values())


def tasks_of(world: CaseWorld, split: str, *, first: int, runs: int) -> tuple[Task, ...]:
    """`runs` tasks about the fleet's topics of this split, from number `first` on; after the last
    of them the first comes again."""
    topics = topics_of(world, split)
    tasks = [task for task in world.tasks(split, DISTINCT) if task.topic in topics]
    return tuple(tasks[(first + number) % len(tasks)] for number in range(runs))


def topics_of(world: CaseWorld, split: str) -> tuple[str, ...]:
    found = dict.fromkeys(task.topic for task in world.tasks(split, 300))
    return tuple(found)[: TOPICS_OF[split]]


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The fleet as `memserver-bench` runs it."""
    parser = argparse.ArgumentParser(prog="memserver-bench fleet", description=__doc__)
    parser.add_argument("--namespace", default="team/agents")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--split", choices=tuple(TOPICS_OF), default="test")
    parser.add_argument("--first", type=int, default=0, help="number of the first task")
    parser.add_argument("--agents", type=int, default=AGENTS)
    parser.add_argument("--seed", type=int, default=1, help="which world")
    parser.add_argument("--url", default=None, help="else MEMSERVER_URL")
    parser.add_argument("--api-key", default=None, help="else MEMSERVER_API_KEY")
    given = parser.parse_args(arguments)
    world = CaseWorld(given.seed)
    tasks = tasks_of(world, given.split, first=given.first, runs=given.runs)

    async def all_of_it() -> Report:
        async with AsyncMemory(given.url, given.api_key) as memory:
            return await work(
                memory,
                world,
                tasks,
                namespace=given.namespace,
                agents=given.agents,
                seed=given.first + 1,
            )

    yield {**asyncio.run(all_of_it()).line(), **provenance(seed=given.seed)}
