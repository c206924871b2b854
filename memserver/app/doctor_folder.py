"""The data folder of a server: there, its owner's alone, and with room to grow."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from memserver.app.settings import Settings
from memserver.cli import Finding, Health

CHECK = "data folder"
LEAST_FREE = 256 * 1024 * 1024
OTHERS = 0o077
BLOCK = 512


def examine_folder(settings: Settings) -> Iterator[Finding]:
    """A problem with it leaves nothing else to look at."""
    folder = settings.data
    name = str(folder.absolute())
    if not folder.is_dir():
        yield Finding(
            CHECK,
            Health.PROBLEM,
            f"{name} is not there.",
            "Name the folder by --data or MEMSERVER_DATA; a server's first start makes it.",
        )
        return
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield Finding(
            CHECK,
            Health.PROBLEM,
            f"{name} cannot be read and written by this user.",
            "Run as the folder's owner, or give it to this user.",
        )
        return
    yield _whose(folder, name)
    yield _room(folder)


def _whose(folder: Path, name: str) -> Finding:
    others = os.name == "posix" and folder.stat().st_mode & OTHERS
    if others:
        return Finding(
            CHECK,
            Health.WARNING,
            f"{name} is open to other users of this machine.",
            f"chmod 700 {name}",
        )
    return Finding(CHECK, Health.OK, f"{name} is there, writable, and its owner's alone.")


def _room(folder: Path) -> Finding:
    held = size_of(folder, allocated=True)
    free = shutil.disk_usage(folder).free
    says = f"{in_megabytes(held)} held, {in_megabytes(free)} free."
    if free < LEAST_FREE:
        return Finding("disk", Health.PROBLEM, says, "Make room: writes are about to fail.")
    if free < held:
        return Finding(
            "disk", Health.WARNING, says, "There is no room for a restore or a vacuum: make some."
        )
    return Finding("disk", Health.OK, says)


def size_of(folder: Path, *, allocated: bool = False) -> int:
    """Bytes of all files below, or what they take of the disk: the index's have holes. What
    vanishes meanwhile counts nothing."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                found = os.lstat(os.path.join(where, name))
            except FileNotFoundError:
                continue
            blocks = getattr(found, "st_blocks", None) if allocated else None
            total += found.st_size if blocks is None else blocks * BLOCK
    return total


def in_megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
