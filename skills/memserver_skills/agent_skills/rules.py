"""The rules of the Agent Skills format for what stands in the front matter, each with its message.

After the open specification (agentskills.io): six keys and no others, the name as narrow as its
text says (ASCII), every value a text but for `metadata`, which maps texts to texts. Tools may be a
list, too, which some versions of the specification allow."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memserver_skills.agent_skills.faults import BadSkill, Fault

NAME, DESCRIPTION, COMPATIBILITY = 64, 1_024, 500
KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_ALPHABET = re.compile(r"[a-z0-9-]*")
_TOOL = re.compile(r"[^\s(),]+(?:\([^()]*\))?|[()]")
"""Commas are passed over: many write them, and the specification's own validator lets them be."""


@dataclass(frozen=True, slots=True)
class Front:
    """What the front matter says. `license` and `compatibility` are None where they are not
    given."""

    name: str
    description: str
    license: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] = ()


def front_of(fields: Mapping[str, Any], *, folder: str | None) -> Front:
    """The front matter's fields, checked; `folder` is the name of the skill's folder, None where
    it has none. Raises `BadSkill` with every rule that is broken."""
    faults = [
        *_unknown(fields),
        *_name(fields, folder),
        *_description(fields),
        *_license(fields),
        *_compatibility(fields),
        *_metadata(fields),
        *_tools(fields),
    ]
    if faults:
        raise BadSkill(faults)
    return Front(
        name=fields["name"],
        description=fields["description"],
        license=fields.get("license"),
        compatibility=fields.get("compatibility"),
        metadata=fields.get("metadata") or {},
        tools=tools_of(fields.get("allowed-tools", "")),
    )


def fields_of(front: Front) -> dict[str, Any]:
    """The front matter's fields in the order of the specification; what is not given is left
    out. What `front_of` makes of them is the same front matter."""
    fields: dict[str, Any] = {"name": front.name, "description": front.description}
    if front.license is not None:
        fields["license"] = front.license
    if front.compatibility is not None:
        fields["compatibility"] = front.compatibility
    if front.metadata:
        fields["metadata"] = dict(front.metadata)
    if front.tools:
        fields["allowed-tools"] = " ".join(front.tools)
    return fields


def tools_of(declared: str | list[str]) -> tuple[str, ...]:
    """The tools, each once. Blanks within parentheses are part of a tool: `Bash(git add:*)`."""
    parts = [declared] if isinstance(declared, str) else declared
    return tuple(dict.fromkeys(tool for part in parts for tool in _TOOL.findall(part)))


def is_name(name: str) -> bool:
    return not _name({"name": name}, None)


def is_tool(tool: str) -> bool:
    """Whether it can be declared as one tool."""
    return tools_of(tool) == (tool,) and tool not in ("(", ")")


def _unknown(fields: Mapping[str, Any]) -> list[Fault]:
    unknown = [key for key in fields if key not in KEYS]
    if not unknown:
        return []
    named = ", ".join(repr(key[:80]) for key in unknown[:10])
    return [
        Fault(
            "unknown_key",
            f"the front matter has keys that the format does not know: {named}; there are "
            f"{', '.join(KEYS)} (others go under metadata)",
        )
    ]


def _name(fields: Mapping[str, Any], folder: str | None) -> list[Fault]:
    if "name" not in fields:
        return [Fault("name_missing", "the front matter has no name")]
    name = fields["name"]
    if not isinstance(name, str):
        return [Fault("name_no_text", "name is not a text")]
    if not name:
        return [Fault("name_empty", "name is empty")]
    faults = []
    if len(name) > NAME:
        faults.append(Fault("name_long", f"name has {len(name)} characters; at most {NAME}"))
    if name != name.lower():
        faults.append(Fault("name_upper_case", f"name {name[:80]!r} is not in lower case"))
    if not _ALPHABET.fullmatch(name.lower()):
        faults.append(
            Fault(
                "name_characters",
                f"name {name[:80]!r} has other characters than a-z, 0-9 and hyphens",
            )
        )
    if name.startswith("-") or name.endswith("-"):
        faults.append(
            Fault("name_outer_hyphen", f"name {name[:80]!r} begins or ends with a hyphen")
        )
    if "--" in name:
        faults.append(Fault("name_double_hyphen", f"name {name[:80]!r} has two hyphens in a row"))
    if folder is not None and folder != name:
        faults.append(
            Fault(
                "name_not_folder",
                f"name {name[:80]!r} is not that of its folder, {folder[:80]!r}",
            )
        )
    return faults


def _description(fields: Mapping[str, Any]) -> list[Fault]:
    if "description" not in fields:
        return [Fault("description_missing", "the front matter has no description")]
    text = fields["description"]
    if not isinstance(text, str):
        return [Fault("description_no_text", "description is not a text")]
    if not text.strip():
        return [Fault("description_empty", "description is empty")]
    if len(text) > DESCRIPTION:
        said = f"description has {len(text)} characters; at most {DESCRIPTION}"
        return [Fault("description_long", said)]
    return []


def _license(fields: Mapping[str, Any]) -> list[Fault]:
    if isinstance(fields.get("license", ""), str):
        return []
    return [Fault("license_no_text", "license is not a text")]


def _compatibility(fields: Mapping[str, Any]) -> list[Fault]:
    if "compatibility" not in fields:
        return []
    text = fields["compatibility"]
    if not isinstance(text, str):
        return [Fault("compatibility_no_text", "compatibility is not a text")]
    if not text:
        return [Fault("compatibility_empty", "compatibility is given and empty")]
    if len(text) > COMPATIBILITY:
        said = f"compatibility has {len(text)} characters; at most {COMPATIBILITY}"
        return [Fault("compatibility_long", said)]
    return []


def _metadata(fields: Mapping[str, Any]) -> list[Fault]:
    held = fields.get("metadata", {})
    if held == "":
        return []  # given, with nothing under it
    if not isinstance(held, dict):
        return [Fault("metadata_no_mapping", "metadata does not map keys to values")]
    odd = [key for key, value in held.items() if not isinstance(value, str)]
    if odd:
        return [Fault("metadata_no_text", f"the value of metadata.{odd[0][:80]} is not a text")]
    return []


def _tools(fields: Mapping[str, Any]) -> list[Fault]:
    declared = fields.get("allowed-tools", "")
    if isinstance(declared, list):
        if not all(isinstance(tool, str) for tool in declared):
            return [Fault("tools_no_text", "a tool in allowed-tools is not a text")]
    elif not isinstance(declared, str):
        return [Fault("tools_no_text", "allowed-tools is not a text")]
    odd = [tool for tool in tools_of(declared) if not is_tool(tool)]
    if odd:
        return [
            Fault(
                "tools_unreadable",
                "allowed-tools is not a list of tools with blanks between them, each a name or a "
                f"name with one pair of parentheses (at {odd[0][:20]!r})",
            )
        ]
    return []
