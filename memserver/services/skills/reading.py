"""What was sent, by its content type, read into skills that are not yet kept."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memserver.domain.errors import (
    InvalidImport,
    Refused,
    SkillsRefused,
    UnknownSkillFormat,
)
from memserver.services.importers.json_values import Unreadable, decode, parse
from memserver.services.skills.lines import read_lines
from memserver_skills.agent_skills import BadSkill, read_folder, read_skill_file, unpack
from memserver_skills.agent_skills.exchange import incoming
from memserver_skills.incoming import Incoming
from memserver_skills.skillrl import read_bank

MOST_REFUSED = 200
MOST_SKILLS = 5_000
"""All are taken in one change, and nobody else writes meanwhile."""


@dataclass(frozen=True, slots=True)
class Brought:
    """`format` names what it was; `refused` are those of several that cannot be taken."""

    format: str
    skills: tuple[Incoming, ...]
    refused: tuple[Refused, ...] = ()


def read(data: bytes, media_type: str) -> Brought:
    """Raises `SkillsRefused`, `InvalidImport` or `UnknownSkillFormat` where nothing can be taken;
    an archive that no honest sender makes is refused whole."""
    kind = media_type.partition(";")[0].strip().lower()
    reader = READERS.get(kind)
    if reader is None:
        raise UnknownSkillFormat(media_type, tuple(READERS))
    try:
        brought = reader(data)
    except BadSkill as error:
        raise SkillsRefused(_refused("", error)) from error
    if len(brought.skills) > MOST_SKILLS:
        said = f"there are {len(brought.skills):,} skills; at most {MOST_SKILLS:,} at once"
        raise SkillsRefused([Refused("", "too_many_skills", said)])
    return brought


def _archive(data: bytes) -> Brought:
    unpacked = unpack(data)
    skills: list[Incoming] = []
    refused: list[Refused] = []
    for folder in unpacked.skills:
        where = folder.path.rstrip("/") or "."
        try:
            skills.append(incoming(read_folder(folder.files, folder=folder.folder), where=where))
        except BadSkill as error:
            refused += _refused(where, error)
    refused += [
        Refused(path, "no_skills_file", "the file lies in no folder with a SKILL.md")
        for path in unpacked.strays
    ]
    return Brought("agent-skill", tuple(skills), tuple(refused[:MOST_REFUSED]))


def _skill_file(data: bytes) -> Brought:
    skill = read_skill_file(data, folder=None)
    return Brought("agent-skill", (incoming(skill, where=skill.front.name),))


def _bank(data: bytes) -> Brought:
    try:
        text = decode(data).strip()
        value, end = parse(text)
        if end < len(text):
            raise Unreadable("it holds more than one JSON value")
    except Unreadable as fault:
        raise InvalidImport(1, str(fault)) from fault
    return Brought("skillrl", read_bank(value))


def _lines(data: bytes) -> Brought:
    return Brought("jsonl", read_lines(data))


READERS: Mapping[str, Callable[[bytes], Brought]] = {
    "application/zip": _archive,
    "text/markdown": _skill_file,
    "application/json": _bank,
    "application/x-ndjson": _lines,
}


def _refused(where: str, error: BadSkill) -> list[Refused]:
    return [
        Refused("/".join(filter(None, (where, fault.where))), fault.code, fault.message)
        for fault in error.faults
    ]
