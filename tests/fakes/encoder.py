"""An encoder without a model: texts that share words have similar vectors, always the same."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

WORD = re.compile(r"\w+")


class HashEncoder:
    """Bags of words, each word hashed to a fixed direction. Cosine grows with shared words.

    `encoded` lists the texts of every `encode` call, so that tests see what was not kept.
    """

    def __init__(self, *, dimension: int = 64, window_words: int = 200, name: str = "hash") -> None:
        self._dimension = dimension
        self._window_words = window_words
        self._name = name
        self.encoded: list[tuple[str, ...]] = []

    @property
    def fingerprint(self) -> str:
        return f"{self._name}/{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def counter(self) -> str:
        return "words"

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.encoded.append(tuple(texts))
        return self.encode_queries(texts)

    def encode_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = [self._vector(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self._dimension)

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        return self._vector(text)

    def count_tokens(self, text: str) -> int:
        return len(WORD.findall(text))

    def windows(self, text: str) -> tuple[str, ...]:
        words = list(WORD.finditer(text))
        if len(words) <= self._window_words:
            return (text,)
        step = max(1, self._window_words * 7 // 8)
        starts = range(0, len(words) - self._window_words + step, step)
        ends = [min(start + self._window_words, len(words)) for start in starts]
        return tuple(
            text[words[start].start() : words[end - 1].end()]
            for start, end in zip(starts, ends, strict=True)
        )

    def close(self) -> None:
        pass

    def _vector(self, text: str) -> npt.NDArray[np.float32]:
        total = np.zeros(self._dimension)
        # Sorted, so that the same words give the same bits whatever their order.
        for word in sorted(WORD.findall(text.casefold())) or ["(empty)"]:
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            total += np.random.default_rng(seed).normal(size=self._dimension)
        return (total / np.linalg.norm(total)).astype(np.float32)
