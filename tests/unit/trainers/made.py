"""Small datasets whose outcomes follow a rule that cosine does not see: a case helps where its
vector points where the task's vector does once its numbers have moved on by one place."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import numpy as np

from memserver.domain.policy.features import Features
from memserver_trainers.dataset import DatasetFolder, Row, write_dataset

DIMENSION = 8
ITEMS = 12
ENCODER = "made-encoder"
SPLIT_OF = ("train", "train", "train", "validation", "test")


def dataset(folder: Path, *, tasks: int = 40, seed: int = 0) -> DatasetFolder:
    return write_dataset(
        folder,
        rows(tasks=tasks, seed=seed),
        vectors(seed),
        encoder=ENCODER,
        namespace="made",
    )


def vectors(seed: int = 0) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
    rng = np.random.default_rng((seed, 1))
    made = rng.normal(size=(ITEMS, DIMENSION))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return {identity(f"item {n}"): each.astype(np.float32) for n, each in enumerate(made)}


def rows(*, tasks: int = 40, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Four decisions a task, each with one of four candidates taken uniformly."""
    rng = np.random.default_rng((seed, 2))
    items = vectors(seed)
    for task in range(tasks):
        query = rng.normal(size=DIMENSION).astype(np.float32)
        query /= np.linalg.norm(query)
        for number in range(4):
            pool = [str(each) for each in rng.choice(list(items), size=4, replace=False)]
            taken = int(rng.integers(4))
            helps = float(items[pool[taken]] @ np.roll(query, 1)) > 0
            yield row(
                identity(f"decision {seed} {task} {number}"),
                group=f"task-{task}",
                split=SPLIT_OF[task % len(SPLIT_OF)],
                query_vector=[float(each) for each in query],
                candidates=[
                    candidate(each, taken=place == taken, cosine=float(items[each] @ query))
                    for place, each in enumerate(pool)
                ],
                rewards={"outcome": float(helps)},
            )


def row(id: str, **said: Any) -> dict[str, Any]:
    """One decision in the export's format; whatever is not said is usual."""
    return {
        "id": id,
        "namespace": "made",
        "trajectory_id": None,
        "group": "task-0",
        "split": "train",
        "verb": "retrieve",
        "query": "a task",
        "task_type": None,
        "policy": "fixed-1",
        "schema": 1,
        "encoder": ENCODER,
        "query_vector": [1.0] + [0.0] * (DIMENSION - 1),
        "temperature": 1.0,
        "exposure_slots": 1,
        "explored": True,
        "created_at": "2026-01-01T00:00:00+00:00",
        "candidates": [],
        "rewards": {"outcome": 1.0},
        **said,
    }


def candidate(id: str, *, taken: bool, cosine: float = 0.0, **said: Any) -> dict[str, Any]:
    """One of four that an exposure slot could take; the taken one is packed."""
    return {
        "id": id,
        "features": [float(each) for each in Features(cosine=cosine, kind="case").vector()],
        "score": cosine,
        "rank": 1 if taken else None,
        "packed": taken,
        "slot": "exposure" if taken else None,
        "propensity": 0.25 if taken else 0.0,
        "gated": None,
        "credit": float(taken),
        **said,
    }


def written(folder: Path, decisions: list[Row]) -> DatasetFolder:
    return write_dataset(folder, decisions, vectors(), encoder=ENCODER, namespace="made")


def identity(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"memserver:made/{name}"))
