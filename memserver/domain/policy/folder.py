"""A policy version as a folder, and as the zip of it that travels to a server.

Whichever way a PolicyFolder comes into being, its weights fit its manifest: reading, unpacking
and writing all check the same things.
"""

import hashlib
import io
import os
import secrets
import shutil
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from memserver.domain.policy.errors import InvalidPolicy
from memserver.domain.policy.manifest import (
    KIND_OF_ROLE,
    MANIFEST_LIMIT,
    Manifest,
    decoded,
    differences,
)
from memserver.domain.policy.scorer import Scorer, make_scorer

__all__ = [
    "MANIFEST_FILE",
    "WEIGHTS_FILE",
    "WEIGHTS_LIMIT",
    "Manifest",
    "PolicyFolder",
    "differences",
    "packed",
    "read_folder",
    "unpacked",
    "write_folder",
]

MANIFEST_FILE = "manifest.json"
WEIGHTS_FILE = "policy.safetensors"
WEIGHTS_LIMIT = 16 * 1024 * 1024
"""A server keeps the weights of all that a namespace may use at once in memory."""
HEADER_LIMIT = 64 * 1024
"""What safetensors say of their tensors. One of a million empty ones would take minutes to read."""

_LIMITS = {MANIFEST_FILE: MANIFEST_LIMIT, WEIGHTS_FILE: WEIGHTS_LIMIT}
_ZIP_LIMIT = sum(_LIMITS.values()) + 64 * 1024  # headers, and what deflate adds to noise
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can say


@dataclass(frozen=True, slots=True)
class PolicyFolder:
    """A manifest and the bytes of its safetensors. Raises InvalidPolicy where they do not belong
    together or cannot be served."""

    manifest: Manifest
    weights: bytes

    def __post_init__(self) -> None:
        if len(self.weights) > WEIGHTS_LIMIT:
            raise InvalidPolicy(_too_large(WEIGHTS_FILE, len(self.weights)))
        found = hashlib.sha256(self.weights).hexdigest()
        if found != self.manifest.weights_sha256:
            raise InvalidPolicy(
                f"The weights' SHA-256 is {found}, the manifest says "
                f"{self.manifest.weights_sha256[:80] or 'none'}."
            )
        self.scorer()
        wanted = KIND_OF_ROLE[self.manifest.role]
        if self.manifest.kind != wanted:
            raise InvalidPolicy(
                f"A policy of the role {self.manifest.role!r} is of kind {wanted!r}, not "
                f"{self.manifest.kind!r}."
            )

    def tensors(self) -> dict[str, npt.NDArray[np.float32]]:
        """The weights by name."""
        header = int.from_bytes(self.weights[:8], "little")
        if header > HEADER_LIMIT:
            raise InvalidPolicy(
                f"The weights are no safetensors of a policy: their header takes {header} bytes, "
                f"more than the {HEADER_LIMIT} that are allowed."
            )
        try:
            return safetensors.load(self.weights)
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise InvalidPolicy(f"The weights are no safetensors: {error}.") from error

    def scorer(self) -> Scorer:
        """The scorer that the policy serves with."""
        return make_scorer(
            self.manifest.kind,
            self.tensors(),
            features=len(self.manifest.feature_names),
            dimension=self.manifest.dimension,
        )


def write_folder(
    path: Path, manifest: Manifest, tensors: Mapping[str, npt.NDArray[np.float32]]
) -> PolicyFolder:
    """Writes a new folder at `path`, whole or not at all, and returns what it holds.

    The weights' hash is set here, whatever the manifest had for it. Raises InvalidPolicy for
    what no reader would take and FileExistsError where the path is taken: a version never
    changes.
    """
    dense = {name: np.ascontiguousarray(tensor) for name, tensor in sorted(tensors.items())}
    weights = safetensors.save(dense)
    hashed = replace(manifest, weights_sha256=hashlib.sha256(weights).hexdigest())
    # Through its JSON and back, so that a reader's refusal comes to the one who writes.
    folder = PolicyFolder(decoded(hashed.encoded()), weights)
    files = _files(folder)
    if path.exists():
        raise FileExistsError(f"{path} is there already: a policy version never changes.")
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    beside.mkdir()
    try:
        for name, data in files.items():
            with (beside / name).open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        beside.rename(path)
    except BaseException:
        shutil.rmtree(beside)
        raise
    return folder


