"""The archive of a backup: a gzipped tar of JSON lines, some rows of one table a member, closed by
a manifest that says what all of them must be.

A member has a bounded size, so that neither who writes nor who reads an archive holds more than one
of them, however large a table is; a tar wants each member's size before its content.
"""

import gzip
import hashlib
import io
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from memserver.domain.backups.manifest import MANIFEST, Manifest, Member
from memserver.domain.errors import InvalidBackup

MEMBER_BYTES = 4 * 1024 * 1024
MANIFEST_BYTES = 64 * 1024 * 1024
PIECE = 256 * 1024
QUICK = 3
"""Of gzip's levels the one past which this content shrinks by little more and takes far longer."""

BROKEN = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, UnicodeDecodeError)


class ArchiveWriter:
    """Writes an archive into `file`, one table after another, and at last its manifest."""

    def __init__(self, file: BinaryIO, *, member_bytes: int = MEMBER_BYTES) -> None:
        self._member_bytes = member_bytes
        # Neither name nor time in the header: the same rows are the same bytes.
        self._gzip = gzip.GzipFile(
            filename="", fileobj=file, mode="wb", compresslevel=QUICK, mtime=0
        )
        self._tar = tarfile.open(fileobj=self._gzip, mode="w|")  # noqa: SIM115
        self.members: list[Member] = []

    def add(self, table: str, rows: Iterable[bytes]) -> None:
        """The table's rows, each a line without its end."""
        waiting: list[bytes] = []
        size = 0
        number = 0
        for row in rows:
            waiting.append(row + b"\n")
            size += len(row) + 1
            if size >= self._member_bytes:
                self._put(table, number, waiting)
                waiting, size, number = [], 0, number + 1
        if waiting:
            self._put(table, number, waiting)

    def close(self, manifest: Manifest) -> None:
        """The archive is whole after this, and not before."""
        self._write(MANIFEST, manifest.to_json())
        self._tar.close()
        self._gzip.close()

    def _put(self, table: str, number: int, lines: list[bytes]) -> None:
        content = b"".join(lines)
        name = f"{table}/{number:06}.ndjson"
        digest = hashlib.sha256(content).hexdigest()
        self.members.append(Member(name, table, len(lines), digest))
        self._write(name, content)

    def _write(self, name: str, content: bytes) -> None:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        info.mode = 0o600
        self._tar.addfile(info, io.BytesIO(content))


def check(file: BinaryIO) -> Manifest:
    """The manifest of an archive that is whole, read to its last byte; `InvalidBackup` for any
    other."""
    found: list[tuple[str, int, str]] = []
    manifest: Manifest | None = None
    for name, content in _members(file):
        if manifest is not None:
            raise InvalidBackup(f"something follows its {MANIFEST}")
        with _read_or_refused():
            if name == MANIFEST:
                manifest = Manifest.from_json(content.read(MANIFEST_BYTES))
            else:
                found.append((name, *_counted(content)))
    if manifest is None:
        raise InvalidBackup(f"it ends before its {MANIFEST}: it was cut short, or is no backup")
    said = [(member.name, member.rows, member.sha256) for member in manifest.members]
    if found != said:
        raise InvalidBackup(f"{_first_difference(found, said)} is not what its {MANIFEST} says")
    return manifest


def lines(file: BinaryIO, manifest: Manifest) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The rows of a checked archive: the table's name and some of its lines, in the order in which
    they were written. The lines must be used up before the next are asked for."""
    table_of = {member.name: member.table for member in manifest.members}
    for name, content in _members(file):
        if name != MANIFEST:
            yield table_of[name], iter(content)


def _members(file: BinaryIO) -> Iterator[tuple[str, BinaryIO]]:
    """Every member by its name, from the start of the file. Only at the very end is it known that
    the file is what was written: gzip's own sum stands there."""
    file.seek(0)
    with gzip.GzipFile(fileobj=file, mode="rb") as unzipped:
        with _read_or_refused():
            tar = tarfile.open(fileobj=unzipped, mode="r|")  # noqa: SIM115
        with tar:
            while (found := _next(tar)) is not None:
                yield found
        with _read_or_refused():
            while unzipped.read(PIECE):
                pass


def _next(tar: tarfile.TarFile) -> tuple[str, BinaryIO] | None:
    with _read_or_refused():
        info = tar.next()
        if info is None:
            return None
        # A streamed tar keeps a list of all that it has seen.
        tar.members = []  # type: ignore[attr-defined]
        content = tar.extractfile(info) if info.isreg() else None
        if content is None:
            raise tarfile.ReadError("no file")
        return info.name, cast(BinaryIO, content)


def _counted(content: BinaryIO) -> tuple[int, str]:
    """How many lines the member has, and its digest."""
    digest = hashlib.sha256()
    rows = 0
    while piece := content.read(PIECE):
        digest.update(piece)
        rows += piece.count(b"\n")
    return rows, digest.hexdigest()


@contextmanager
def _read_or_refused() -> Iterator[None]:
    try:
        yield
    except BROKEN as error:
        raise InvalidBackup(f"it is damaged or cut short ({type(error).__name__})") from None


def _first_difference(found: list[tuple[str, int, str]], said: list[tuple[str, int, str]]) -> str:
    for here, there in zip(found, said, strict=False):
        if here != there:
            return here[0]
    return "the number of its members"
