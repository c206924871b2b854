"""Backups of everything, made and restored while the server runs."""

import errno
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import TimeoutError as TooLate
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from memserver.domain.backups import Manifest, check
from memserver.domain.errors import BackupMismatch, Busy, Unavailable
from memserver.domain.ports import Store
from memserver.domain.ports.privacy import VectorNames
from memserver.domain.scope import Scope
from memserver.services.access import Access
from memserver.services.gate import Gate
from memserver.services.indexing import Indexer
from memserver.services.privacy.protecting import Protecting

DRAINED_S = 30.0
"""How long requests that are under way may take before a restore gives up."""
SEARCHABLE_S = 3600.0
"""How long requests are kept out at most, until all that was restored is searchable."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A whole archive in a file without a name, which is gone when it is closed."""

    file: BinaryIO
    size: int
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Restored:
    """`documents` counts what is searchable now, None where that is not known yet.
    `caller_known` says whether the key that asked opens anything now."""

    manifest: Manifest
    documents: int | None
    caller_known: bool


class BackingUp:
    """`encoder` is the fingerprint of what makes vectors here, `scratch` a folder for archives
    under way, `forget` what drops whatever was kept in memory of the state before a restore.
    Whoever was erased after an archive was made is erased from it before anyone can read it."""

    def __init__(
        self,
        store: Store,
        access: Access,
        indexer: Indexer,
        gate: Gate,
        *,
        encoder: str,
        scratch: Path,
        forget: Sequence[Callable[[], None]],
        protecting: Protecting,
        vector_names: VectorNames,
    ) -> None:
        self._store = store
        self._access = access
        self._indexer = indexer
        self._gate = gate
        self._encoder = encoder
        self._scratch = scratch
        self._forget = tuple(forget)
        self._protecting = protecting
        self._vector_names = vector_names
        self._one_at_a_time = threading.Lock()

    def backup(self, scope: Scope) -> Backup:
        """Everything as it is at one moment. It is written here before any of it is sent, so that
        a slow receiver keeps no state of the database alive."""
        self._access.require_system(scope, "back up the server")
        with self._alone(), _room():
            file = self._file()
            try:
                manifest = self._store.dump(file)
                size = file.tell()
            except BaseException:
                file.close()
                raise
        file.seek(0)
        return Backup(file, size, manifest)

    def receiving(self, scope: Scope) -> BinaryIO:
        """A file without a name to receive an archive in. All tenants are in one, so only the
        system key may bring it."""
        self._access.require_system(scope, "restore a backup")
        return self._file()

    def restore(self, scope: Scope, archive: BinaryIO, *, replace: bool) -> Restored:
        """Puts the archive in place of everything, and returns when it is searchable. The archive
        is checked whole before; where anything fails, everything stays as it was.

        Raises `InvalidBackup`, `BackupMismatch`, `HoldsContent`, `OperationsUnfinished`, `Busy`,
        and `Unavailable` where requests under way do not end."""
        self._access.require_system(scope, "restore a backup")
        with self._alone():
            manifest = check(archive)
            if manifest.encoder not in (None, self._encoder):
                raise BackupMismatch(
                    "encoder",
                    archive=str(manifest.encoder),
                    here=self._encoder,
                    help="Restore it into a server with that encoder; 'memserver reindex "
                    "--offline' changes the encoder after that.",
                )
            with self._gate.closed(patience_s=DRAINED_S):
                rebuilt = self._indexer.replace(
                    lambda: self._swap(archive, manifest, replace=replace)
                )
                try:
                    documents = rebuilt.result(SEARCHABLE_S)
                except TooLate:
                    documents = None
        return Restored(manifest, documents, self._access.is_valid(scope))

    def _swap(self, archive: BinaryIO, manifest: Manifest, *, replace: bool) -> None:
        erased = self._store.load(
            archive,
            manifest,
            replace=replace,
            check=self._protecting.check,
            vector_names=self._vector_names,
        )
        for forget in self._forget:
            forget()
        self._protecting.open(self._store)
        if erased:
            # What was restored and taken away again must not lie in free pages.
            self._store.compact()

    def _file(self) -> BinaryIO:
        return cast(BinaryIO, tempfile.TemporaryFile(dir=self._scratch))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._one_at_a_time.acquire(blocking=False):
            raise Busy("Backing up and restoring")
        try:
            yield
        finally:
            self._one_at_a_time.release()


@contextmanager
def _room() -> Iterator[None]:
    """A full disk is no fault of the request."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise Unavailable("The data folder has no room for the archive.") from None