def read_folder(path: Path) -> PolicyFolder:
    """The policy in this folder; other files in it are let be. Raises InvalidPolicy."""
    data = {}
    for name, limit in _LIMITS.items():
        try:
            with (path / name).open("rb") as file:
                data[name] = file.read(limit + 1)
        except OSError as error:
            raise InvalidPolicy(
                f"{path / name} cannot be read: {error.strerror or error}."
            ) from error
        if len(data[name]) > limit:
            raise InvalidPolicy(_too_large(name, (path / name).stat().st_size))
    return PolicyFolder(decoded(data[MANIFEST_FILE]), data[WEIGHTS_FILE])


def packed(folder: PolicyFolder) -> bytes:
    """The folder as a zip; equal folders give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in _files(folder).items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data)
    return buffer.getvalue()


def unpacked(data: bytes) -> PolicyFolder:
    """The policy in a zip from anywhere. Nothing touches the disk, and nothing is inflated past
    the limits. Raises InvalidPolicy for anything but the two files, plainly stored."""
    if len(data) > _ZIP_LIMIT:
        raise InvalidPolicy(f"The zip takes {len(data)} bytes, more than {_ZIP_LIMIT}.")
    _check_directory(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_names([member.filename for member in members])
            files = {member.filename: _member(archive, member) for member in members}
    except InvalidPolicy:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        EOFError,
        NotImplementedError,  # what zipfile says of a feature that it lacks
        ValueError,
    ) as error:
        raise InvalidPolicy(f"The zip is damaged: {error}.") from error
    return PolicyFolder(decoded(files[MANIFEST_FILE]), files[WEIGHTS_FILE])


_END = struct.Struct("<4s4H2LH")  # a zip's end record, where it has no comment
_LOCATOR_SIZE = 20


def _check_directory(data: bytes) -> None:
    """Before anything lists the members: a directory of a million entries would take a gigabyte
    to read."""
    if not data.startswith(b"PK") or len(data) < _END.size:
        raise InvalidPolicy("This is no zip file.")
    signature, *numbers = _END.unpack(data[-_END.size :])
    if signature != b"PK\x05\x06":
        raise InvalidPolicy("The zip does not end as a plain one without a comment does.")
    if data[-_END.size - _LOCATOR_SIZE :].startswith(b"PK\x06\x07"):
        raise InvalidPolicy("The zip is a ZIP64 one; a policy fits a plain one.")
    _, _, _, entries, directory, _, _ = numbers
    if entries != len(_LIMITS) or directory > 4096:
        raise InvalidPolicy(
            f"The zip holds {entries} members in a directory of {directory} bytes; a policy is "
            f"{MANIFEST_FILE} and {WEIGHTS_FILE}."
        )


def _check_names(names: list[str]) -> None:
    for name in names:
        if name not in _LIMITS:
            raise InvalidPolicy(
                f"The zip holds {name[:80]!r}; a policy is {MANIFEST_FILE} and {WEIGHTS_FILE}, "
                "in no folder."
            )
    for name in _LIMITS:
        if names.count(name) != 1:
            raise InvalidPolicy(f"The zip holds {name!r} {names.count(name)} times.")


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if member.flag_bits & 1:
        raise InvalidPolicy(f"The zip's {member.filename!r} is encrypted.")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InvalidPolicy(f"The zip's {member.filename!r} is neither stored nor deflated.")
    limit = _LIMITS[member.filename]
    if member.file_size > limit:
        raise InvalidPolicy(_too_large(member.filename, member.file_size))
    with archive.open(member) as file:
        # A reader gives no more than the directory declares, but that is its affair, not ours.
        content = file.read(limit + 1)
    if len(content) != member.file_size:
        raise InvalidPolicy(f"The zip's {member.filename!r} is not as long as it says.")
    return content


def _files(folder: PolicyFolder) -> dict[str, bytes]:
    return {MANIFEST_FILE: folder.manifest.encoded(), WEIGHTS_FILE: folder.weights}


def _too_large(name: str, size: int) -> str:
    return f"{name} takes {size} bytes, more than the {_LIMITS[name]} that are allowed."
