"""Sessions: working memory that the server keeps. Events in, a rendering within a budget out."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from memserver.wire.base import Finite, Model, NamespacePath, Receipt, ShortText, Time

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Words = Annotated[str, StringConstraints(min_length=1)]
LedgerKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")]
Scalar = bool | int | Finite | Annotated[str, StringConstraints(max_length=10_000)] | None
LedgerValue = Scalar | Annotated[list[Scalar], Field(max_length=100)]
SessionEventKind = Literal[
    "message",
    "call",
    "result",
    "report",
    "candidate",
    "evidence",
    "verification",
    "ledger",
    "rule",
    "summary",
    "filter",
]


class Link(Model):
    """Where something comes from: an item, a trajectory, a turn (the number of an event of the
    session) or a URL. It is kept as it is, and nothing is looked up by it."""

    item: UUID | None = None
    trajectory: UUID | None = None
    turn: Annotated[int, Field(ge=1)] | None = None
    url: Annotated[str, StringConstraints(min_length=1, max_length=2_000)] | None = None

    @model_validator(mode="after")
    def names_one(self) -> "Link":
        if [self.item, self.trajectory, self.turn, self.url].count(None) != 3:
            raise ValueError("give exactly one of item, trajectory, turn and url")
        return self


Links = Annotated[list[Link], Field(max_length=50)]


class _Event(Model):
    """`event_id` is the sender's own: an event sent again under it is stored once. `at` is when
    it happened, by default now."""

    event_id: UUID | None = None
    at: Time | None = None


class Message(_Event):
    kind: Literal["message"]
    speaker: Name
    text: Words


class ToolCall(_Event):
    """A call that an agent makes. One that a ledger rule blocks is refused, unless there is a
    reason to record it all the same."""

    kind: Literal["call"]
    name: Name
    arguments: dict[str, Any] = Field(default_factory=dict)
    override_reason: Annotated[str, StringConstraints(min_length=1, max_length=1_000)] | None = None


class ToolResult(_Event):
    kind: Literal["result"]
    name: Name
    text: str
    is_error: bool = False


class ReportEdit(_Event):
    """A section of the report, replaced or continued; an empty one goes."""

    kind: Literal["report"]
    section: Name
    text: str
    mode: Literal["replace", "append"] = "replace"


class CandidateNote(_Event):
    """Something for the candidate pool, in place of what had its name; `removed` takes it out."""

    kind: Literal["candidate"]
    name: Name
    text: str = ""
    score: Finite | None = None
    links: Links = Field(default_factory=list)
    removed: bool = False


class EvidenceNote(_Event):
    """A claim and what it stands on. Another claim of the same name must be verified anew."""

    kind: Literal["evidence"]
    name: Name
    claim: Words
    links: Links = Field(default_factory=list)


class Verification(_Event):
    kind: Literal["verification"]
    evidence: Name
    verdict: Literal["supported", "refuted", "unclear"]
    by: Name
    note: Annotated[str, StringConstraints(max_length=2_000)] = ""


class LedgerEdit(_Event):
    kind: Literal["ledger"]
    set: Annotated[dict[LedgerKey, LedgerValue], Field(max_length=100)] = Field(
        default_factory=dict
    )
    unset: Annotated[list[LedgerKey], Field(max_length=100)] = Field(default_factory=list)

    @model_validator(mode="after")
    def edits_something(self) -> "LedgerEdit":
        if not self.set and not self.unset:
            raise ValueError("set or unset at least one key")
        return self


class Rule(Model):
    """For calls of the name `call` (or of one in a list; of any, where it is left out) and where
    `when` holds: what they require, what forbids them, and why. Conditions are described in
    memory.md."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")]
    because: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    call: Name | Annotated[list[Name], Field(min_length=1, max_length=50)] | None = None
    when: dict[str, Any] | None = None
    require: dict[str, Any] | None = None
    forbid: dict[str, Any] | None = None


class RuleEdit(_Event):
    kind: Literal["rule"]
    rule: Rule | None = None
    remove: Name | None = None

    @model_validator(mode="after")
    def edits_one(self) -> "RuleEdit":
        if (self.rule is None) == (self.remove is None):
            raise ValueError("give either a rule or the name of one to remove")
        return self


class SummaryNote(_Event):
    """Words that stand for the turns up to the event number `through`: by default for all turns
    before it."""

    kind: Literal["summary"]
    text: Words
    through: Annotated[int, Field(ge=1)] | None = None


