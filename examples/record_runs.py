"""Record the runs that `make demo` imports, by playing ScienceWorld without a language model.

Needs `pip install scienceworld` and Java 8 or newer; neither is needed to run the demo itself.
Nothing here is invented: every observation, reward and score is what the simulator answered.
The simulator draws from one stream of random numbers a process, so only a whole recording can be
repeated, not one run of it.
"""

import argparse
import gzip
import json
import random
import re
import sys
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import scienceworld  # type: ignore[import-untyped, import-not-found, unused-ignore]
from scienceworld_agents import (
    PERTURBATIONS,
    Agent,
    Perturbation,
    ScriptAgent,
    WordMatchAgent,
    perturbed,
)

# Ten of ScienceWorld's thirty families; examples/README.md says by which rule.
FAMILIES = (
    "use-thermometer",
    "measure-melting-point-known-substance",
    "power-component",
    "power-component-renewable-vs-nonrenewable-energy",
    "test-conductivity",
    "test-conductivity-of-unknown-substances",
    "find-plant",
    "find-non-living-thing",
    "chemistry-mix",
    "chemistry-mix-paint-tertiary-color",
)
TRAIN_TASKS = 8
HELD_OUT_TASKS = 4
PERTURBED_COPIES = 2
MAX_STEPS = 40
OBSERVATION_CHARS = 300
SIMPLIFICATION = "easy"


@dataclass(frozen=True, kw_only=True)
class Task:
    """One variation of a family, with the simulator's own words for the goal."""

    family: str
    variation: int
    split: str
    goal: str
    gold: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Step:
    """What was seen, what was then done, and the change of score (in [0, 1]) it brought."""

    observation: str
    action: str
    reward: float


@dataclass(frozen=True, kw_only=True)
class Played:
    """A run as the simulator answered it; its score is in [0, 1]."""

    steps: tuple[Step, ...]
    final_observation: str
    score: float


def trimmed(observation: str) -> str:
    """One line without the two things that every room holds, at most OBSERVATION_CHARS long."""
    text = re.sub(r"\s*\n\s*", "; ", observation.strip())
    text = text.replace("the agent; ", "").replace("a substance called air; ", "")
    return text if len(text) <= OBSERVATION_CHARS else text[: OBSERVATION_CHARS - 1] + "…"


def without_walks(gold: list[str]) -> tuple[str, ...]:
    """The gold path with every walk from room to room replaced by one teleport to its end.

    The gold path starts in a random room and wanders; `easy` offers the teleport, and with it a
    run holds the steps that the task asks for.
    """
    actions: list[str] = []
    room: str | None = None
    for action in gold:
        if action.startswith("open door to "):
            continue
        if action.startswith("go to "):
            room = action.removeprefix("go to ")
            continue
        if room is not None:
            actions.append(f"teleport to {room}")
            room = None
        actions.append(action)
    return tuple(actions)


def load_task(env: Any, *, family: str, variation: int, split: str) -> Task:
    env.load(family, variation, SIMPLIFICATION, generateGoldPath=True)
    env.reset()
    goal = " ".join(env.get_task_description().split()).removeprefix("Task Description: ")
    gold = without_walks(env.get_gold_action_sequence())
    return Task(family=family, variation=variation, split=split, goal=goal, gold=gold)


def tasks_of(env: Any, *, family: str, rng: random.Random) -> Iterator[Task]:
    """Training tasks from the simulator's training variations, held-out ones from its test
    variations; in random order, goals not met before first, gold paths of MAX_STEPS at most.
    No held-out goal is among the training goals."""
    env.load(family, 0, SIMPLIFICATION)
    wanted = (
        ("train", list(env.get_variations_train()), TRAIN_TASKS),
        ("held_out", list(env.get_variations_test()), HELD_OUT_TASKS),
    )
    train_goals: set[str] = set()
    for split, variations, count in wanted:
        rng.shuffle(variations)
        fresh: dict[str, Task] = {}
        spare: list[Task] = []
        for variation in variations[: 4 * count]:
            task = load_task(env, family=family, variation=variation, split=split)
            if len(task.gold) > MAX_STEPS or task.goal in train_goals:
                continue
            if task.goal in fresh:
                spare.append(task)
            else:
                fresh[task.goal] = task
            if len(fresh) == count:
                break
        chosen = [*fresh.values(), *spare][:count]
        if split == "train":
            train_goals = {task.goal for task in chosen}
        yield from chosen


