"""Readiness: whether the server does what it promises right now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memserver.domain.ports import Store, VectorIndex
from memserver.services.indexing import Indexer, audit


@dataclass(frozen=True, slots=True)
class Report:
    """`problem` is the index's, and `behind_s` how long ago it last held every change, 0 while it
    does; `stopped` names the background parts that have died, and do not
    come back before a restart. `missing` and `orphans` count documents that differ between SQL
    and index; None where nobody asked for that count, which reads all of both."""

    applied: int
    lag: int
    skipped: int
    behind_s: float
    problem: str | None
    stopped: tuple[str, ...]
    operations_unfinished: int
    decisions_dropped: int
    missing: int | None = None
    orphans: int | None = None


class Readiness:
    """`alive` says of each background part, by its name, whether it still runs."""

    def __init__(
        self,
        store: Store,
        index: VectorIndex,
        indexer: Indexer,
        *,
        alive: Mapping[str, Callable[[], bool]],
    ) -> None:
        self._store = store
        self._index = index
        self._indexer = indexer
        self._alive = alive

    def report(self, *, with_audit: bool = False) -> Report:
        with self._store.reading() as reader:
            unfinished = len(reader.unfinished_operations())
        drift = audit(self._store, self._index) if with_audit else None
        lag = self._indexer.lag
        return Report(
            applied=self._indexer.applied,
            lag=lag,
            skipped=len(self._indexer.skipped),
            behind_s=self._indexer.level_ago_s if lag else 0.0,
            problem=self._indexer.problem,
            stopped=tuple(name for name, lives in self._alive.items() if not lives()),
            operations_unfinished=unfinished,
            decisions_dropped=self._store.dropped,
            missing=None if drift is None else len(drift.missing),
            orphans=None if drift is None else len(drift.orphans),
        )
