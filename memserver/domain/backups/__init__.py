"""Backups: what an archive says of itself, and how one is written, checked and read."""

from memserver.domain.backups.archive import ArchiveWriter, check, lines
from memserver.domain.backups.manifest import FORMAT, MANIFEST, Manifest, Member

__all__ = ["FORMAT", "MANIFEST", "ArchiveWriter", "Manifest", "Member", "check", "lines"]
