"""How alike items are, by the vectors that the indexer kept of them; nothing is embedded for it."""

import hashlib
from collections.abc import Sequence
from uuid import UUID

import numpy as np

from memserver.domain.ports import Encoder, Store
from memserver_skills.plans import NearDuplicates, Rated

VECTORS_A_READ = 500


def kept_cosines(store: Store, encoder: Encoder, entries: Sequence[Rated]) -> NearDuplicates:
    """Cosines by version, None where a vector was not kept."""
    hashes = {
        rated.version: hashlib.sha256(
            encoder.windows(rated.entry.version.text)[0].encode()
        ).hexdigest()
        for rated in entries
    }
    kept: dict[str, bytes] = {}
    wanted = list(dict.fromkeys(hashes.values()))
    with store.reading() as reader:
        for start in range(0, len(wanted), VECTORS_A_READ):
            part = wanted[start : start + VECTORS_A_READ]
            kept |= reader.vectors(part, encoder.fingerprint)

    def cosine(left: UUID, right: UUID) -> float | None:
        one, other = kept.get(hashes[left]), kept.get(hashes[right])
        if one is None or other is None:
            return None
        return float(np.frombuffer(one, np.float32) @ np.frombuffer(other, np.float32))

    return cosine
