"""A small case-value policy to write, read and damage."""

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.features import NAMES, SCHEMA_VERSION
from memserver.domain.policy.manifest import Manifest

DIMENSION = 384
RANK = 16
FEATURES = len(NAMES)

Tensors = dict[str, npt.NDArray[np.float32]]


def tensors(*, seed: int = 7, dimension: int = DIMENSION, features: int = FEATURES) -> Tensors:
    random = np.random.default_rng(seed)
    made = {
        "feature_mean": random.normal(size=features),
        "feature_scale": random.uniform(0.5, 2, features),
        "feature_weight": random.normal(size=features),
        "query_map": random.normal(size=(RANK, dimension)) / 20,
        "item_map": random.normal(size=(RANK, dimension)) / 20,
        "cosine_weight": np.array([0.7]),
        "bias": np.array([-0.3]),
    }
    return {name: tensor.astype(np.float32) for name, tensor in made.items()}


def manifest(**changed: object) -> Manifest:
    fields: dict[str, object] = {
        "kind": "case-value",
        "feature_schema": SCHEMA_VERSION,
        "feature_names": NAMES,
        "encoder": "minilm:53aa5117",
        "dimension": DIMENSION,
        "dataset_sha256": "ab" * 32,
        "config_sha256": "cd" * 32,
        "config": {"steps": 200, "rate": 0.01},
        "metrics": {"auc": 0.81},
        "evaluation": None,
        "seed": 3,
        "created_at": "2026-05-04T10:00:00+00:00",
    }
    return Manifest(**{**fields, **changed})  # type: ignore[arg-type]
