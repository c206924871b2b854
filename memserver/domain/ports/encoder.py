"""Text to vectors, dense and sparse."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term indices and their weights, of equal length."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


class Encoder(Protocol):
    """A dense text encoder. Vectors are float32 of length `dimension` and unit norm."""

    @property
    def fingerprint(self) -> str:
        """Names model, weights and pooling; another value means incomparable vectors."""

    @property
    def dimension(self) -> int: ...

    @property
    def counter(self) -> str:
        """The name of the token counter, as replies state it."""

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vectors of documents, shape [len(texts), dimension]. Callers cut long texts by
        `windows` first. Raises `Unavailable` where a remote model does not answer."""

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """One query's vector, shape [dimension]; text past the model's limit is cut."""

    def count_tokens(self, text: str) -> int:
        """Tokens in `text`, without special tokens."""

    def windows(self, text: str) -> tuple[str, ...]:
        """`text` in overlapping pieces that each fit into the model; at least one."""

    def close(self) -> None: ...


class SparseEncoder(Protocol):
    """BM25 term weights, made the same way for every index adapter."""

    def document(self, text: str) -> SparseVector: ...

    def query(self, text: str) -> SparseVector: ...
