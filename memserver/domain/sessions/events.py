"""What happens in a session: one payload a kind of event. Events are only ever added."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from memserver.domain.scope import Namespace
from memserver.domain.sessions.rules import Rule

Scalar = str | int | float | bool | None
LedgerValue = Scalar | tuple[Scalar, ...]


class EventKind(StrEnum):
    MESSAGE = "message"
    CALL = "call"
    RESULT = "result"
    REPORT = "report"
    CANDIDATE = "candidate"
    EVIDENCE = "evidence"
    VERIFICATION = "verification"
    LEDGER = "ledger"
    RULE = "rule"
    SUMMARY = "summary"
    FILTER = "filter"


class Verdict(StrEnum):
    SUPPORTED = "supported"
    REFUTED = "refuted"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Link:
    """Where something comes from. `kind` is item, trajectory, turn (the number of an event of the
    session) or url; nothing is looked up by it."""

    kind: str
    target: str


@dataclass(frozen=True, slots=True)
class Message:
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that an agent makes. `overrode` names the ledger rules that it breaks; it was
    recorded all the same, for `override_reason`."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    override_reason: str | None = None
    overrode: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the call of this name answered."""

    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ReportEdit:
    """A section of the evolving report, replaced or continued. Replaced by nothing, it goes."""

    section: str
    text: str
    append: bool = False


@dataclass(frozen=True, slots=True)
class CandidateNote:
    """Something for the candidate pool, in place of what had its name; or its removal."""

    name: str
    text: str = ""
    score: float | None = None
    links: tuple[Link, ...] = ()
    removed: bool = False


@dataclass(frozen=True, slots=True)
class EvidenceNote:
    """A claim and what it stands on. What verified another claim of this name is forgotten."""

    name: str
    claim: str
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """One judgement of a piece of evidence; a later one by the same judge replaces it."""

    evidence: str
    verdict: Verdict
    by: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class LedgerEdit:
    """Keys of the task's state, set or unset, all at once."""

    set: Mapping[str, LedgerValue] = field(default_factory=dict)
    unset: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleEdit:
    """A ledger rule, in place of the one of its name; or the removal of one."""

    rule: Rule | None = None
    remove: str | None = None


@dataclass(frozen=True, slots=True)
class SummaryNote:
    """Words that stand for all turns up to the event number `through`."""

    text: str
    through: int


@dataclass(frozen=True, slots=True)
class Filtering:
    """The working memory narrowed to what bears on a question: turns hidden, candidates gone."""

    query: str
    hides: tuple[int, ...] = ()
    drops: tuple[str, ...] = ()


Payload = (
    Message
    | ToolCall
    | ToolResult
    | ReportEdit
    | CandidateNote
    | EvidenceNote
    | Verification
    | LedgerEdit
    | RuleEdit
    | SummaryNote
    | Filtering
)

PAYLOAD_OF: dict[EventKind, type[Payload]] = {
    EventKind.MESSAGE: Message,
    EventKind.CALL: ToolCall,
    EventKind.RESULT: ToolResult,
    EventKind.REPORT: ReportEdit,
    EventKind.CANDIDATE: CandidateNote,
    EventKind.EVIDENCE: EvidenceNote,
    EventKind.VERIFICATION: Verification,
    EventKind.LEDGER: LedgerEdit,
    EventKind.RULE: RuleEdit,
    EventKind.SUMMARY: SummaryNote,
    EventKind.FILTER: Filtering,
}
_KIND_OF = {payload: kind for kind, payload in PAYLOAD_OF.items()}


def kind_of(payload: Payload) -> EventKind:
    return _KIND_OF[type(payload)]


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """One event. `seq` counts from 1 within its session; `id` is the sender's own, if any."""

    seq: int
    payload: Payload
    at: datetime
    id: UUID | None = None

    @property
    def kind(self) -> EventKind:
        return kind_of(self.payload)


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation or run. `events` is how many it has, and so the number of the last;
    `summary` the item that was made of it when it ended."""

    id: UUID
    namespace: Namespace
    agent: str
    subject: str | None
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None = None
    events: int = 0
    summary: UUID | None = None
