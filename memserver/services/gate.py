"""What lets requests in, and keeps them out while everything that they would see is replaced."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from memserver.domain.errors import Restoring, Unavailable


class Passage:
    """One request's stay. `leave` may be called again, and earlier than at the request's end, by
    one that only sends what it has read."""

    def __init__(self, gate: "Gate") -> None:
        self._gate = gate
        self._inside = True

    def leave(self) -> None:
        if self._inside:
            self._inside = False
            self._gate._left()


class Gate:
    """Safe for use by many threads; no call but `closed` waits. `epoch` counts how often it was
    closed: what was read under another is to be read again."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._is_closed = False
        self.epoch = 0

    def enter(self) -> Passage:
        """Raises `Restoring` while the gate is closed."""
        with self._changed:
            if self._is_closed:
                raise Restoring
            self._inside += 1
        return Passage(self)

    @contextmanager
    def closed(self, *, patience_s: float) -> Iterator[None]:
        """Nobody is inside, from here to the end of the block. Raises `Restoring` where somebody
        else has closed the gate, `Unavailable` where those inside do not leave in time."""
        with self._changed:
            if self._is_closed:
                raise Restoring
            self._is_closed = True
        try:
            self._wait_until_empty(patience_s)
            yield
        finally:
            with self._changed:
                self._is_closed = False
                self.epoch += 1

    def _wait_until_empty(self, patience_s: float) -> None:
        until = time.monotonic() + patience_s
        with self._changed:
            while self._inside:
                left = until - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    raise Unavailable(
                        f"{self._inside} requests did not end within {patience_s:g} s; nothing "
                        "was changed."
                    )

    def _left(self) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()
