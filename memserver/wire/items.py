"""Memories and skills: one typed body a kind."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints, ValidationError, model_validator

from memserver.wire.base import Model, NamespacePath, Receipt, ShortText, Subject, Time, Unit

Kind = Literal[
    "skill",
    "principle",
    "hint",
    "case",
    "rule",
    "fact",
    "summary",
    "preference",
    "note",
]
MemoryKind = Literal[
    "principle",
    "hint",
    "case",
    "rule",
    "fact",
    "summary",
    "preference",
    "note",
]
Status = Literal["active", "quarantined", "merged", "archived", "deleted"]
Words = Annotated[str, StringConstraints(min_length=1)]
Named = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
"""A name, which is more than blanks: by it a fact is found again."""


class Slot(Model):
    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    type: ShortText = "object"
    example: str = ""


class SkillStep(Model):
    action: Words
    expect: str = ""


Form = Literal["workflow", "demonstration", "milestones", "reflection", "document", "code"]


class SkillFile(Model):
    """A file that belongs to a skill. It is kept and shown, and never run by the server."""

    path: Annotated[str, StringConstraints(min_length=1, max_length=300)]
    content: str
    encoding: Literal["utf-8", "base64"] = "utf-8"


class SkillBody(Model):
    when: Words
    steps: Annotated[list[SkillStep], Field(max_length=1_000)] = Field(default_factory=list)
    slots: Annotated[list[Slot], Field(max_length=100)] = Field(default_factory=list)
    goal: str = ""
    form: Form = "workflow"
    text: str = ""
    files: Annotated[list[SkillFile], Field(max_length=200)] = Field(default_factory=list)
    tools: Annotated[list[ShortText], Field(max_length=100)] = Field(default_factory=list)


class HintBody(Model):
    when: str
    do: Words
    avoid: str = ""


class RuleBody(Model):
    text: Words
    when: str = ""


class FactBody(Model):
    entity: Named
    key: Named
    value: str


class CaseBody(Model):
    goal: Words
    steps: Annotated[list[str], Field(max_length=10_000)] = Field(default_factory=list)
    score: Unit = 0.0
    operations: Annotated[list[ShortText], Field(max_length=10_000)] = Field(default_factory=list)
    notes: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list)


class TextBody(Model):
    text: Words


Body = SkillBody | HintBody | RuleBody | FactBody | CaseBody | TextBody

BODY_OF: dict[str, type[Body]] = {
    "skill": SkillBody,
    "hint": HintBody,
    "rule": RuleBody,
    "fact": FactBody,
    "case": CaseBody,
    "principle": TextBody,
    "summary": TextBody,
    "preference": TextBody,
    "note": TextBody,
}


class Source(Model):
    trajectory_id: UUID
    steps: Annotated[list[int], Field(max_length=10_000)] = Field(default_factory=list)


class _Content(Model):
    title: Annotated[str, StringConstraints(max_length=500)] = ""
    task_type: ShortText | None = None
    sources: Annotated[list[Source], Field(max_length=1_000)] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    valid_from: Time | None = None
    subject: Subject | None = None


class NewMemory(_Content):
    """A memory to keep. Its body has the shape of its kind; content that the namespace already
    holds is not stored twice, and a new value of a fact's (entity, key) is a new version.
    `subject` is the person whom it is about: erasure goes by it."""

    namespace: NamespacePath
    kind: MemoryKind = "note"
    body: Body

    @model_validator(mode="before")
    @classmethod
    def body_fits_kind(cls, data: Any) -> Any:
        return _with_typed_body(data, data.get("kind", "note") if isinstance(data, dict) else "")


class NewSkill(_Content):
    namespace: NamespacePath
    body: SkillBody


class NewVersion(_Content):
    """New content for an item. Its body must have the shape of the item's kind, which the
    server knows, so it is checked there."""

    body: dict[str, Any]


def typed_body(kind: str, body: Any) -> Body:
    """The body of a kind. Raises ValueError that names the field at fault, not its content."""
    try:
        return BODY_OF[kind].model_validate(body)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in ("body", *fault["loc"]))
        raise ValueError(f"{where}, of a {kind}: {fault['msg']}") from error


def _with_typed_body(data: Any, kind: object) -> Any:
    """Checks the body against its own kind, so that an error names that kind's fields only."""
    if not isinstance(data, dict) or not isinstance(kind, str) or kind not in BODY_OF:
        return data
    body = data.get("body")
    if not isinstance(body, dict):
        return data
    return {**data, "body": typed_body(kind, body)}


class Belief(Model):
    """What outcomes say so far: posterior mean, lower bound, and how many outcomes."""

    mean: float
    lower_bound: float
    outcomes: int


class Version(Model):
    id: UUID
    item_id: UUID
    number: int
    title: str
    body: dict[str, Any]
    text: str
    method: str
    sources: list[Source]
    task_type: str | None
    metadata: dict[str, Any]
    parent: UUID | None
    valid_from: AwareDatetime
    valid_to: AwareDatetime | None
    recorded_at: AwareDatetime
    belief: Belief | None = None


class Item(Model):
    """An item with its current version. The API calls it a memory where it is not a skill."""

    id: UUID
    namespace: str
    kind: str
    title: str
    status: str
    created_at: AwareDatetime
    merged_into: UUID | None
    version: Version
    subject: str | None = None


class ItemStored(Receipt):
    id: UUID
    version_id: UUID
    existing: bool = False


class History(Model):
    """All versions of an item, newest first."""

    item: Item
    versions: list[Version]
