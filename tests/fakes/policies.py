"""Policies whose weights are made by hand: what they rank first can be read off them."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from safetensors import numpy as safetensors

from memserver.domain.policy import write_features
from memserver.domain.policy.features import NAMES, SCHEMA_VERSION
from memserver.domain.policy.folder import PolicyFolder, packed
from memserver.domain.policy.manifest import Manifest
from tests.fakes.encoder import HashEncoder

ENCODER = HashEncoder()


def folder(
    likes: Mapping[str, float], *, cosine: float = 0.0, bias: float = 0.0, **manifest: Any
) -> PolicyFolder:
    """A policy for the cheap server's encoder that adds up what it `likes`: weights of features
    by name."""
    stated = _manifest(**manifest)
    count, dimension = len(stated.feature_names), stated.dimension
    wanted = dict.fromkeys(stated.feature_names, 0.0) | dict(likes)
    tensors = {
        "feature_mean": np.zeros(count),
        "feature_scale": np.ones(count),
        "feature_weight": np.array([wanted[name] for name in stated.feature_names]),
        "query_map": np.zeros((1, dimension)),
        "item_map": np.zeros((1, dimension)),
        "cosine_weight": np.array([cosine]),
        "bias": np.array([bias]),
    }
    weights = safetensors.save({name: one.astype(np.float32) for name, one in tensors.items()})
    return PolicyFolder(
        replace(stated, weights_sha256=hashlib.sha256(weights).hexdigest()), weights
    )


def zipped(likes: Mapping[str, float], **more: Any) -> bytes:
    """The same as it is sent to a server."""
    return packed(folder(likes, **more))


def _manifest(**changed: Any) -> Manifest:
    fields: dict[str, Any] = {
        "kind": "case-value",
        "feature_schema": SCHEMA_VERSION,
        "feature_names": NAMES,
        "encoder": ENCODER.fingerprint,
        "dimension": ENCODER.dimension,
        "dataset_sha256": "ab" * 32,
        "config_sha256": "cd" * 32,
        "config": {},
        "metrics": {},
        "evaluation": None,
        "seed": 3,
        "created_at": "2026-05-04T10:00:00+00:00",
    }
    return Manifest(**{**fields, **changed})


def write_folder_of(likes: Mapping[str, float], **manifest: Any) -> PolicyFolder:
    """A write policy that adds up what it `likes`: weights by `OPERATION` for the operation itself,
    and by `OPERATION.feature` for a feature where that is the operation."""
    stated = _manifest(
        **{
            "kind": "write-linear",
            "role": "write",
            "feature_schema": write_features.SCHEMA_VERSION,
            "feature_names": write_features.NAMES,
            **manifest,
        }
    )
    operations = list(write_features.Operation)
    others = write_features.NAMES[len(operations) :]
    weight, bias = np.zeros((len(operations), len(others))), np.zeros(len(operations))
    for name, value in likes.items():
        operation, _, feature = name.partition(".")
        place = operations.index(write_features.Operation(operation))
        if feature:
            weight[place, others.index(feature)] = value
        else:
            bias[place] = value
    tensors = {
        "feature_mean": np.zeros(len(others)),
        "feature_scale": np.ones(len(others)),
        "weight": weight,
        "bias": bias,
    }
    weights = safetensors.save({name: one.astype(np.float32) for name, one in tensors.items()})
    return PolicyFolder(
        replace(stated, weights_sha256=hashlib.sha256(weights).hexdigest()), weights
    )
