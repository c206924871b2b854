"""What a memory that ranks by cosine would log in CaseWorld while it explores: decisions with their
outcomes, as a dataset folder that any recipe reads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import numpy.typing as npt

from memserver.domain.policy import features, sampling
from memserver.domain.policy.features import Features
from memserver_trainers.dataset import DatasetFolder, Row, write_dataset
from memserver_trainers.worlds.case_world import CaseWorld, Encode, Task

ENCODER = "case-world"
TASKS = {"train": 240, "validation": 60, "test": 60}
DECISIONS_A_TASK = 8
NEAREST, OTHERS = 2, 4
TEMPERATURE = 0.2
DAY = "2026-01-01T00:00:00+00:00"

Floats = npt.NDArray[np.float32]


def log_cases(
    folder: Path,
    world: CaseWorld,
    encode: Encode,
    *,
    seed: int,
    tasks: Mapping[str, int] = TASKS,
) -> DatasetFolder:
    """Writes the folder and opens it. Of a task's decisions every second one takes its case
    uniformly from a pool of near and other cases, the rest by cosine at a temperature."""
    ids = [case.id for case in world.cases()]
    items = encode([case.text for case in world.cases()])
    log = _Log(world, ids, items, np.random.default_rng((seed, 100)), seed)
    rows = (row for split, count in tasks.items() for row in log.rows(split, count, encode))
    vectors = dict(zip(ids, items, strict=True))
    return write_dataset(folder, rows, vectors, encoder=ENCODER, namespace="worlds/cases")


@dataclass(frozen=True)
class _Log:
    world: CaseWorld
    ids: list[str]
    items: Floats
    rng: np.random.Generator
    seed: int

    def rows(self, split: str, count: int, encode: Encode) -> Iterator[Row]:
        tasks = self.world.tasks(split, count)
        for task, query in zip(tasks, encode([task.text for task in tasks]), strict=True):
            for number in range(DECISIONS_A_TASK):
                yield self._row(task, query, number)

    def _row(self, task: Task, query: Floats, number: int) -> dict[str, Any]:
        id = uuid5(NAMESPACE_URL, f"memserver:case-log/{self.seed}/{task.group}/{number}")
        cosines = self.items @ query
        pool = self._pool(cosines)
        exposure_slots = number % 2
        (slot,) = sampling.draw(
            cosines[pool], 1, temperature=TEMPERATURE, exposure_slots=exposure_slots, seed=id
        )
        taken = self.ids[pool[slot.index]]
        candidates = [
            {
                "id": self.ids[index],
                "features": case_features(float(cosines[index]), rank=place + 1),
                "score": float(cosines[index]),
                "rank": 1 if place == slot.index else None,
                "packed": place == slot.index,
                "slot": str(slot.kind) if place == slot.index else None,
                "propensity": slot.propensity if place == slot.index else 0.0,
                "gated": None,
                "credit": float(place == slot.index),
            }
            for place, index in enumerate(pool)
        ]
        return {
            "id": str(id),
            "namespace": "worlds/cases",
            "trajectory_id": str(id),
            "group": task.group,
            "split": task.split,
            "verb": "retrieve",
            "query": task.text,
            "task_type": None,
            "policy": "fixed-1",
            "schema": features.SCHEMA_VERSION,
            "encoder": ENCODER,
            "query_vector": [float(number) for number in query],
            "temperature": TEMPERATURE,
            "exposure_slots": exposure_slots,
            "explored": True,
            "created_at": DAY,
            "candidates": candidates,
            "rewards": {"outcome": self.world.outcome(task, taken, self.rng)},
        }

    def _pool(self, cosines: Floats) -> list[int]:
        """The nearest cases and some others, the best cosine first."""
        order = np.argsort(-cosines, kind="stable")
        others = self.rng.choice(order[NEAREST:], size=OTHERS, replace=False)
        pool = np.concatenate((order[:NEAREST], others))
        return [int(index) for index in pool[np.argsort(-cosines[pool], kind="stable")]]


def case_features(cosine: float, *, rank: int) -> list[float]:
    """All that a memory with no outcomes yet knows of a case."""
    known = Features(dense_rank=rank, dense_score=cosine, cosine=cosine, kind="case")
    return [float(number) for number in known.vector()]
