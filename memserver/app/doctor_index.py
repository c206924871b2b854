"""The index of a stopped server against its database. The engine writes where it opens, so what it
opens is a copy, in the system's folder for temporary files."""

import shutil
import tempfile
from contextlib import closing
from pathlib import Path

from memserver.app.doctor_database import Database
from memserver.app.doctor_folder import in_megabytes, size_of
from memserver.app.settings import Settings
from memserver.cli import Finding, Health
from memserver.domain.errors import MemserverError
from memserver.services.indexing import Drift, audit
from memserver.storage.index import EdgeIndex

CHECK = "index"


def examine_index(settings: Settings, database: Database, dimension: int | None) -> Finding:
    """`dimension` is the encoder's; None where it cannot be known."""
    if settings.qdrant_url is not None:
        return Finding(CHECK, Health.OK, "On a Qdrant server; a running memserver compares it.")
    folder = settings.data / "index"
    if not folder.is_dir() or database.mark is None or database.mark[0] == 0:
        if not database.head:
            return Finding(CHECK, Health.OK, "Nothing is stored that it should hold.")
        says = "It is not there, or not whole."
        return Finding(CHECK, Health.WARNING, says, "The next start builds it from the database.")
    if dimension is None:
        says = "Not compared with the database: that needs the encoder it was built with."
        return Finding(CHECK, Health.WARNING, says, "See model.")
    size = size_of(folder)
    if shutil.disk_usage(tempfile.gettempdir()).free < size:
        says = f"Not compared: a copy of it needs {in_megabytes(size)} in {tempfile.gettempdir()}."
        return Finding(CHECK, Health.WARNING, says, "Make room there, or set TMPDIR.")
    return _compared(folder, database, dimension)


def _compared(folder: Path, database: Database, dimension: int) -> Finding:
    assert database.reads is not None, "an unread database has no mark"
    assert database.mark is not None, "an index without a mark is not compared"
    with tempfile.TemporaryDirectory(prefix="memserver-doctor-") as scratch:
        copy = Path(scratch) / "index"
        try:
            shutil.copytree(folder, copy)
            with closing(EdgeIndex(copy, dimension=dimension)) as index:
                if index.resets:
                    says = "Its files cannot be loaded."
                    helps = "The next start sets them aside and builds it from the database."
                    return Finding(CHECK, Health.WARNING, says, helps)
                drift = audit(database.reads, index)
        except (MemserverError, OSError) as error:
            says = f"It cannot be opened ({type(error).__name__})."
            return Finding(CHECK, Health.PROBLEM, says, "memserver reindex --offline")
    return _of_drift(drift, behind=database.head - database.mark[0])


def _of_drift(drift: Drift, *, behind: int) -> Finding:
    if not drift:
        return Finding(CHECK, Health.OK, "It holds what the database says, and nothing else.")
    says = f"{len(drift.missing)} documents are missing, {len(drift.orphans)} should be gone."
    if behind > 0:
        helps = f"It is {behind} changes behind; the next start follows them."
        return Finding(CHECK, Health.WARNING, says, helps)
    return Finding(CHECK, Health.PROBLEM, says, "memserver reindex --offline")
