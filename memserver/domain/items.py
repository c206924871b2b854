"""What is remembered: items with immutable versions, one typed body a kind."""

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from memserver.domain.scope import Namespace


class Kind(StrEnum):
    SKILL = "skill"
    PRINCIPLE = "principle"
    HINT = "hint"
    CASE = "case"
    RULE = "rule"
    FACT = "fact"
    SUMMARY = "summary"
    PREFERENCE = "preference"
    NOTE = "note"


class Status(StrEnum):
    """`active` items are retrieved; the others are kept and never offered."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"
    MERGED = "merged"
    ARCHIVED = "archived"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Slot:
    """A variable of a skill, written `{name}` in its steps. `type` says what fills it;
    `example` is one value that was seen to."""

    name: str
    type: str = "object"
    example: str = ""


@dataclass(frozen=True, slots=True)
class SkillStep:
    """One action template and what should be observed after it."""

    action: str
    expect: str = ""


class Form(StrEnum):
    """In which shape a skill says how: `workflow` and `demonstration` by steps (of many runs, of
    one), `milestones` by what is reached on the way, `reflection` and `document` by text,
    `code` by a program with its tests."""

    WORKFLOW = "workflow"
    DEMONSTRATION = "demonstration"
    MILESTONES = "milestones"
    REFLECTION = "reflection"
    DOCUMENT = "document"
    CODE = "code"


class FileEncoding(StrEnum):
    TEXT = "utf-8"
    BYTES = "base64"


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A file that belongs to a skill: kept and shown, never run by the server. `path` is relative,
    with forward slashes; `content` is what it holds, in the encoding said."""

    path: str
    content: str
    encoding: str = FileEncoding.TEXT.value


