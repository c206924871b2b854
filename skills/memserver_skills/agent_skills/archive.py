"""Skills in a zip file. Nothing is unpacked to a disk, and nothing that the archive says of itself
is believed: sizes are counted while reading, names are held against every rule of paths."""

import io
import stat
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from memserver_skills.agent_skills.faults import BadSkill, Fault, bad
from memserver_skills.agent_skills.folder import SKILL_FILE
from memserver_skills.agent_skills.paths import collisions, folded, path_fault

PIECE = 64 * 1024
ENCRYPTED = 0x1 | 0x40
_READ = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_EPOCH = (1980, 1, 1, 0, 0, 0)
_FILE = (stat.S_IFREG | 0o644) << 16
_UNIX = 3


@dataclass(frozen=True, slots=True)
class Bounds:
    """`total` bytes over all files, `ratio` of what is unpacked to the whole archive's size,
    looked at from `suspect` bytes on, since short texts of one letter are no attack."""

    files: int = 2_000
    total: int = 32_000_000
    ratio: int = 100
    suspect: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The folders that hold a `SKILL.md`, each with its files by relative path; `folder` is None
    for one that lies at the root, whose name nobody knows. `strays` are files that belong to no
    skill."""

    skills: tuple["SkillFolder", ...]
    strays: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SkillFolder:
    path: str
    folder: str | None
    files: Mapping[str, bytes]


def unpack(data: bytes, bounds: Bounds | None = None) -> Unpacked:
    """The skills of an archive. Raises `BadSkill` for what no honest archive holds; nothing of
    such an archive is taken."""
    files = read_zip(data, bounds or Bounds())
    roots = sorted(
        path.removesuffix(SKILL_FILE)
        for path in files
        if path == SKILL_FILE or path.endswith(f"/{SKILL_FILE}")
    )
    if not roots:
        raise bad("no_skill", f"the archive holds no {SKILL_FILE}")
    # A file named so deep inside a skill is one of its files.
    outer = [root for root in roots if not any(_within(root, other) for other in roots)]
    owned: dict[str, dict[str, bytes]] = {root: {} for root in outer}
    strays = []
    for path, content in files.items():
        root = next((root for root in outer if path.startswith(root)), None)
        if root is None:
            strays.append(path)
        else:
            owned[root][path.removeprefix(root)] = content
    return Unpacked(
        tuple(SkillFolder(root, _name(root), held) for root, held in owned.items()),
        tuple(strays),
    )


def read_zip(data: bytes, bounds: Bounds) -> dict[str, bytes]:
    """All files of an archive by path. Raises `BadSkill`."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (
        zipfile.BadZipFile,
        ValueError,
        NotImplementedError,  # what zipfile says of a feature that it lacks
        OSError,
        EOFError,
    ) as error:
        raise bad("zip_unreadable", "the archive cannot be read as a zip file") from error
    with archive:
        members = archive.infolist()
        if len(members) > bounds.files:
            raise bad("zip_many", f"the archive has over {bounds.files:,} entries")
        files = [member for member in members if not _is_folder(member)]
        faults = [fault for member in members if (fault := _member_fault(member)) is not None]
        faults += collisions(member.filename for member in files)
        if faults:
            raise BadSkill(faults[:20])
        found: dict[str, bytes] = {}
        size = 0
        for member in files:
            content = _read(archive, member, len(data), size, bounds)
            size += len(content)
            found[member.filename] = content
    return found


def pack(folder: str, files: Mapping[str, bytes]) -> bytes:
    """One skill's folder as an archive, always the same bytes for the same files."""
    return write_zip({f"{folder}/{path}": content for path, content in files.items()})


def write_zip(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(files):
            member = zipfile.ZipInfo(path, _EPOCH)
            member.create_system = _UNIX
            member.external_attr = _FILE
            archive.writestr(member, files[path], zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _member_fault(member: zipfile.ZipInfo) -> Fault | None:
    # What zipfile has made of the name would hide a NUL and, elsewhere, a backslash.
    name = member.orig_filename
    shown = repr(name[:80])
    if "\x00" in name:
        return Fault("path_unseen", f"the path {shown} has characters that are not seen", name)
    fault = path_fault(name.removesuffix("/") if _is_folder(member) else name)
    if fault is not None:
        return fault
    kind = stat.S_IFMT(member.external_attr >> 16)
    if stat.S_ISLNK(kind):
        return Fault("zip_link", f"{shown} is a link", name)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return Fault("zip_no_file", f"{shown} is neither a file nor a folder", name)
    if member.flag_bits & ENCRYPTED:
        return Fault("zip_encrypted", f"{shown} is encrypted", name)
    if member.compress_type not in _READ:
        return Fault("zip_packing", f"{shown} is packed by a method other than deflate", name)
    return None


def _read(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, packed: int, before: int, bounds: Bounds
) -> bytes:
    """A member's content, read no further than the bounds allow, whatever size it claims."""
    parts: list[bytes] = []
    size = before
    try:
        with archive.open(member) as opened:
            while part := opened.read(PIECE):
                parts.append(part)
                size += len(part)
                if size > bounds.total:
                    raise bad("zip_large", f"the archive unpacks to over {bounds.total:,} bytes")
                if size > bounds.suspect and size > bounds.ratio * packed:
                    said = f"the archive unpacks to over {bounds.ratio} times its size"
                    raise bad("zip_bomb", said)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, BadSkill):
            raise
        said = f"{member.filename[:80]!r} cannot be unpacked"
        raise bad("zip_broken", said, member.filename) from error
    content = b"".join(parts)
    if len(content) != member.file_size:
        said = f"{member.filename[:80]!r} has another size than the archive says"
        raise bad("zip_broken", said, member.filename)
    return content


def _is_folder(member: zipfile.ZipInfo) -> bool:
    return member.orig_filename.endswith("/")


def _within(root: str, other: str) -> bool:
    return root != other and folded(root).startswith(folded(other))


def _name(root: str) -> str | None:
    return root.rstrip("/").rsplit("/", 1)[-1] or None
