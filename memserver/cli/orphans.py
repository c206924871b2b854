"""Ends what a process left behind, where that left its group, too. Only Linux tells who it is:
there orphans come to whoever asks for them, and elsewhere this does nothing."""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_TASKS = Path("/proc/self/task")


@contextmanager
def no_orphans() -> Iterator[None]:
    """What comes to be a child of this process within the block ends with it."""
    if not sys.platform.startswith("linux") or not _adopt(True):
        yield
        return
    before = _children()
    try:
        yield
    finally:
        # Who loses a parent here comes in its place, and is found by the next look.
        while left := _children() - before:
            for child in left:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                with suppress(ChildProcessError):
                    os.waitpid(child, 0)
        _adopt(False)


def _adopt(wanted: bool) -> bool:
    with suppress(OSError, AttributeError):
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0) == 0)
    return False


def _children() -> set[int]:
    found: set[int] = set()
    for task in _TASKS.iterdir():
        with suppress(OSError):
            found.update(map(int, (task / "children").read_text().split()))
    return found