@dataclass(frozen=True, slots=True)
class SkillBody:
    """How to do something, in the shape that `form` says; `goal` is the goal template with slots,
    `when` says in words when to use it. `text` is what steps cannot say: instructions, or a
    program. `tools` are those that it declares to need."""

    when: str
    steps: tuple[SkillStep, ...] = ()
    slots: tuple[Slot, ...] = ()
    goal: str = ""
    form: str = Form.WORKFLOW.value
    text: str = ""
    files: tuple[SkillFile, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HintBody:
    """What to do at a point where runs were seen to part; `avoid` is what the failed ones did."""

    when: str
    do: str
    avoid: str = ""


@dataclass(frozen=True, slots=True)
class RuleBody:
    """Something that always or never holds; a common mistake is one."""

    text: str
    when: str = ""


@dataclass(frozen=True, slots=True)
class FactBody:
    """A value of a key of an entity; a new value is a new version of the same item."""

    entity: str
    key: str
    value: str

    @property
    def about(self) -> str:
        """What it says the value of, as a title."""
        return f"{self.entity} · {self.key}"

    @property
    def line(self) -> str:
        """All that it says, as an agent reads it."""
        return f"{self.about}: {self.value}"


@dataclass(frozen=True, slots=True)
class CaseBody:
    """One solved (or failed) task, kept whole enough to be imitated. `operations` is its
    structural signature, the kinds of step in order, by which a like case of another domain is
    found; `notes` say what went wrong in it and where."""

    goal: str
    steps: tuple[str, ...] = ()
    score: float = 0.0
    operations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextBody:
    """Free text: principle, summary, preference, note."""

    text: str


Body = SkillBody | HintBody | RuleBody | FactBody | CaseBody | TextBody

BODY_OF: dict[Kind, type[Body]] = {
    Kind.SKILL: SkillBody,
    Kind.HINT: HintBody,
    Kind.RULE: RuleBody,
    Kind.FACT: FactBody,
    Kind.CASE: CaseBody,
    Kind.PRINCIPLE: TextBody,
    Kind.SUMMARY: TextBody,
    Kind.PREFERENCE: TextBody,
    Kind.NOTE: TextBody,
}


@dataclass(frozen=True, slots=True)
class Source:
    """The steps of a trajectory that a version was drawn from (all of it where none is named)."""

    trajectory_id: UUID
    steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """Where in a conversation a version was said: the session, its place there from 0, and who
    spoke."""

    session: UUID
    ordinal: int
    speaker: str


@dataclass(frozen=True, slots=True)
class Item:
    """A thing remembered. `head` is its current version; `merged_into` the version of another
    item that stands for it since a consolidation. `subject` is the person it is about, which
    erasure goes by; from `expires_at` on it is no longer offered."""

    id: UUID
    namespace: Namespace
    kind: Kind
    title: str
    status: Status
    head: UUID
    created_at: datetime
    merged_into: UUID | None = None
    subject: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """One immutable content of an item. Valid time is [valid_from, valid_to); recorded time is
    `recorded_at`, and `closed_at` the recorded time at which `valid_to` was set. `method` names
    what made it (`api`, `distill/workflows`, …). `turn` says where in a conversation it was said;
    `context` holds what was said around it, which is indexed beside its text and never shown as
    it."""

    id: UUID
    item_id: UUID
    namespace: Namespace
    number: int
    title: str
    body: Body
    valid_from: datetime
    recorded_at: datetime
    valid_to: datetime | None = None
    parent: UUID | None = None
    method: str = "api"
    sources: tuple[Source, ...] = ()
    task_type: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    turn: Turn | None = None
    context: str = ""
    closed_at: datetime | None = None

    @property
    def text(self) -> str:
        """The version as an agent reads it."""
        return render(self.title, self.body)

    @property
    def content_hash(self) -> str:
        return content_hash(self.title, self.body)


@dataclass(frozen=True, slots=True)
class Entry:
    """An item together with one of its versions (its head unless said otherwise)."""

    item: Item
    version: Version


def revived(entry: Entry) -> Entry:
    """The entry with its item active again; itself where it is."""
    if entry.item.status is Status.ACTIVE:
        return entry
    return replace(entry, item=replace(entry.item, status=Status.ACTIVE, merged_into=None))


def render(title: str, body: Body) -> str:
    """Title and body as plain text, one line a step; never empty where the body has content."""
    lines = [title, *_lines(body)]
    return "\n".join(dict.fromkeys(line for line in lines if line))


def _lines(body: Body) -> list[str]:
    match body:
        case SkillBody():
            steps = [
                f"{n}. {step.action}" + (f" → {step.expect}" if step.expect else "")
                for n, step in enumerate(body.steps, 1)
            ]
            files = ", ".join(file.path for file in body.files)
            return [
                body.when and f"When: {body.when}",
                *steps,
                body.text,
                files and f"Files: {files}",
            ]
        case HintBody():
            return [
                body.when and f"When: {body.when}",
                f"Do: {body.do}",
                body.avoid and f"Avoid: {body.avoid}",
            ]
        case RuleBody():
            return [body.when and f"When: {body.when}", body.text]
        case FactBody():
            return [body.line]
        case CaseBody():
            steps = [f"{n}. {step}" for n, step in enumerate(body.steps, 1)]
            return [f"Goal: {body.goal}", *steps, *body.notes, f"Score: {body.score:g}"]
        case TextBody():
            return [body.text]


_UNSEEN = dict.fromkeys(
    (0xAD, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
)
"""Characters that say where a word may break and in which direction it runs. Those that join
letters, or keep them apart, are part of how a word is written."""


TITLE_LENGTH = 120


def first_line(text: str) -> str:
    """A title for words that have none. It ends between words: half a secret has no shape by which
    it would be known for one."""
    line = text.strip().split("\n", 1)[0]
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[:TITLE_LENGTH]
    if line[TITLE_LENGTH].isspace():
        return cut
    whole = cut.rsplit(None, 1)
    return whole[0] if len(whole) == 2 else cut


def one_line(text: str) -> str:
    """The text without what nobody sees, its white space in a row as one blank, its letters
    composed in one way (NFKC)."""
    return " ".join(unicodedata.normalize("NFKC", text.translate(_UNSEEN)).split())


def normal_name(text: str) -> str:
    """The normal form under which two names of an entity or a key are the same: white space, case
    and characters that are not seen do not matter, nor how Unicode composes a letter."""
    return one_line(text).casefold()


def content_hash(title: str, body: Body) -> str:
    """SHA-256 over title and body: equal for equal content, whatever the item."""
    canonical = json.dumps(
        [type(body).__name__, title, fields_of(body)], sort_keys=True, ensure_ascii=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def body_of(kind: type[Body], fields: Mapping[str, Any]) -> Body:
    """The body whose `fields_of` these are; lists stand for tuples."""
    if kind is SkillBody:
        return SkillBody(
            when=fields["when"],
            steps=tuple(SkillStep(**step) for step in fields["steps"]),
            slots=tuple(Slot(**slot) for slot in fields["slots"]),
            goal=fields["goal"],
            form=fields["form"],
            text=fields.get("text", ""),
            files=tuple(SkillFile(**file) for file in fields.get("files", ())),
            tools=tuple(fields.get("tools", ())),
        )
    if kind is CaseBody:
        return CaseBody(
            goal=fields["goal"],
            steps=tuple(fields["steps"]),
            score=fields["score"],
            operations=tuple(fields.get("operations", ())),
            notes=tuple(fields.get("notes", ())),
        )
    return kind(**fields)


_LATER = frozenset({"text", "files", "tools", "operations", "notes"})
"""Fields that bodies of skills and cases did not have at first."""


def fields_of(body: Body) -> dict[str, Any]:
    """What a body says, by field. Fields that came later are left out where they say nothing, so
    that content from before them has the hash that it had."""
    later = _LATER if isinstance(body, SkillBody | CaseBody) else frozenset()
    return {name: value for name, value in asdict(body).items() if value or name not in later}
