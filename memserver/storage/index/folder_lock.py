"""One process a data folder: the operating system's file lock, gone with the process."""

import sys
from pathlib import Path
from typing import IO

from memserver.domain.errors import DataInUse


class FolderLock:
    """Holds `<path>.lock` until `release`; raises `DataInUse` where it is held, by this process
    or another. The file stays: removing it would let two processes lock two files."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.with_name(path.name + ".lock").open("a+b")
        try:
            _lock(self._file)
        except OSError:
            self._file.close()
            raise DataInUse(str(path)) from None

    def release(self) -> None:
        self._file.close()


def is_held(path: Path) -> bool:
    """Whether a process has the folder, told without making anything. A process that wants it at
    this very moment may be refused."""
    try:
        with path.with_name(path.name + ".lock").open("rb") as file:
            _lock(file)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
