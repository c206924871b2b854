"""The root of all errors."""

from typing import ClassVar


class MemserverError(Exception):
    """Root of all errors that a caller can cause or must know about."""

    code: ClassVar[str] = "internal_error"
