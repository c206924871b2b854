"""Which examples make up which batch: a pure function of seed and step, so a resumed run meets the
examples that the uninterrupted one would have met."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Batches:
    """Walks over all examples in a fresh order each epoch, whose last batch may be small."""

    examples: int
    size: int
    seed: int

    def at(self, step: int) -> npt.NDArray[np.int64]:
        """Indices of the examples of a step; steps count from 0."""
        epoch, place = divmod(step, -(-self.examples // self.size))
        return _order(self.examples, self.seed, epoch)[place * self.size : (place + 1) * self.size]


@lru_cache(maxsize=2)
def _order(examples: int, seed: int, epoch: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng((seed, epoch)).permutation(examples)
