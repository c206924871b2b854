"""Skills in and out, and all that is known of one."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, StringConstraints

from memserver.wire.base import Model, Receipt
from memserver.wire.items import Item, Version
from memserver.wire.provenance import Provenance

Reason = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"\S")]
Place = Literal["offered", "held_back", "ended", "quarantined", "merged", "archived"]


class Finding(Model):
    """What reads like an attempt on the skill's readers: a stable code, the field or file where it
    stands, and an excerpt in which what nobody sees is escaped."""

    code: str
    where: str
    excerpt: str


class ImportedSkill(Model):
    """A skill as it now stands. `existing` where it was there before; `undecided_tools` are those
    that it declares in a namespace that has no list of them."""

    id: UUID
    version_id: UUID
    where: str
    title: str
    kind: str
    status: str
    existing: bool
    findings: list[Finding]
    undecided_tools: list[str]


class RefusedSkill(Model):
    """A skill, or a file, that was not taken: the code of the rule, and the reason in words."""

    where: str
    code: str
    reason: str


class SkillsImported(Receipt):
    """What was taken into quarantine, and what was refused."""

    format: str
    ids: list[UUID]
    skills: list[ImportedSkill]
    refused: list[RefusedSkill]


class PromoteSkill(Model):
    """Why it comes into use. `allow_tools` lets it declare tools where the namespace has no list,
    `accept_findings` lets it have what was found in it."""

    reason: Reason
    allow_tools: bool = False
    accept_findings: bool = False


class QuarantineSkill(Model):
    """Why it goes out of use."""

    reason: Reason


class SkillMoved(Receipt):
    """The skill's status from now on, what was found in it, and the tools that it declares."""

    id: UUID
    status: str
    findings: list[Finding]
    tools: list[str]


class Move(Model):
    """One change of the item, with its reason."""

    change_id: UUID
    verb: str
    reason: str
    actor: UUID
    at: AwareDatetime
    undone_by: UUID | None


class Whereabouts(Model):
    """Whether it is offered, and why: `held_back` by its outcomes, `ended` by time, or by its
    status; `change` is the one that brought it there."""

    place: Place
    because: str
    change: Move | None
    merged_into: UUID | None


class SkillUse(Model):
    """One outcome that speaks for a version; `run` is null where it came without one, or the run is
    gone or out of reach."""

    at: AwareDatetime
    version: UUID
    run: UUID | None
    goal: str
    agent: str
    context: str
    value: float
    weight: float


class SkillShare(Model):
    """What came of it for one agent (by name), or in one type of task (empty: none was named)."""

    name: str
    uses: int
    successes: float
    failures: float
    last: AwareDatetime | None


class SkillCard(Model):
    """All that is known of a skill. `versions` newest first; `uses` the newest of all `used`;
    `moves` the latest changes of the item, newest first; `imported` where it was imported from."""

    item: Item
    versions: list[Version]
    whereabouts: Whereabouts
    origin: Provenance
    imported: dict[str, Any] | None
    findings: list[Finding]
    tools: list[str]
    used: int
    uses: list[SkillUse]
    by_context: list[SkillShare]
    by_agent: list[SkillShare]
    moves: list[Move]
