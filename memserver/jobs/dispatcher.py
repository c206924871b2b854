"""The thread that turns operations that were asked for into submitted work, and sees to it that
whatever the job engine has lost is submitted again: our rows are the truth, not the engine's."""

import logging
import threading
import time
from collections.abc import Callable
from uuid import UUID

from memserver.domain.operations import State
from memserver.domain.ports import Jobs, Store

logger = logging.getLogger(__name__)

SETTLE = 0.01
"""Seconds between the bell and the look: it is rung inside the transaction that stores the
operation, which is seen only once it is committed."""


class Dispatcher:
    """Looks every `interval` seconds, and when `bell` rings, for pending operations, and every
    `reconcile_every` seconds at all that have not ended. Start it after the job engine."""

    def __init__(
        self,
        *,
        store: Store,
        jobs: Jobs,
        bell: threading.Event,
        interval: float = 0.2,
        reconcile_every: float = 5.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._bell = bell
        self._interval = interval
        self._reconcile_every = reconcile_every
        self._monotonic = monotonic
        self._submitted: frozenset[tuple[UUID, int]] = frozenset()
        self._reconcile_at = monotonic()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def alive(self) -> bool:
        """Whether accepted work is being looked for; readiness depends on it."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Returns once nothing more is submitted."""
        self._stopping.set()
        self._bell.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def look(self) -> None:
        """Submits what is due, and then raises what the last refused submit did. Safe to repeat:
        submitting an attempt twice runs it once."""
        reconciling = self._monotonic() >= self._reconcile_at
        with self._store.reading() as reader:
            unfinished = reader.unfinished_operations()
        attempts = {(operation.id, operation.attempt): operation for operation in unfinished}
        if reconciling:
            self._reconcile_at = self._monotonic() + self._reconcile_every
        # What is no longer unfinished is forgotten, so that this does not grow.
        self._submitted &= attempts.keys()
        failure: Exception | None = None
        for attempt, operation in attempts.items():
            if self._stopping.is_set():
                return
            pending = operation.state is State.PENDING and attempt not in self._submitted
            if pending or reconciling:
                try:
                    self._jobs.submit(*attempt)
                    self._submitted |= {attempt}
                except Exception as error:
                    # One that cannot be submitted must not keep the others waiting.
                    failure = error
        if failure is not None:
            raise failure

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.look()
            except Exception as error:
                # Nothing is lost: the rows stay pending, and the next look finds them again.
                logger.error("Looking for work failed with %s; trying again", type(error).__name__)
            if self._bell.wait(self._interval):
                self._bell.clear()
                self._stopping.wait(SETTLE)
