"""Which paths a skill's files may have: inside its folder on every system, and each once on those
that do not tell upper from lower case."""

import re
import unicodedata
from collections.abc import Iterable

from memserver_skills.agent_skills.faults import Fault

LONGEST = 300
DEEPEST = 10
_DRIVE = re.compile(r"[A-Za-z]:")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
"""Names that open a device instead of a file where Windows is used."""


def path_fault(path: str) -> Fault | None:
    """What is wrong with a relative path with forward slashes, None where nothing is."""
    shown = repr(path[:80])
    parts = path.split("/")
    if not path or path.endswith("/"):
        return Fault("path_empty", f"{shown} names no file", path)
    if len(path) > LONGEST:
        return Fault("path_long", f"the path {shown} is over {LONGEST} characters", path)
    if "\\" in path:
        return Fault("path_backslash", f"the path {shown} has backslashes", path)
    if path.startswith("/"):
        return Fault("path_absolute", f"the path {shown} is absolute", path)
    if _DRIVE.match(path):
        return Fault("path_drive", f"the path {shown} begins with a drive", path)
    if ".." in parts:
        return Fault("path_traversal", f"the path {shown} leads out of its folder (..)", path)
    if "" in parts or "." in parts:
        return Fault("path_not_plain", f"the path {shown} has an empty part or a single dot", path)
    if len(parts) > DEEPEST:
        return Fault("path_deep", f"the path {shown} is deeper than {DEEPEST} folders", path)
    if any(unicodedata.category(sign) in ("Cc", "Cf", "Cs") for sign in path):
        return Fault("path_unseen", f"the path {shown} has characters that are not seen", path)
    if any(
        part != part.strip(" ") or part.endswith(".") or _DEVICE.fullmatch(part) for part in parts
    ):
        said = f"a part of the path {shown} names something else on Windows"
        return Fault("path_not_portable", said, path)
    if any(sign in path for sign in ':*?"<>|'):
        said = f"the path {shown} has characters that Windows does not have in names"
        return Fault("path_not_portable", said, path)
    return None


def collisions(paths: Iterable[str]) -> list[Fault]:
    """Paths that are there twice, that differ in case alone, or of which one is a file where
    another needs a folder."""
    faults = []
    seen: dict[str, str] = {}
    folders: dict[str, str] = {}
    for path in paths:
        plain = folded(path)
        if plain in seen:
            known = seen[plain]
            said = "twice" if known == path else f"beside {known[:80]!r}, which is the same to some"
            code = "path_twice" if known == path else "path_case"
            faults.append(Fault(code, f"the path {path[:80]!r} is there {said}", path))
        seen[plain] = path
        parts = plain.split("/")
        for depth in range(1, len(parts)):
            folders.setdefault("/".join(parts[:depth]), path)
    for plain, path in seen.items():
        if plain in folders:
            said = f"{path[:80]!r} is a file, and a folder to {folders[plain][:80]!r}"
            faults.append(Fault("path_file_and_folder", said, path))
    return faults


def folded(path: str) -> str:
    """The form in which two paths are the same to a system that ignores case, or composes
    letters."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