def play(env: Any, task: Task, agent: Agent) -> Played:
    """Play from the task's start until the agent stops, the simulator ends it, or MAX_STEPS."""
    env.load(task.family, task.variation, SIMPLIFICATION)
    seen, _ = env.reset()
    before = 0.0
    steps: list[Step] = []
    while len(steps) < MAX_STEPS:
        action = agent.act(env, len(steps))
        if action is None:
            break
        # env.step makes these same calls and then lists every admissible action, at six times
        # the cost.
        answer = env.server.step(action)
        score = round(env.server.getScore(), 4)
        reward = round(score - before, 4)
        steps.append(Step(observation=trimmed(seen), action=action, reward=reward))
        seen, before = answer, score
        if score < 0 or env.server.getCompleted():
            break
    # The simulator gives -1 for a forbidden focus; outcomes are in [0, 1].
    return Played(
        steps=tuple(steps), final_observation=trimmed(seen), score=min(1.0, max(0.0, before))
    )


def first_difference(actions: Sequence[str], good: Sequence[str]) -> int | None:
    """Where a copy leaves the good run; None where it does not, since to drop one of two waits
    in a row may change nothing."""
    pairs = zip_longest(actions, good)
    return next((i for i, (done, planned) in enumerate(pairs) if done != planned), None)


def as_row(
    task: Task, played: Played, *, agent: str, seed: int, perturbation: Perturbation | None = None
) -> dict[str, Any]:
    """The run as a trajectory in memserver's JSON lines; no task type, so that no reader sees
    the families. `template_id` is for evaluation."""
    template = f"{task.family}/{task.variation}"
    name = f"scienceworld/{template}/{agent}/{seed}"
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
        "task": {"goal": task.goal, "environment": "scienceworld", "template_id": template},
        "agent": agent,
        "steps": [vars(step) for step in played.steps],
        "outcome": {
            "score": played.score,
            "success": played.score == 1.0,
            "source": "environment",
        },
        "metadata": {
            "split": task.split,
            "perturbed_at": perturbation.at if perturbation else None,
            "perturbation": perturbation.kind if perturbation else None,
            "final_observation": played.final_observation,
        },
    }


def record(env: Any, seed: int) -> Iterator[dict[str, Any]]:
    """Every run, family by family. A held-out task has its successful gold run only."""
    for family in FAMILIES:
        tasks = tasks_of(env, family=family, rng=random.Random(f"{seed}/{family}"))
        for number, task in enumerate(list(tasks)):
            gold = play(env, task, ScriptAgent(task.gold))
            if task.split == "held_out":
                if gold.score == 1.0:
                    yield as_row(task, gold, agent="gold", seed=seed)
                continue
            yield as_row(task, gold, agent="gold", seed=seed)
            rng = random.Random(f"{seed}/{family}/{task.variation}")
            matched = play(env, task, WordMatchAgent(task.goal, rng))
            yield as_row(task, matched, agent="word-match", seed=seed)
            if gold.score < 1.0:
                continue
            good = tuple(step.action for step in gold.steps)
            for copy in range(PERTURBED_COPIES):
                kind = PERTURBATIONS[(number * PERTURBED_COPIES + copy) % len(PERTURBATIONS)]
                if (changed := perturbed(good, kind, rng)) is not None:
                    agent, how = changed
                    run = play(env, task, agent)
                    at = first_difference([step.action for step in run.steps], good)
                    if at is not None:
                        name = f"perturbed-{how.kind}"
                        how = Perturbation(kind=how.kind, at=at)
                        yield as_row(task, run, agent=name, seed=seed, perturbation=how)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="file to write, gzipped JSON lines")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    env = scienceworld.ScienceWorldEnv("", envStepLimit=100)
    counts: Counter[str] = Counter()
    lines: list[str] = []
    for row in record(env, options.seed):
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
        won = "success" if row["outcome"]["success"] else "failure"
        counts[f"{row['metadata']['split']} {row['agent']} {won}"] += 1
        print(len(lines), row["task"]["template_id"], row["agent"], row["outcome"]["score"])
    # A fixed time stamp, so that the same runs give the same bytes.
    options.out.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    for name, count in sorted(counts.items()):
        print(f"{count:4d} {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
