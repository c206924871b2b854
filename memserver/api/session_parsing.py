"""Events of sessions, from request models to domain values."""

import json
from typing import Any

from memserver.domain.sessions.events import (
    CandidateNote,
    EvidenceNote,
    Filtering,
    LedgerEdit,
    LedgerValue,
    Link,
    Message,
    Payload,
    ReportEdit,
    RuleEdit,
    SummaryNote,
    ToolCall,
    ToolResult,
    Verdict,
    Verification,
)
from memserver.domain.sessions.rules import Rule
from memserver.services.sessions.recording import EVERYTHING_BEFORE, NewEvent
from memserver.wire import sessions as wire


def events(sent: list[wire.NewEvent]) -> list[NewEvent]:
    """Raises `InvalidRule`."""
    return [
        NewEvent(payload=_payload(one), size=_size(one), at=one.at, id=one.event_id) for one in sent
    ]


def _size(sent: wire.NewEvent) -> int:
    said = sent.model_dump(mode="json", exclude={"event_id", "at"}, exclude_unset=True)
    return len(json.dumps(said, ensure_ascii=False).encode())


def _payload(sent: wire.NewEvent) -> Payload:
    match sent:
        case wire.Message():
            return Message(sent.speaker, sent.text)
        case wire.ToolCall():
            return ToolCall(sent.name, sent.arguments, sent.override_reason)
        case wire.ToolResult():
            return ToolResult(sent.name, sent.text, sent.is_error)
        case wire.ReportEdit():
            return ReportEdit(sent.section, sent.text, append=sent.mode == "append")
        case wire.CandidateNote():
            return CandidateNote(sent.name, sent.text, sent.score, _links(sent.links), sent.removed)
        case wire.EvidenceNote():
            return EvidenceNote(sent.name, sent.claim, _links(sent.links))
        case wire.Verification():
            return Verification(sent.evidence, Verdict(sent.verdict), sent.by, sent.note)
        case wire.LedgerEdit():
            values = {key: _ledger_value(value) for key, value in sent.set.items()}
            return LedgerEdit(values, tuple(sent.unset))
        case wire.RuleEdit():
            return RuleEdit(None if sent.rule is None else _rule(sent.rule), sent.remove)
        case wire.SummaryNote():
            return SummaryNote(sent.text, sent.through or EVERYTHING_BEFORE)
        case wire.Filtering():
            return Filtering(sent.query, tuple(sent.hides), tuple(sent.drops))


def _ledger_value(value: Any) -> LedgerValue:
    return tuple(value) if isinstance(value, list) else value


def _rule(sent: wire.Rule) -> Rule:
    calls = [sent.call] if isinstance(sent.call, str) else sent.call or []
    return Rule(
        name=sent.name,
        because=sent.because,
        calls=tuple(calls),
        when=sent.when,
        require=sent.require,
        forbid=sent.forbid,
    )


def _links(sent: list[wire.Link]) -> tuple[Link, ...]:
    return tuple(
        Link(kind, str(target))
        for link in sent
        for kind, target in link.model_dump(exclude_none=True).items()
    )
