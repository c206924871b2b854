"""The vector of a version or a run: that of the first window of its text, as learned policies
compare it with a query's. The index keeps vectors too, and gives them back changed."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.ports import Encoder, Reader, Store
from memserver.domain.scope import Namespace, Scope
from memserver.domain.trajectories import Trajectory

K = TypeVar("K")
V = TypeVar("V")
Vector = npt.NDArray[np.float32]

KEPT = 16_384
"""Vectors at most: 25 MB where they have 384 numbers."""
ENCODED_TOGETHER = 32
STORED_AS = np.dtype("<f4")
"""How a vector lies in SQL, whatever machine wrote it."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """What a version says, which never changes, and where it lies."""

    namespace: Namespace
    digest: bytes


class VersionVectors:
    """Vectors by the named encoder, shape [dimension], not to be written to. Safe for use by
    many threads. What SQL does not hold is encoded and kept there later."""

    def __init__(self, store: Store, encoder: Encoder, *, kept: int = KEPT) -> None:
        self._store = store
        self._encoder = encoder
        self._kept = kept
        self._lock = threading.Lock()
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._placed: OrderedDict[tuple[UUID, UUID], _Placed] = OrderedDict()

    def forget(self) -> None:
        """Forgets where versions lie and what they say: after a restore an id may mean another."""
        with self._lock:
            self._placed.clear()

    def of(self, reader: Reader, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Vector]:
        """For each id of a version or a run that the scope sees, its vector. Raises
        `Unavailable` where a text has to be encoded and the encoder does not answer."""
        found: dict[UUID, Vector] = {}
        missing: list[UUID] = []
        seen: dict[str, bool] = {}
        for version in ids:
            vector = self._if_kept(scope, version, seen)
            if vector is None:
                missing.append(version)
            else:
                found[version] = vector
        if missing:
            found |= self.of_texts(reader, self._texts(reader, scope, missing))
        return found

    def of_texts(self, reader: Reader, texts: Mapping[UUID, str]) -> dict[UUID, Vector]:
        """The same for texts that the caller has loaded: a version's `text`, a run's
        `text_of_run`."""
        digests = {owner: _digest(text) for owner, text in texts.items()}
        known = {digest: self._vectors.get(digest) for digest in digests.values()}
        unknown = {
            digest: texts[owner] for owner, digest in digests.items() if known[digest] is None
        }
        made = self._looked_up(reader, unknown) if unknown else {}
        found: dict[UUID, Vector] = {}
        for owner, digest in digests.items():
            vector = known[digest]
            found[owner] = made[digest] if vector is None else vector
        return found

    def _if_kept(self, scope: Scope, version: UUID, seen: dict[str, bool]) -> Vector | None:
        """Fails closed: what is kept for one caller is given to another only in its reach."""
        placed = self._placed.get((scope.tenant, version))
        if placed is None:
            return None
        path = placed.namespace.path
        if path not in seen:
            seen[path] = scope.may_read(path)
        return self._vectors.get(placed.digest) if seen[path] else None

    def _texts(self, reader: Reader, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, str]:
        entries = reader.entries_by_version(scope, ids)
        texts = {version: entry.version.text for version, entry in entries.items()}
        with self._lock:
            for version, entry in entries.items():
                placed = _Placed(entry.version.namespace, _digest(texts[version]))
                _keep(self._placed, (scope.tenant, version), placed, most=self._kept)
        others = [row_id for row_id in ids if row_id not in entries]
        # Runs are looked up each time: one that was deleted can come again with another goal.
        runs = reader.trajectories_by_id(scope, others) if others else {}
        return texts | {run_id: text_of_run(run) for run_id, run in runs.items()}

    def _looked_up(self, reader: Reader, texts: Mapping[bytes, str]) -> dict[bytes, Vector]:
        windows = {digest: self._encoder.windows(text)[0] for digest, text in texts.items()}
        names = {digest: vector_name(window) for digest, window in windows.items()}
        by_name = self._stored(reader, list(dict.fromkeys(names.values())))
        unknown = {
            names[digest]: window
            for digest, window in windows.items()
            if names[digest] not in by_name
        }
        if unknown:
            by_name |= self._encoded(unknown)
        found = {digest: by_name[name] for digest, name in names.items()}
        with self._lock:
            for digest, vector in found.items():
                _keep(self._vectors, digest, vector, most=self._kept)
        return found

    def _stored(self, reader: Reader, names: Sequence[str]) -> dict[str, Vector]:
        size = self._encoder.dimension * STORED_AS.itemsize
        kept = reader.vectors(names, self._encoder.fingerprint)
        return {
            name: np.frombuffer(raw, STORED_AS) for name, raw in kept.items() if len(raw) == size
        }

    def _encoded(self, windows: Mapping[str, str]) -> dict[str, Vector]:
        # A model pads what it encodes together to the longest text: alike goes with alike.
        by_length = sorted(windows, key=lambda name: len(windows[name]))
        made: dict[str, Vector] = {}
        for start in range(0, len(by_length), ENCODED_TOGETHER):
            names = by_length[start : start + ENCODED_TOGETHER]
            rows = self._encoder.encode([windows[name] for name in names])
            made.update((name, _own(row)) for name, row in zip(names, rows, strict=True))
        fingerprint = self._encoder.fingerprint
        raw = {name: vector.tobytes() for name, vector in made.items()}
        self._store.write_later(lambda tx: tx.put_vectors(fingerprint, raw))
        return made


def text_of_run(run: Trajectory) -> str:
    """What the index holds of a run."""
    return " ".join(run.task.goal.split())


def vector_name(window: str) -> str:
    """Under which SQL keeps the vector of a window's text."""
    return _digest(window).hex()


def vector_names(encoder: Encoder, text: str) -> list[str]:
    """Under which SQL keeps the vectors of an indexed text, a window each."""
    return [vector_name(window) for window in encoder.windows(text)]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _own(row: Vector) -> Vector:
    """A copy by itself, so that one kept row does not keep its whole batch alive."""
    vector = np.array(row, STORED_AS)
    vector.flags.writeable = False
    return vector


def _keep(kept: OrderedDict[K, V], key: K, value: V, *, most: int) -> None:
    """The oldest go. The caller holds the lock; those who only look need none."""
    kept[key] = value
    while len(kept) > most:
        kept.popitem(last=False)
