"""Learned scorers in numpy: a policy trained elsewhere ranks here with no training library."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.errors import InvalidPolicy
from memserver.domain.policy.write_scorer import WRITE_LINEAR, WriteLinearScorer

__all__ = [
    "CASE_VALUE",
    "KINDS",
    "WRITE_LINEAR",
    "CaseValueScorer",
    "Scorer",
    "WriteLinearScorer",
    "make_scorer",
]

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

CASE_VALUE = "case-value"


class Scorer(Protocol):
    """Gives each of n candidates one number, a logit; the higher, the sooner it is ranked."""

    def logits(self, query: Singles, items: Singles, features: Singles) -> Floats:
        """`query` [d], `items` [n, d] and `features` [n, f] to logits [n]."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class CaseValueScorer:
    """The logit that a candidate helps the task:

    bias + feature_weight . ((x - feature_mean) / feature_scale)
    + (query_map q) . (item_map i) + cosine_weight * q . i

    for f features x and vectors q and i of dimension d; the maps are [r, d].
    """

    feature_mean: Floats
    feature_scale: Floats
    feature_weight: Floats
    query_map: Floats
    item_map: Floats
    cosine_weight: Floats
    bias: Floats

    @classmethod
    def of(cls, weights: Mapping[str, npt.NDArray[np.float32]]) -> Self:
        """Raises InvalidPolicy that names the tensor at fault."""
        _check_names(weights, tuple(cls.__dataclass_fields__))
        features = _length(weights, "feature_weight")
        rank, dimension = _matrix(weights, "query_map")
        shapes = {
            "feature_mean": (features,),
            "feature_scale": (features,),
            "item_map": (rank, dimension),
            "cosine_weight": (1,),
            "bias": (1,),
        }
        for name, shape in shapes.items():
            if weights[name].shape != shape:
                raise InvalidPolicy(
                    f"The tensor {name!r} has the shape {weights[name].shape} instead of {shape}."
                )
        if not (weights["feature_scale"] > 0).all():
            raise InvalidPolicy("The tensor 'feature_scale' holds a number that is not above 0.")
        return cls(**{name: tensor.astype(np.float64) for name, tensor in weights.items()})

    @property
    def dimension(self) -> int:
        return int(self.query_map.shape[1])

    @property
    def features(self) -> int:
        return int(self.feature_weight.size)

    def logits(self, query: Singles, items: Singles, features: Singles) -> Floats:
        """Raises ValueError that names the input of the wrong shape."""
        _check_input("query", query, (self.dimension,))
        count = items.shape[0] if items.ndim else 1
        _check_input("items", items, (count, self.dimension))
        _check_input("features", features, (count, self.features))
        asked = query.astype(np.float64)
        # The query meets both maps once, so that an item costs one product of length d.
        direction = (self.query_map @ asked) @ self.item_map + self.cosine_weight * asked
        slopes = self.feature_weight / self.feature_scale
        known = (features.astype(np.float64) - self.feature_mean) @ slopes
        values: Floats = self.bias + known + items.astype(np.float64) @ direction
        return values


_Known = CaseValueScorer | WriteLinearScorer
_KINDS: Mapping[str, Callable[[Mapping[str, npt.NDArray[np.float32]]], _Known]] = {
    CASE_VALUE: CaseValueScorer.of,
    WRITE_LINEAR: WriteLinearScorer.of,
}
KINDS = tuple(_KINDS)


def make_scorer(
    kind: str,
    weights: Mapping[str, npt.NDArray[np.float32]],
    *,
    features: int | None = None,
    dimension: int | None = None,
) -> Scorer:
    """The scorer of this kind; where `features` and `dimension` are given, one that takes so
    many. Raises InvalidPolicy for a kind unknown here and for weights that do not fit it."""
    if kind not in _KINDS:
        raise InvalidPolicy(
            f"The kind {kind[:80]!r} is unknown; this server has {', '.join(_KINDS)}."
        )
    for name, tensor in weights.items():
        if tensor.dtype != np.float32:
            raise InvalidPolicy(
                f"The tensor {name[:80]!r} is of {tensor.dtype} instead of float32."
            )
        if not np.isfinite(tensor).all():
            raise InvalidPolicy(f"The tensor {name[:80]!r} holds a number that is not finite.")
    scorer = _KINDS[kind](weights)
    if features is not None and scorer.features != features:
        raise InvalidPolicy(
            f"The weights take {scorer.features} features, the manifest names {features}."
        )
    if dimension is not None and scorer.dimension not in (None, dimension):
        raise InvalidPolicy(
            f"The weights take vectors of dimension {scorer.dimension}, the manifest says "
            f"{dimension}."
        )
    return scorer


def _check_names(weights: Mapping[str, object], expected: tuple[str, ...]) -> None:
    missing = [name for name in expected if name not in weights]
    if missing:
        raise InvalidPolicy(f"The weights lack the tensor {missing[0]!r}.")
    unknown = sorted(set(weights) - set(expected))
    if unknown:
        raise InvalidPolicy(
            f"The weights hold a tensor {unknown[0][:80]!r} that this kind has not."
        )


def _length(weights: Mapping[str, npt.NDArray[np.float32]], name: str) -> int:
    if weights[name].ndim != 1:
        raise InvalidPolicy(f"The tensor {name!r} has the shape {weights[name].shape}, not [f].")
    return int(weights[name].size)


def _matrix(weights: Mapping[str, npt.NDArray[np.float32]], name: str) -> tuple[int, int]:
    if weights[name].ndim != 2:
        raise InvalidPolicy(f"The tensor {name!r} has the shape {weights[name].shape}, not [r, d].")
    rows, columns = weights[name].shape
    return rows, columns


def _check_input(name: str, given: npt.NDArray[np.float32], shape: tuple[int, ...]) -> None:
    if given.shape != shape:
        raise ValueError(f"{name!r} has the shape {given.shape} instead of {shape}.")
