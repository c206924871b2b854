"""Skills on this machine as one content: a folder is packed, a file is taken as it is."""

import io
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from memserver_client._errors import invalid

MEDIA_TYPES = {
    "zip": "application/zip",
    "markdown": "text/markdown",
    "skillrl": "application/json",
    "jsonl": "application/x-ndjson",
}
SKILL_FILE = "SKILL.md"
LEFT_OUT = frozenset({".git", "__pycache__", ".DS_Store"})
"""What tools leave behind in folders, and belongs to no skill."""


def read_path(path: Path) -> bytes:
    try:
        return _packed(path) if path.is_dir() else path.read_bytes()
    except OSError as error:
        raise invalid(f"{path} cannot be read ({error.strerror or error}).") from error


def format_of(content: bytes) -> str:
    """A zip file begins with PK, front matter with a line of ---, a bank is one JSON object; all
    else is taken for JSON lines."""
    if content.startswith(b"PK"):
        return "zip"
    text = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"---"):
        return "markdown"
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return "jsonl"
    return "jsonl" if isinstance(whole, dict) and "body" in whole else "skillrl"


def _packed(folder: Path) -> bytes:
    """The folder under its own name where it is a skill, else the folders in it under theirs."""
    above = folder.resolve().parent if (folder / SKILL_FILE).is_file() else folder.resolve()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in _files(folder.resolve()):
            # Times of files before 1980 have no place in an archive, and none matter.
            member = zipfile.ZipInfo(file.relative_to(above).as_posix())
            archive.writestr(member, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _files(folder: Path) -> Iterator[Path]:
    """In a stable order. A link could bring in any file of the machine, so none is followed."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted([*files, *folders]):
            path = Path(here) / name
            if path.is_symlink():
                raise invalid(
                    f"{path} is a link, which is not followed; put the file in its place."
                )
            if name in files and name not in LEFT_OUT:
                yield path
