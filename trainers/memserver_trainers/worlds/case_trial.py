"""Does the recipe `case-value` learn in CaseWorld what cosine cannot see? Gate: on tasks of topics
and in words that training never met, success at least .35 above that of the nearest case."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from memserver.domain.policy.folder import read_folder
from memserver.domain.policy.scorer import Scorer
from memserver_trainers.recipes import Run, load_recipe
from memserver_trainers.worlds.case_log import case_features, log_cases
from memserver_trainers.worlds.case_world import CaseWorld, Encode
from memserver_trainers.worlds.measured import Measured

GAIN = 0.35
TEST_TASKS = 100


def measure_cases(seed: int, encode: Encode, folder: Path) -> Measured:
    """Logs, trains and asks; what is written lies in `folder`."""
    world = CaseWorld(seed)
    log = log_cases(folder / "log", world, encode, seed=seed)
    recipe = load_recipe("case-value")
    config = recipe.Config(data=log.folder, out=folder / "out", seed=seed)
    summary = recipe.train(config, Run(now=datetime.now(UTC)))
    learned, cosine = success(world, encode, read_folder(folder / "out" / "policy").scorer())
    return Measured(
        world="cases",
        seed=seed,
        score=learned,
        baseline=cosine,
        gate=cosine + GAIN,
        gate_met=learned >= cosine + GAIN,
        details={
            "tasks": TEST_TASKS,
            "metrics": summary["metrics"],
            "evaluation": summary["evaluation"],
        },
    )


def success(world: CaseWorld, encode: Encode, scorer: Scorer) -> tuple[float, float]:
    """The chance of success with the case that the scorer puts first, and with the nearest case,
    each a mean over the test tasks. All cases are candidates."""
    cases = world.cases()
    items = encode([case.text for case in cases])
    tasks = world.tasks("test", TEST_TASKS)
    learned, nearest = [], []
    for task, query in zip(tasks, encode([task.text for task in tasks]), strict=True):
        cosines = items @ query
        ranks = np.argsort(np.argsort(-cosines, kind="stable")) + 1
        features = [
            case_features(float(cosine), rank=int(rank))
            for cosine, rank in zip(cosines, ranks, strict=True)
        ]
        logits = scorer.logits(query, items, np.array(features, np.float32))
        learned.append(world.chance(task, cases[int(np.argmax(logits))].id))
        nearest.append(world.chance(task, cases[int(np.argmax(cosines))].id))
    return float(np.mean(learned)), float(np.mean(nearest))
