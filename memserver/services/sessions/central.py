"""Sentences ranked without a model: those that most others resemble, and those that bear on a
question. Words are weighed by how rare they are; what is central is what a random walk over
similar sentences keeps coming back to (Mihalcea and Tarau, TextRank, 2004, section 3)."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memserver_skills.words import stems

DAMPING = 0.85
ROUNDS = 50
TOO_ALIKE = 0.7

Matrix = npt.NDArray[np.float64]


def central(texts: Sequence[str]) -> list[int]:
    """The places of those texts that say what the others are about, the most central first. One
    that resembles a better one is left out, and so is one without a word of content."""
    weights = _weights(texts)
    similar = weights @ weights.T
    np.fill_diagonal(similar, 0.0)
    rank = _walked(similar)
    best = sorted(np.flatnonzero(weights.any(axis=1)), key=lambda n: (-rank[n], n))
    chosen: list[int] = []
    for place in best:
        if all(similar[place, other] < TOO_ALIKE for other in chosen):
            chosen.append(int(place))
    return chosen


def bearing(texts: Sequence[str], question: str) -> list[int]:
    """The places of those texts that share a word with the question, the nearest first."""
    weights = _weights([*texts, question])
    if not len(weights):
        return []
    near = weights[:-1] @ weights[-1]
    return [int(n) for n in sorted(np.flatnonzero(near > 0), key=lambda n: (-near[n], n))]


def _weights(texts: Sequence[str]) -> Matrix:
    """Word weights of each text, shape [texts, words], unit length, zeros for one without any."""
    said = [stems(text) for text in texts]
    known = Counter(word for words in said for word in words)
    column = {word: n for n, word in enumerate(sorted(known))}
    weights = np.zeros((len(texts), len(column)))
    for row, words in enumerate(said):
        for word in words:
            weights[row, column[word]] = math.log(1 + len(texts) / known[word])
    length = np.linalg.norm(weights, axis=1, keepdims=True)
    scaled: Matrix = np.divide(weights, length, out=weights, where=length > 0)
    return scaled


def _walked(similar: Matrix) -> Matrix:
    """How often a walk that steps to similar sentences, and now and then to any, is at each."""
    count = len(similar)
    if not count:
        return np.zeros(0)
    total = similar.sum(axis=1, keepdims=True)
    step = np.divide(similar, total, out=np.full_like(similar, 1 / count), where=total > 0)
    rank = np.full(count, 1 / count)
    for _ in range(ROUNDS):
        rank = (1 - DAMPING) / count + DAMPING * (rank @ step)
    return rank
