"""Who this worker is to the job engine: it resumes only the work of its own identity, so the
name must be unique among workers and the same after a restart."""

import os
from pathlib import Path
from uuid import UUID, uuid4


def executor_identity(path: Path) -> str:
    """The identity kept in the file `path`; minted there at the first call. A file that was cut
    short by a crash is replaced, for the dispatcher also finds work that nobody resumes."""
    try:
        return str(UUID(path.read_text().strip()))
    except (FileNotFoundError, ValueError):
        identity = str(uuid4())
        fresh = path.with_name(path.name + ".new")
        with fresh.open("w") as file:
            file.write(identity)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        return identity
