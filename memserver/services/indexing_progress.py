"""How far the index follows the change log, and who waits for it to get somewhere."""

import heapq
import itertools
import threading
from concurrent.futures import Future

from memserver.domain.errors import Unavailable


class Progress:
    """Safe for use by many threads.

    While lost content is rebuilt, only what was written after the rebuild began is in the index
    for certain, so earlier positions count as not reached.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._followed = 0
        self._rebuilt_from: int | None = None
        self._waiting: list[tuple[int, int, Future[None]]] = []
        self._ticket = itertools.count()
        self._ended = False

    @property
    def followed(self) -> int:
        """The position up to which changes were applied."""
        return self._followed

    @property
    def applied(self) -> int:
        """The position up to which everything is searchable."""
        with self._lock:
            return self._followed if self._rebuilt_from is None else 0

    @property
    def rebuilding(self) -> bool:
        return self._rebuilt_from is not None

    def reached(self, position: int) -> Future[None]:
        """Done once the change at `position` is searchable; fails with `Unavailable` when the
        indexer stops. May be cancelled."""
        future: Future[None] = Future()
        with self._lock:
            if self._ended:
                future.set_exception(stopped())
            elif self._is_reached(position):
                future.set_result(None)
            else:
                heapq.heappush(self._waiting, (position, next(self._ticket), future))
        return future

    def follow(self, position: int) -> None:
        with self._lock:
            self._followed = position
            ready = self._take_ready()
        _resolve(ready)

    def begin_rebuild(self, position: int) -> None:
        """Content was lost; it is being rebuilt as of `position`."""
        with self._lock:
            self._followed = position
            self._rebuilt_from = position

    def end_rebuild(self) -> None:
        with self._lock:
            self._rebuilt_from = None
            ready = self._take_ready()
        _resolve(ready)

    def end(self) -> None:
        with self._lock:
            self._ended = True
            left = [future for _, _, future in self._waiting]
            self._waiting.clear()
        for future in left:
            if future.set_running_or_notify_cancel():
                future.set_exception(stopped())

    def _is_reached(self, position: int) -> bool:
        if position > self._followed:
            return False
        return self._rebuilt_from is None or position > self._rebuilt_from

    def _take_ready(self) -> list[Future[None]]:
        ready: list[Future[None]] = []
        early: list[tuple[int, int, Future[None]]] = []
        while self._waiting and self._waiting[0][0] <= self._followed:
            waiter = heapq.heappop(self._waiting)
            if waiter[2].cancelled():
                continue
            if self._is_reached(waiter[0]):
                ready.append(waiter[2])
            else:
                early.append(waiter)
        for waiter in early:
            heapq.heappush(self._waiting, waiter)
        return ready


def _resolve(futures: list[Future[None]]) -> None:
    """Outside the lock: callbacks of a future run here."""
    for future in futures:
        if future.set_running_or_notify_cancel():
            future.set_result(None)


def stopped() -> Unavailable:
    return Unavailable("The indexer has stopped; what was written is indexed at the next start.")
