"""A reply that becomes a file: there whole, or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import BinaryIO


@contextmanager
def arriving(to: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `to` when the block ends well. Its owner alone
    may read it."""
    descriptor, part = mkstemp(dir=to.parent, prefix=f".{to.name}.", suffix=".part")
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        os.replace(part, to)
    except BaseException:
        os.unlink(part)
        raise
