"""Finding texts that share most of their wording without comparing all pairs.

MinHash signatures (Broder 1997) cut into bands (locality-sensitive hashing, Leskovec et al.,
"Mining of Massive Datasets", 3.4): two sets that share 70 % of their shingles meet in at least
one of 24 bands of 4 rows with a probability of .998."""

import hashlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from memserver_skills.words import forms

BANDS = 24
ROWS = 4

# Fixed, so that the same texts always meet in the same bands.
_SALTS = np.random.default_rng(20240229).integers(
    0, 2**64, size=(2, BANDS * ROWS, 1), dtype=np.uint64
)

Shingles = frozenset[int]


def shingles(text: str) -> Shingles:
    """Hashes of the text's words and neighbouring pairs of words."""
    spoken = forms(text) or (text,)
    pairs = (f"{one} {other}" for one, other in pairwise(spoken))
    return frozenset(_hash(piece) for piece in (*spoken, *pairs))


def overlap(left: Shingles, right: Shingles) -> float:
    """Jaccard similarity; 1 for two empty sets."""
    if not left and not right:
        return 1.0
    common = len(left & right)
    return common / (len(left) + len(right) - common)


def bands(held: Shingles) -> tuple[bytes, ...]:
    """The bands under which a set is filed; near-duplicates share at least one."""
    values = np.fromiter(held, np.uint64, len(held))
    odd = _SALTS[1] | np.uint64(1)
    rows = ((values[None, :] ^ _SALTS[0]) * odd).min(axis=1).reshape(BANDS, ROWS)
    return tuple(bytes([number]) + row.tobytes() for number, row in enumerate(rows))


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


class Filed:
    """Sets filed under their bands within a block: only sets of one block ever meet."""

    def __init__(self) -> None:
        self._places: dict[tuple[Hashable, bytes], list[int]] = defaultdict(list)

    def add(self, place: int, block: Hashable, filed_under: Sequence[bytes]) -> None:
        for band in filed_under:
            self._places[block, band].append(place)

    def meets(self, block: Hashable, filed_under: Iterable[bytes]) -> set[int]:
        """The places of all sets that share a band with one that is filed so."""
        return {place for band in filed_under for place in self._places.get((block, band), ())}
