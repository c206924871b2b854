"""The open Agent Skills format: folders, their rules, and archives of them."""

from memserver_skills.agent_skills.archive import Bounds, SkillFolder, Unpacked, pack, unpack
from memserver_skills.agent_skills.faults import BadSkill, Fault
from memserver_skills.agent_skills.folder import (
    SKILL_FILE,
    AgentSkill,
    read_folder,
    read_skill_file,
    skill_file,
    write_folder,
)
from memserver_skills.agent_skills.rules import Front

__all__ = [
    "SKILL_FILE",
    "AgentSkill",
    "BadSkill",
    "Bounds",
    "Fault",
    "Front",
    "SkillFolder",
    "Unpacked",
    "pack",
    "read_folder",
    "read_skill_file",
    "skill_file",
    "unpack",
    "write_folder",
]
