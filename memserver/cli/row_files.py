"""Files of rows: written row by row, there under their name only when they are whole."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Protocol

Row = dict[str, Any]


class Format(StrEnum):
    JSONL = "jsonl"
    PARQUET = "parquet"


class RowFile(Protocol):
    def write(self, row: Row, line: bytes) -> None:
        """`line` is the row as canonical JSON, which whoever hashes the rows has made already."""

    def close(self) -> None: ...


class JsonLines:
    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")

    def write(self, row: Row, line: bytes) -> None:
        self._file.write(line)

    def close(self) -> None:
        self._file.close()


def open_rows(path: Path, format: Format, kind: str) -> RowFile:
    """A new file for rows of a kind: `items`, `trajectories`, `decisions` or `vectors`."""
    if format is Format.JSONL:
        return JsonLines(path)
    # Imported where it is used: it takes longer to load than most commands to run.
    from memserver.cli.parquet_rows import ParquetRows

    return ParquetRows(path, kind)


@contextmanager
def arriving_file(to: Path) -> Iterator[Path]:
    """Where to write meanwhile. What was there before stays if the block fails."""
    unfinished = to.with_name(f"{to.name}.part")
    try:
        yield unfinished
        os.replace(unfinished, to)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def arriving_folder(to: Path) -> Iterator[Path]:
    """The same for a folder, which must be empty or absent."""
    unfinished = Path(mkdtemp(dir=to.parent, prefix=f".{to.name}.", suffix=".part"))
    try:
        yield unfinished
        unfinished.chmod(0o755)
        os.replace(unfinished, to)
    finally:
        rmtree(unfinished, ignore_errors=True)
