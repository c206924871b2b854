"""How alike two texts are by the encoder, for distillers that tell whether the same was said."""

from collections import OrderedDict

import numpy as np
import numpy.typing as npt

from memserver.domain.ports import Encoder

KEPT = 4_096
"""Vectors at most: one distillation compares the same texts again and again."""


class TextLikeness:
    """The cosine of the first windows of two texts. Raises `Unavailable` where the encoder does
    not answer. One a piece of work: it is used by one thread at a time."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors: OrderedDict[str, npt.NDArray[np.float32]] = OrderedDict()

    def __call__(self, left: str, right: str) -> float:
        return float(self._vector(left) @ self._vector(right))

    def _vector(self, text: str) -> npt.NDArray[np.float32]:
        if text not in self._vectors:
            [self._vectors[text]] = self._encoder.encode([self._encoder.windows(text)[0]])
            if len(self._vectors) > KEPT:
                self._vectors.popitem(last=False)
        self._vectors.move_to_end(text)
        return self._vectors[text]
