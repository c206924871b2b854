"""A skill in the open Agent Skills format (agentskills.io): a folder with a `SKILL.md` and any
other files, read and written without loss."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memserver_skills.agent_skills import front_matter
from memserver_skills.agent_skills.faults import BadSkill, Fault, bad
from memserver_skills.agent_skills.paths import collisions, path_fault
from memserver_skills.agent_skills.rules import Front, fields_of, front_of

SKILL_FILE = "SKILL.md"
_OTHER_SPELLING = "skill.md"
_MARK = "\ufeff"
MOST_FILES = 200
LARGEST_FILE = 750_000
"""In base64 that is as long as a text of a request may be."""
LARGEST_SKILL = 6_000_000


@dataclass(frozen=True, slots=True)
class AgentSkill:
    """`text` is the Markdown after the front matter, `files` what lies beside `SKILL.md`, by
    relative path. `source` is the front matter as it was written, for as long as it says what
    `front` says."""

    front: Front
    text: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    source: str = ""


def read_folder(files: Mapping[str, bytes], *, folder: str | None) -> AgentSkill:
    """The skill in a folder's files, by path relative to it; `folder` is its name, None where it
    is not known. Raises `BadSkill` with all that is wrong."""
    if SKILL_FILE not in files:
        said = f"there is no {SKILL_FILE}"
        if _OTHER_SPELLING in files:
            said += f"; {_OTHER_SPELLING} has to be written in upper case"
        raise bad("skill_file_missing", said)
    others = {path: data for path, data in files.items() if path != SKILL_FILE}
    faults = [*_paths(others), *collisions(files), *_sizes(others)]
    try:
        skill = replace(read_skill_file(files[SKILL_FILE], folder=folder), files=others)
    except BadSkill as error:
        raise BadSkill([*error.faults, *faults]) from error
    if faults:
        raise BadSkill(faults)
    return skill


def read_skill_file(data: bytes, *, folder: str | None) -> AgentSkill:
    """The skill that is a `SKILL.md` alone. Raises `BadSkill`."""
    if len(data) > LARGEST_FILE:
        raise bad("skill_file_large", f"SKILL.md is over {LARGEST_FILE:,} bytes")
    try:
        text = data.decode().removeprefix(_MARK)
    except UnicodeDecodeError as error:
        raise bad(
            "skill_file_not_utf8", f"SKILL.md is not UTF-8 (byte {error.start + 1})"
        ) from error
    if "\x00" in text:
        raise bad("skill_file_nul", "SKILL.md holds a NUL character")
    source, body = front_matter.split(text)
    return AgentSkill(front_of(front_matter.load(source), folder=folder), body, source=source)


def write_folder(skill: AgentSkill) -> dict[str, bytes]:
    """The folder's files by relative path; `read_folder` gives the same skill. Raises `BadSkill`
    where it is none that the format allows."""
    files = {SKILL_FILE: skill_file(skill), **skill.files}
    read_folder(files, folder=skill.front.name)
    return files


def skill_file(skill: AgentSkill) -> bytes:
    """`SKILL.md`: with the front matter as it was written where that still says the same."""
    source = skill.source
    if not _says(source, skill.front):
        source = front_matter.dump(fields_of(skill.front))
    return f"---\n{source}---\n{skill.text}".encode()


def _says(source: str, front: Front) -> bool:
    if not source.endswith("\n"):
        return False
    try:
        return front_of(front_matter.load(source), folder=None) == front
    except BadSkill:
        return False


def _paths(files: Mapping[str, bytes]) -> list[Fault]:
    faults = [fault for path in files if (fault := path_fault(path)) is not None]
    return faults[:20]


def _sizes(files: Mapping[str, bytes]) -> list[Fault]:
    faults = [
        Fault("file_large", f"the file {path[:80]!r} is over {LARGEST_FILE:,} bytes", path)
        for path, data in files.items()
        if len(data) > LARGEST_FILE
    ]
    if sum(map(len, files.values())) > LARGEST_SKILL:
        faults.append(Fault("skill_large", f"the skill's files are over {LARGEST_SKILL:,} bytes"))
    if len(files) > MOST_FILES:
        faults.append(Fault("too_many_files", f"the skill has over {MOST_FILES} files"))
    return faults