class Filtering(_Event):
    """Narrows the working memory: turns (by number) hidden, candidates (by name) dropped. What
    is hidden stays among the events."""

    kind: Literal["filter"]
    query: Annotated[str, StringConstraints(max_length=20_000)] = ""
    hides: Annotated[list[Annotated[int, Field(ge=1)]], Field(max_length=10_000)] = Field(
        default_factory=list
    )
    drops: Annotated[list[Name], Field(max_length=10_000)] = Field(default_factory=list)


NewEvent = Annotated[
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
    | Filtering,
    Field(discriminator="kind"),
]


class NewEvents(Model):
    """Events of a session. `namespace` is required with the first, which begin the session;
    `agent` and `subject` (whom the session is about) are those of the first."""

    namespace: NamespacePath | None = None
    agent: ShortText | None = None
    subject: Annotated[str, StringConstraints(min_length=1, max_length=500)] | None = None
    events: Annotated[list[NewEvent], Field(min_length=1, max_length=1_000)]


class EventsStored(Model):
    """`seqs` are the numbers of the events sent, in their order; `existing` of them had been
    stored under their ids before. `events` is how many the session has now."""

    id: UUID
    namespace: str
    seqs: list[int]
    stored: int
    existing: int
    events: int


class SessionDetails(Model):
    """One conversation or run. `summary` is the item that was made of it when it ended."""

    id: UUID
    namespace: str
    agent: str
    subject: str | None
    events: int
    summary: UUID | None
    created_at: AwareDatetime
    updated_at: AwareDatetime
    ended_at: AwareDatetime | None


class SessionEvent(Model):
    """One event as it is kept: `said` has the fields that its kind was sent with."""

    seq: int
    kind: SessionEventKind
    said: dict[str, Any]
    at: AwareDatetime
    event_id: UUID | None


class Judgement(Model):
    verdict: str
    by: str
    note: str


class Evidence(Model):
    name: str
    claim: str
    links: list[dict[str, str]]
    verdict: str
    verifications: list[Judgement]


class Candidate(Model):
    name: str
    text: str
    score: float | None
    links: list[dict[str, str]]


class Turn(Model):
    seq: int
    kind: SessionEventKind
    said: dict[str, Any]
    at: AwareDatetime


class Structure(Model):
    """The state as values. Turns that a summary stands for or a filter hid are not in it."""

    ledger: dict[str, Any]
    rules: list[Rule]
    report: dict[str, str]
    evidence: list[Evidence]
    turns: list[Turn]
    candidates: list[Candidate]
    summary: str | None
    calls: dict[str, int]


class SessionState(Model):
    """The working memory as a text for a prompt, and with `format=json` as values too. `tokens`
    counts the text by `token_counter`, never more than the budget; `left_out` counts what did
    not fit by part, `cut` names the parts of which something is there in part only. `events` is
    the number of the last event that it knows of."""

    id: UUID
    namespace: str
    events: int
    text: str
    tokens: int
    token_counter: str
    budget_tokens: int
    left_out: dict[str, int]
    cut: list[str]
    state: Structure | None = None


class Proposal(Model):
    """A call that an agent means to make."""

    name: Name
    arguments: dict[str, Any] = Field(default_factory=dict)


class Block(Model):
    """A rule that blocks a call. `undecided` says that what it compares cannot be compared."""

    rule: str
    because: str
    undecided: bool = False


class Checked(Model):
    allowed: bool
    blocked_by: list[Block]


class EndSession(Model):
    """`budget_tokens` bounds the summary; `summarise=false` ends the session without one, and
    `learn=false` keeps its messages from becoming memories."""

    budget_tokens: Annotated[int, Field(ge=1, le=10_000)] = 300
    summarise: bool = True
    learn: bool = True


class SessionEnded(Receipt):
    """`summary` is the item made of the session, `text` what it says; null where there was nothing
    to sum up. `worded_by` is `rules`, or the chat model's name. `learnt` counts the messages that
    were handed on to be remembered; `changes` are all that were made, `change_id` is the last."""

    id: UUID
    summary: UUID | None
    text: str | None
    worded_by: str | None
    learnt: int = 0
    changes: list[UUID] = Field(default_factory=list)
    existing: bool = False


class SessionDeleted(Model):
    id: UUID
    events: int
