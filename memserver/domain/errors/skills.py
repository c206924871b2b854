"""What stands between a skill and the library."""

from collections.abc import Sequence
from dataclasses import dataclass

from memserver.domain.errors.conflicts import Conflict
from memserver.domain.errors.requests import Invalid


@dataclass(frozen=True, slots=True)
class Refused:
    """A skill that was sent and not taken: where it stood, the code of the rule that it breaks,
    and the reason in words."""

    where: str
    code: str
    reason: str


class SkillsRefused(Invalid):
    """Nothing of what was sent could be taken."""

    code = "skills_refused"

    def __init__(self, refused: Sequence[Refused]) -> None:
        said = "; ".join(
            f"{one.where}: {one.reason}" if one.where else one.reason for one in refused[:5]
        )
        more = f"; and {len(refused) - 5} more" if len(refused) > 5 else ""
        super().__init__(f"No skill was imported: {said}{more}.")
        self.refused = tuple(refused)


class UnknownSkillFormat(Invalid):
    code = "unknown_skill_format"

    def __init__(self, media_type: str, known: Sequence[str]) -> None:
        super().__init__(
            f"Skills do not come as {media_type[:80]!r}; the content type is one of "
            f"{', '.join(known)}."
        )


class ToolNotAllowed(Invalid):
    code = "tool_not_allowed"

    def __init__(self, namespace: str, tools: Sequence[str]) -> None:
        named = ", ".join(repr(tool[:80]) for tool in tools[:10])
        super().__init__(
            f"The skill declares tools that the namespace {namespace!r} does not allow: {named}."
        )


class ToolsUndecided(Conflict):
    """Nobody has said which tools skills of the namespace may declare."""

    code = "tools_undecided"

    def __init__(self, namespace: str, tools: Sequence[str]) -> None:
        named = ", ".join(repr(tool[:80]) for tool in tools[:10])
        super().__init__(
            f"The skill declares the tools {named}, and the namespace {namespace!r} has no list of "
            "allowed tools. To promote it all the same, send allow_tools: true."
        )


class FindingsNotAccepted(Conflict):
    """What was found in a skill has to be accepted by whoever promotes it."""

    code = "findings_not_accepted"

    def __init__(self, findings: Sequence[tuple[str, str, str]]) -> None:
        said = "; ".join(f"{code} in {where} ({excerpt})" for code, where, excerpt in findings[:5])
        super().__init__(
            f"The skill reads like an attempt on its readers: {said}. To promote it all the same, "
            "send accept_findings: true."
        )
        self.findings = tuple(findings)


class LibraryFrozen(Conflict):
    """The namespace's library of skills is to stay as it is."""

    code = "library_frozen"

    def __init__(self, namespace: str) -> None:
        super().__init__(
            f"The library of the namespace {namespace!r} is frozen; an admin can set frozen: false."
        )


class SkillNotExportable(Conflict):
    code = "skill_not_exportable"

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__(
            f"The skill cannot be written as an Agent Skill: {'; '.join(reasons[:5])}."
        )
