"""Sessions and their states, from domain values to response models."""

from collections.abc import Iterable
from typing import Any

from memserver.api.shaping import receipt
from memserver.domain.sessions.events import (
    CandidateNote,
    EvidenceNote,
    Filtering,
    LedgerEdit,
    Link,
    Payload,
    ReportEdit,
    RuleEdit,
    Session,
    SessionEvent,
    ToolCall,
    Verification,
)
from memserver.domain.sessions.rules import Blocked, Rule
from memserver.domain.sessions.state import State
from memserver.services.sessions.ending import Ended
from memserver.services.sessions.reading import Rendered
from memserver.services.sessions.recording import Recorded
from memserver.wire import sessions as wire


def recorded(found: Recorded) -> wire.EventsStored:
    return wire.EventsStored(
        id=found.session.id,
        namespace=found.session.namespace.path,
        seqs=list(found.seqs),
        stored=len(found.seqs) - found.existing,
        existing=found.existing,
        events=found.session.events,
    )


def session(found: Session) -> wire.SessionDetails:
    return wire.SessionDetails(
        id=found.id,
        namespace=found.namespace.path,
        agent=found.agent,
        subject=found.subject,
        events=found.events,
        summary=found.summary,
        created_at=found.created_at,
        updated_at=found.updated_at,
        ended_at=found.ended_at,
    )


def event(found: SessionEvent) -> wire.SessionEvent:
    return wire.SessionEvent(
        seq=found.seq,
        kind=found.kind.value,
        said=said(found.payload),
        at=found.at,
        event_id=found.id,
    )


def deleted(found: Session) -> wire.SessionDeleted:
    return wire.SessionDeleted(id=found.id, events=found.events)


def ended(found: Ended) -> wire.SessionEnded:
    # The last change is the one to wait for, and positions are in the order of writing.
    last = found.changes[-1] if found.changes else None
    return wire.SessionEnded(
        id=found.session.id,
        summary=found.session.summary,
        text=None if found.summed is None else found.summed.text,
        worded_by=None if found.summed is None else found.summed.by,
        learnt=found.learnt,
        changes=[change.id for change in found.changes],
        existing=found.existing,
        **receipt(last).model_dump(),
    )


def checked(blocked: Iterable[Blocked]) -> wire.Checked:
    found = [
        wire.Block(rule=one.rule, because=one.because, undecided=one.undecided) for one in blocked
    ]
    return wire.Checked(allowed=not found, blocked_by=found)


def rendered(found: Rendered, *, as_values: bool) -> wire.SessionState:
    of = found.standing
    return wire.SessionState(
        id=of.session.id,
        namespace=of.session.namespace.path,
        events=of.session.events,
        text=found.fitted.text,
        tokens=found.fitted.tokens,
        token_counter=found.token_counter,
        budget_tokens=found.budget,
        left_out=found.fitted.left_out,
        cut=list(found.fitted.cut),
        state=_structure(of.state) if as_values else None,
    )


def said(payload: Payload) -> dict[str, Any]:
    """The fields of an event as they were sent, and what the server added."""
    match payload:
        case ToolCall():
            return {
                "name": payload.name,
                "arguments": dict(payload.arguments),
                "override_reason": payload.override_reason,
                "overrode": list(payload.overrode),
            }
        case ReportEdit():
            mode = "append" if payload.append else "replace"
            return {"section": payload.section, "text": payload.text, "mode": mode}
        case CandidateNote():
            return {
                "name": payload.name,
                "text": payload.text,
                "score": payload.score,
                "links": _links(payload.links),
                "removed": payload.removed,
            }
        case EvidenceNote():
            return {
                "name": payload.name,
                "claim": payload.claim,
                "links": _links(payload.links),
            }
        case Verification():
            return {"evidence": payload.evidence, **_judgement(payload)}
        case LedgerEdit():
            return {"set": _ledger(payload.set), "unset": list(payload.unset)}
        case RuleEdit():
            changed = None if payload.rule is None else _rule(payload.rule).model_dump()
            return {"rule": changed, "remove": payload.remove}
        case Filtering():
            return {
                "query": payload.query,
                "hides": list(payload.hides),
                "drops": list(payload.drops),
            }
        case plain:
            return {name: getattr(plain, name) for name in plain.__slots__}


def _structure(state: State) -> wire.Structure:
    return wire.Structure(
        ledger=_ledger(state.ledger),
        rules=[_rule(rule) for rule in state.rules],
        report=dict(state.report),
        evidence=[
            wire.Evidence(
                name=one.name,
                claim=one.claim,
                links=_links(one.links),
                verdict=one.verdict.value,
                verifications=[wire.Judgement(**_judgement(each)) for each in one.verifications],
            )
            for one in state.evidence
        ],
        turns=[
            wire.Turn(seq=turn.seq, kind=turn.kind.value, said=said(turn.said), at=turn.at)
            for turn in state.turns
        ],
        candidates=[
            wire.Candidate(name=one.name, text=one.text, score=one.score, links=_links(one.links))
            for one in state.candidates
        ],
        summary=None if state.summary is None else state.summary.text,
        calls=dict(state.calls),
    )


def _judgement(payload: Verification) -> dict[str, str]:
    return {"verdict": payload.verdict.value, "by": payload.by, "note": payload.note}


def _ledger(values: Any) -> dict[str, Any]:
    return {key: list(one) if isinstance(one, tuple) else one for key, one in values.items()}


def _rule(rule: Rule) -> wire.Rule:
    return wire.Rule(
        name=rule.name,
        because=rule.because,
        call=list(rule.calls) or None,
        when=None if rule.when is None else dict(rule.when),
        require=None if rule.require is None else dict(rule.require),
        forbid=None if rule.forbid is None else dict(rule.forbid),
    )


def _links(links: Iterable[Link]) -> list[dict[str, str]]:
    return [{link.kind: link.target} for link in links]
