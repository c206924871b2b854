"""The state of a session: a fold over its events, and nothing else."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memserver.domain.sessions.conditions import Circumstances
from memserver.domain.sessions.events import (
    CandidateNote,
    EventKind,
    EvidenceNote,
    Filtering,
    LedgerEdit,
    LedgerValue,
    Link,
    Message,
    ReportEdit,
    RuleEdit,
    SessionEvent,
    SummaryNote,
    ToolCall,
    ToolResult,
    Verdict,
    Verification,
    kind_of,
)
from memserver.domain.sessions.rules import Blocked, Rule, blocked_by

DECIDING = (EventKind.CALL, EventKind.EVIDENCE, EventKind.LEDGER, EventKind.RULE)
"""What decides whether an event may be added, and a call be made. Most of a session is turns,
which decide nothing and need not be read for it."""


@dataclass(frozen=True, slots=True)
class Curated:
    """A claim, what it stands on, and each judge's latest word on it."""

    name: str
    claim: str
    links: tuple[Link, ...]
    verifications: tuple[Verification, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Refuted where one judge says so, supported where one does and none refutes it."""
        verdicts = {judged.verdict for judged in self.verifications}
        for verdict in (Verdict.REFUTED, Verdict.SUPPORTED):
            if verdict in verdicts:
                return verdict
        return Verdict.UNCLEAR


@dataclass(frozen=True, slots=True)
class Candidate:
    name: str
    text: str
    score: float | None
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A message, a call or its result, as it was said."""

    seq: int
    said: Message | ToolCall | ToolResult
    at: datetime

    @property
    def kind(self) -> EventKind:
        return kind_of(self.said)


@dataclass(frozen=True, slots=True)
class State:
    """What is known after the event number `last`. `turns` are those that neither a summary
    stands for nor a filter hid. Keys of the ledger are in the order in which they were last set,
    sections of the report in that in which they were begun."""

    ledger: Mapping[str, LedgerValue] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    report: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[Curated, ...] = ()
    turns: tuple[Turn, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    summary: SummaryNote | None = None
    calls: Mapping[str, int] = field(default_factory=dict)
    last: int = 0

    def blocked_by(self, name: str, arguments: Mapping[str, Any]) -> tuple[Blocked, ...]:
        """The ledger rules that block a call; none where it is allowed."""
        return blocked_by(self.rules, Circumstances(name, arguments, self.ledger, self.calls))


def fold(events: Iterable[SessionEvent]) -> State:
    """The state after these events, which are in the order of their numbers."""
    folding = Folding()
    for event in events:
        folding.add(event)
    return folding.state


class Folding:
    """A fold under way, for those who look at the state between two events."""

    def __init__(self) -> None:
        self._ledger: dict[str, LedgerValue] = {}
        self._rules: dict[str, Rule] = {}
        self._report: dict[str, str] = {}
        self._evidence: dict[str, Curated] = {}
        self._turns: dict[int, Turn] = {}
        self._candidates: dict[str, Candidate] = {}
        self._summary: SummaryNote | None = None
        self._calls: Counter[str] = Counter()
        self._last = 0

    @property
    def state(self) -> State:
        return State(
            ledger=dict(self._ledger),
            rules=tuple(self._rules.values()),
            report=dict(self._report),
            evidence=tuple(self._evidence.values()),
            turns=tuple(self._turns.values()),
            candidates=tuple(self._candidates.values()),
            summary=self._summary,
            calls=dict(self._calls),
            last=self._last,
        )

    def blocked_by(self, call: ToolCall) -> tuple[Blocked, ...]:
        at = Circumstances(call.name, call.arguments, self._ledger, self._calls)
        return blocked_by(self._rules.values(), at)

    @property
    def claims(self) -> frozenset[str]:
        """The names of the evidence so far."""
        return frozenset(self._evidence)

    @property
    def rules(self) -> int:
        return len(self._rules)

    def add(self, event: SessionEvent) -> None:
        self._last = event.seq
        match event.payload:
            case Message() | ToolCall() | ToolResult() as said:
                self._turns[event.seq] = Turn(event.seq, said, event.at)
                if isinstance(said, ToolCall):
                    self._calls[said.name] += 1
            case LedgerEdit() as edit:
                self._edit_ledger(edit)
            case ReportEdit() as edit:
                self._edit_report(edit)
            case CandidateNote() as note:
                self._candidates.pop(note.name, None)
                if not note.removed:
                    self._candidates[note.name] = Candidate(
                        note.name, note.text, note.score, note.links
                    )
            case EvidenceNote() as note:
                self._note_evidence(note)
            case Verification() as judged:
                self._verify(judged)
            case RuleEdit(rule=Rule() as rule):
                self._rules[rule.name] = rule
            case RuleEdit(remove=str(name)):
                self._rules.pop(name, None)
            case SummaryNote() as summary:
                self._summary = summary
                self._turns = {n: turn for n, turn in self._turns.items() if n > summary.through}
            case Filtering() as narrowed:
                for hidden in narrowed.hides:
                    self._turns.pop(hidden, None)
                for dropped in narrowed.drops:
                    self._candidates.pop(dropped, None)

    def _edit_ledger(self, edit: LedgerEdit) -> None:
        for key in edit.unset:
            self._ledger.pop(key, None)
        for key, value in edit.set.items():
            self._ledger.pop(key, None)
            self._ledger[key] = value

    def _edit_report(self, edit: ReportEdit) -> None:
        before = self._report.get(edit.section, "") if edit.append else ""
        text = "\n".join(part for part in (before, edit.text) if part)
        if text:
            self._report[edit.section] = text
        else:
            self._report.pop(edit.section, None)

    def _note_evidence(self, note: EvidenceNote) -> None:
        known = self._evidence.get(note.name)
        if known is not None and (known.claim, known.links) == (note.claim, note.links):
            return
        self._evidence[note.name] = Curated(note.name, note.claim, note.links)

    def _verify(self, judged: Verification) -> None:
        known = self._evidence.get(judged.evidence)
        if known is None:
            return
        others = tuple(one for one in known.verifications if one.by != judged.by)
        self._evidence[judged.evidence] = replace(known, verifications=(*others, judged))
