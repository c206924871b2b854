"""The embedded engine's folder: opened, kept usable after a panic, thrown away when it cannot be
loaded. Whatever it holds can be built again from SQL, so it is never worth stopping for."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from qdrant_edge import (
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    IntegerIndexParams,
    KeywordIndexParams,
    Modifier,
    UpdateOperation,
    VectorStorageDatatype,
)

from memserver.domain.errors import InvalidPoint, Unavailable
from memserver.storage.index.payload import DENSE, KEYWORDS, NAMESPACE, SPARSE, TIMES

T = TypeVar("T")
log = logging.getLogger(__name__)

ASIDE_AT_MOST = 3


class EngineFailed(Unavailable):
    """The engine raised or panicked on a read; it was opened again."""

    code = "index_engine_failed"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The index engine failed and was opened again: {reason}")


class EngineRefused(InvalidPoint):
    """The engine raised or panicked on what was to be written; nothing of it is kept."""

    code = "index_engine_refused"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The index engine refused this: {reason}")


class IncompleteShard(Exception):
    """The folder loads, and is not what was stored."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} missing")


class RebuildableShard:
    """An `EdgeShard` that survives what the engine does. To be used by one thread only.

    `resets` says, once for each time, why the shard holds nothing of what it held before: it is
    new, or its folder could not be loaded and was set aside (renamed, the newest three kept).
    """

    def __init__(self, path: Path, *, dimension: int, empty: bool) -> None:
        self._path = path
        self._config = _config(dimension)
        self.resets: list[str] = []
        if empty:
            shutil.rmtree(path, ignore_errors=True)
        self._shard: EdgeShard | None = self._open()

    def read(self, call: Callable[[EdgeShard], T]) -> T:
        """What `call` returns. Raises `EngineFailed` where the engine fails, after opening it
        again if it panicked."""
        try:
            return call(self._ready())
        except Exception as error:
            raise EngineFailed(_reason(error)) from error
        except BaseException as panic:
            self._reopen(panic)
            raise EngineFailed(_reason(panic)) from None

    def write(self, operation: UpdateOperation, *, undo: UpdateOperation | None = None) -> None:
        """Applies `operation`. Where the engine raises, part of it may be applied already, so
        `undo` is applied then; where it panics, the shard is opened again. Raises
        `EngineRefused`, or `EngineFailed` where it is not the operation's fault."""
        try:
            shard = self._ready()
            shard.update(operation)
        except Exception as error:
            if _is_outage(error):
                raise EngineFailed(_reason(error)) from error
            if undo is not None:
                self.write(undo)
            raise EngineRefused(_reason(error)) from error
        except BaseException as panic:
            self._reopen(panic)
            raise EngineRefused(_reason(panic)) from None

    def clear(self) -> None:
        """Starts an empty shard in place of this one, which also gives the disk space back. What
        was set aside goes too: it holds what whoever empties the index wants gone."""
        self._close()
        for path in (self._path, *self._asides()):
            shutil.rmtree(path, ignore_errors=True)
        self._shard = self._create()

    def close(self) -> None:
        if self._shard is not None:
            self._shard.flush()
            self._shard.close()

    def _ready(self) -> EdgeShard:
        """The shard; opened now where that failed after a panic."""
        if self._shard is None:
            self._shard = self._open()
        return self._shard

    def _open(self) -> EdgeShard:
        if not self._path.exists():
            self.resets.append("the index is new")
            return self._create()
        try:
            return self._load()
        except BaseException as error:  # a poisoned log panics, which is no Exception
            self._set_aside(error)
            return self._create()

    def _load(self) -> EdgeShard:
        # Without its log the engine would count operations from the start again, and silently
        # drop every write to a point that is there, as older than the point.
        if not (self._path / "wal").is_dir() or not any((self._path / "wal").iterdir()):
            raise IncompleteShard("its log is")
        shard = EdgeShard.load(str(self._path), self._config)
        # A folder that lost its segments loads as an empty shard without its payload indexes.
        if not {NAMESPACE, *TIMES, *KEYWORDS} <= set(shard.info().payload_schema):
            shard.close()
            raise IncompleteShard("its payload indexes are")
        return shard

    def _create(self) -> EdgeShard:
        self._path.mkdir(parents=True)
        shard = EdgeShard.create(str(self._path), self._config)
        indexes: dict[str, KeywordIndexParams | IntegerIndexParams] = {
            NAMESPACE: KeywordIndexParams(is_tenant=True),
            **{key: KeywordIndexParams(enable_hnsw=False) for key in KEYWORDS},
            **{
                key: IntegerIndexParams(lookup=False, range=True, enable_hnsw=False)
                for key in TIMES
            },
        }
        for key, params in indexes.items():
            shard.update(UpdateOperation.create_field_index(key, params))
        shard.flush()
        return shard

    def _reopen(self, panic: BaseException) -> None:
        log.error("The index engine panicked (%s); opening it again.", _reason(panic))
        self._close()
        try:
            self._shard = self._open()
        except Exception as error:
            log.error("It could not be opened, and is tried again when used: %s", _reason(error))

    def _close(self) -> None:
        """Lets go of the shard, in whatever state a panic has left it."""
        shard, self._shard = self._shard, None
        try:
            if shard is not None:
                shard.close()
        except BaseException as error:
            log.warning("The index engine could not be closed: %s", _reason(error))

    def _set_aside(self, error: BaseException) -> None:
        numbers = sorted(_number(path) for path in self._asides())
        for number in numbers[: len(numbers) - ASIDE_AT_MOST + 1]:
            shutil.rmtree(self._aside(number), ignore_errors=True)
        aside = self._aside(numbers[-1] + 1 if numbers else 1)
        self._path.rename(aside)
        reason = f"it could not be loaded ({_reason(error)}) and was set aside as {aside.name}"
        self.resets.append(reason)
        log.error("The index starts empty, to be built again from SQL: %s.", reason)

    def _asides(self) -> list[Path]:
        return list(self._path.parent.glob(f"{self._path.name}.aside-*"))

    def _aside(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.aside-{number}")


def _config(dimension: int) -> EdgeConfig:
    return EdgeConfig(
        vectors={
            DENSE: EdgeVectorParams(
                size=dimension,
                distance=Distance.Cosine,
                # Scans fast enough without an optimised graph up to about 100,000 points in the
                # scope of one query, at .996 of the exact recall.
                datatype=VectorStorageDatatype.Turbo8,
            )
        },
        sparse_vectors={SPARSE: EdgeSparseVectorParams(modifier=Modifier.Idf)},
        wal_enabled=True,
    )


def _is_outage(error: Exception) -> bool:
    """The engine raises bare exceptions; its own faults begin with these words."""
    return isinstance(error, OSError | MemoryError) or str(error).startswith("Service ")


def _number(aside: Path) -> int:
    ending = aside.name.rpartition("-")[2]
    return int(ending) if ending.isdigit() else 0


def _reason(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]
