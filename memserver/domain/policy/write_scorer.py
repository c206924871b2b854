"""The linear policy of writes: which operation, on which neighbour."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.errors import InvalidPolicy
from memserver.domain.policy.write_features import OPERATION_NAMES

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

WRITE_LINEAR = "write-linear"
OPERATIONS = len(OPERATION_NAMES)


@dataclass(frozen=True, slots=True, eq=False)
class WriteLinearScorer:
    """The logit of an option whose operation is o and whose other features are x:

    bias[o] + weight[o] . ((x - feature_mean) / feature_scale)

    for f other features; `weight` is [4, f] and `bias` [4], in the order ADD, UPDATE, DELETE,
    NOOP. An option's row is the operation as one-hot, then x.
    """

    feature_mean: Floats
    feature_scale: Floats
    weight: Floats
    bias: Floats

    @classmethod
    def of(cls, weights: Mapping[str, npt.NDArray[np.float32]]) -> Self:
        """Raises InvalidPolicy that names the tensor at fault."""
        for name in cls.__dataclass_fields__:
            if name not in weights:
                raise InvalidPolicy(f"The weights lack the tensor {name!r}.")
        unknown = sorted(set(weights) - set(cls.__dataclass_fields__))
        if unknown:
            raise InvalidPolicy(
                f"The weights hold a tensor {unknown[0][:80]!r} that this kind has not."
            )
        others = weights["feature_mean"].size
        shapes = {
            "feature_mean": (others,),
            "feature_scale": (others,),
            "weight": (OPERATIONS, others),
            "bias": (OPERATIONS,),
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
    def features(self) -> int:
        return OPERATIONS + int(self.feature_mean.size)

    @property
    def dimension(self) -> None:
        """It takes no vectors."""
        return None

    def logits(self, query: Singles, items: Singles, features: Singles) -> Floats:
        """`features` [n, 4 + f] to logits [n]; vectors are not looked at. Raises ValueError for
        rows of another length."""
        if features.ndim != 2 or features.shape[1] != self.features:
            raise ValueError(
                f"'features' has the shape {features.shape} instead of (n, {self.features})."
            )
        rows = features.astype(np.float64)
        chosen, others = rows[:, :OPERATIONS], rows[:, OPERATIONS:]
        scaled = (others - self.feature_mean) / self.feature_scale
        values: Floats = (chosen * (scaled @ self.weight.T + self.bias)).sum(axis=1)
        return values
