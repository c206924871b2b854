"""Asking before long work begins whether a library may change at all."""

from memserver.domain.errors import LibraryFrozen
from memserver.domain.ports import Reader
from memserver.domain.scope import Namespace


def require_thawed(reader: Reader, namespace: Namespace) -> None:
    """Raises `LibraryFrozen`. The store itself refuses what would change a skill."""
    if reader.namespace_settings(namespace).frozen:
        raise LibraryFrozen(namespace.path)
