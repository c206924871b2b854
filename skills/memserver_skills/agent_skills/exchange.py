"""A skill of ours as an Agent Skill, and back.

What the format can say, it says: a document with a name, a description, text and files. Of any
other skill `SKILL.md` is a rendering for readers, and a file beside it keeps what it was rendered
from. That file counts only while the rendering is what it would give: else somebody has edited
`SKILL.md`, and what agents read is what is kept."""

import base64
import binascii
import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memserver.domain.items import (
    FileEncoding,
    Form,
    Kind,
    SkillBody,
    SkillFile,
    fields_of,
)
from memserver_skills.agent_skills.faults import bad
from memserver_skills.agent_skills.folder import AgentSkill
from memserver_skills.agent_skills.rendering import markdown
from memserver_skills.agent_skills.rules import DESCRIPTION, NAME, Front, is_name, is_tool
from memserver_skills.incoming import Incoming

KEPT = "agent_skill"
"""Under this key an item's metadata keeps what the format says and a body cannot."""
SPELLING = "source"
"""Therein, the front matter as it was written."""
STRUCTURE = "references/memserver.json"
_FORMAT = "memserver-skill/1"
_BODY: TypeAdapter[SkillBody] = TypeAdapter(SkillBody)


def incoming(skill: AgentSkill, *, where: str) -> Incoming:
    """What is to be kept of an Agent Skill."""
    structured = _structured(skill, where)
    if structured is not None:
        return structured
    return Incoming(
        where=where,
        kind=Kind.SKILL,
        title=skill.front.name,
        body=SkillBody(
            when=skill.front.description,
            form=Form.DOCUMENT.value,
            text=skill.text,
            files=files_of(skill.files),
            tools=skill.front.tools,
        ),
        metadata=_kept(skill),
    )


def agent_skill(
    title: str, body: SkillBody, *, task_type: str | None, metadata: Mapping[str, Any]
) -> AgentSkill:
    """A skill of ours as an Agent Skill, of which `incoming` makes the same title, body and type
    of task. Raises `BadSkill` where its files cannot be read."""
    kept = metadata.get(KEPT)
    known = kept if isinstance(kept, dict) else {}
    files = contents_of(body.files)
    if _is_document(title, body, task_type):
        return AgentSkill(
            front=_front(title, body.when, body.tools, known),
            text=body.text,
            files=files,
            source=_text(known.get(SPELLING)) or "",
        )
    if STRUCTURE in files:
        raise bad("path_twice", f"the skill has a file {STRUCTURE}, which is the export's own")
    tools = tuple(dict.fromkeys(tool for tool in body.tools if is_tool(tool)))
    return AgentSkill(
        front=_front(_name(title), _description(title, body), tools, known),
        text=markdown(title, body),
        files={**files, STRUCTURE: _structure(title, body, task_type)},
        source=_text(known.get(SPELLING)) or "",
    )


def files_of(files: Mapping[str, bytes]) -> tuple[SkillFile, ...]:
    """Files as a body keeps them: as text where they are, so that what must not be stored can be
    seen in them."""
    return tuple(skill_file_of(path, files[path]) for path in sorted(files))


def skill_file_of(path: str, data: bytes) -> SkillFile:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\x00"
    if "\x00" not in text:
        return SkillFile(path, text)
    return SkillFile(path, base64.b64encode(data).decode(), FileEncoding.BYTES.value)


def content_of(file: SkillFile) -> bytes:
    """What the file holds. Raises `BadSkill` where it is not in the encoding that it names."""
    if file.encoding != FileEncoding.BYTES.value:
        return file.content.encode()
    try:
        return base64.b64decode(file.content, validate=True)
    except (binascii.Error, ValueError) as error:
        said = f"the content of {file.path[:80]!r} is not base64"
        raise bad("file_not_base64", said, file.path) from error


def contents_of(files: tuple[SkillFile, ...]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for file in files:
        if file.path in found:
            raise bad("path_twice", f"the path {file.path[:80]!r} is there twice", file.path)
        found[file.path] = content_of(file)
    return found


def _is_document(title: str, body: SkillBody, task_type: str | None) -> bool:
    """Whether the format can say all of it."""
    return (
        body.form == Form.DOCUMENT.value
        and not (body.steps or body.slots or body.goal)
        and task_type is None
        and is_name(title)
        and bool(body.when.strip())
        and len(body.when) <= DESCRIPTION
        and all(map(is_tool, body.tools))
        and len(set(body.tools)) == len(body.tools)
    )


def _front(name: str, description: str, tools: tuple[str, ...], known: Mapping[str, Any]) -> Front:
    extra = known.get("metadata")
    return Front(
        name=name,
        description=description,
        license=_text(known.get("license")),
        compatibility=_text(known.get("compatibility")) or None,
        metadata={
            key: value
            for key, value in (extra.items() if isinstance(extra, dict) else ())
            if isinstance(value, str)
        },
        tools=tools,
    )


def _kept(skill: AgentSkill) -> dict[str, Any]:
    """What a body has no place for."""
    front = skill.front
    held: dict[str, Any] = {SPELLING: skill.source}
    if front.license is not None:
        held["license"] = front.license
    if front.compatibility is not None:
        held["compatibility"] = front.compatibility
    if front.metadata:
        held["metadata"] = dict(front.metadata)
    return {KEPT: held}


def _structure(title: str, body: SkillBody, task_type: str | None) -> bytes:
    fields = {name: value for name, value in fields_of(body).items() if name != "files"}
    said = {"format": _FORMAT, "title": title, "task_type": task_type, "body": fields}
    return (json.dumps(said, ensure_ascii=False, indent=2) + "\n").encode()


def _structured(skill: AgentSkill, where: str) -> Incoming | None:
    """The skill that `SKILL.md` was rendered from, None where it was not, or no longer is."""
    if STRUCTURE not in skill.files:
        return None
    try:
        said = json.loads(skill.files[STRUCTURE])
        title, task_type, fields = said["title"], said["task_type"], said["body"]
        others = {path: data for path, data in skill.files.items() if path != STRUCTURE}
        body = _BODY.validate_python({**fields, "files": files_of(others)})
    except (ValueError, TypeError, KeyError, RecursionError, ValidationError):
        return None
    if not isinstance(title, str) or not isinstance(task_type, str | None):
        return None
    kept = _kept(skill)
    again = agent_skill(title, body, task_type=task_type, metadata=kept)
    if (again.front, again.text, again.files) != (skill.front, skill.text, dict(skill.files)):
        return None
    return Incoming(where, Kind.SKILL, title, body, task_type=task_type, metadata=kept)


def _name(title: str) -> str:
    """A name that the format allows, as near to the title as it can be."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return words[:NAME].rstrip("-") or "skill"


def _description(title: str, body: SkillBody) -> str:
    words = next(filter(None, (" ".join(t.split()) for t in (body.when, body.goal, title))), "")
    words = words or _name(title)
    return words if len(words) <= DESCRIPTION else words[: DESCRIPTION - 1] + "…"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
