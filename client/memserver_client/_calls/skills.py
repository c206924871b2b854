"""Skills in and out: imported into quarantine, promoted, exported, explained."""

from pathlib import Path

from memserver.wire.skills import (
    PromoteSkill,
    QuarantineSkill,
    SkillCard,
    SkillMoved,
    SkillsImported,
)
from memserver_client._call import Call, Download, read, write
from memserver_client._errors import invalid
from memserver_client._requests import Id, checked, id_of
from memserver_client._skill_files import MEDIA_TYPES, format_of, read_path


def import_skills(
    what: Path | str | bytes, *, namespace: str, format: str | None = None
) -> Call[SkillsImported]:
    """Skills from outside, into quarantine: nobody is offered one before `promote`.

    `what` is a path or the content: a folder with a `SKILL.md` (or of several such folders), a zip
    file of them, a `SKILL.md`, a SkillRL bank, or JSON lines as `export_skills` writes them.
    `format` (`zip`, `markdown`, `skillrl`, `jsonl`) is told by what is sent where it is not named.
    Raises InvalidRequest where every skill is refused; else the reply says which were.
    """
    content = what if isinstance(what, bytes) else read_path(Path(what))
    chosen = format or format_of(content)
    if chosen not in MEDIA_TYPES:
        raise invalid(f"{chosen!r} is no format of skills; there are {', '.join(MEDIA_TYPES)}.")
    return write(
        "POST",
        "/v1/skills/import",
        SkillsImported,
        content,
        params={"namespace": namespace},
        content_type=MEDIA_TYPES[chosen],
    )


def export_skill(id: Id, to: Path | str) -> Download:
    """A skill as an Agent Skills folder in the zip file `to`. Importing that gives the same
    skill."""
    return Download(path=f"/v1/skills/{id_of(id)}/export", to=Path(to))


def export_skills(
    to: Path | str, *, namespace: str, format: str = "skillrl", status: str = "active"
) -> Download:
    """A namespace's skills and common mistakes in the file `to`, as a SkillRL bank (`skillrl`) or
    as `jsonl`: those in use, with `status="quarantined"` those that are not yet, with `"any"`
    both."""
    return Download(
        path="/v1/skills/export",
        params={"namespace": namespace, "format": format, "status": status},
        to=Path(to),
    )


def skill_card(id: Id) -> Call[SkillCard]:
    """All that is known of a skill: text and versions, where it came from, when it was used, what
    came of it by context and by agent, and why it is offered or is not."""
    return read(f"/v1/skills/{id_of(id)}/card", SkillCard)


def promote(
    id: Id, *, reason: str, allow_tools: bool = False, accept_findings: bool = False
) -> Call[SkillMoved]:
    """Brings a skill out of quarantine into use. `allow_tools` lets it declare tools where the
    namespace has no list of them; `accept_findings` lets it have what was found in it, which the
    refusal names."""
    told = checked(
        PromoteSkill, reason=reason, allow_tools=allow_tools, accept_findings=accept_findings
    )
    return write("POST", f"/v1/skills/{id_of(id)}/promote", SkillMoved, told)


def quarantine(id: Id, *, reason: str) -> Call[SkillMoved]:
    """Takes a skill out of use until it is promoted."""
    told = checked(QuarantineSkill, reason=reason)
    return write("POST", f"/v1/skills/{id_of(id)}/quarantine", SkillMoved, told)
