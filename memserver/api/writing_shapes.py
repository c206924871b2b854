"""Remember, from request models and to response models."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from memserver.domain.items import FactBody
from memserver.services.writing.telling import Message, Told, ToldFact
from memserver.services.writing.writing import Report
from memserver.wire import writing as wire


def told(sent: wire.Remember, *, now: datetime, default_zone: Callable[[], str]) -> Told:
    return Told(
        at=sent.at or now,
        zone=ZoneInfo(sent.time_zone or default_zone()),
        text=sent.text,
        messages=None
        if sent.messages is None
        else tuple(
            Message(one.speaker or one.role or "", one.text, one.at) for one in sent.messages
        ),
        facts=None
        if sent.facts is None
        else tuple(
            ToldFact(FactBody(one.entity, one.key, one.value), one.valid_from) for one in sent.facts
        ),
        subject=sent.subject,
        session=sent.session,
        keep_turns=sent.keep_turns,
        expires_at=sent.expires_at,
        metadata=sent.metadata,
    )


def remembered(report: Report) -> wire.Remembered:
    counts = Counter(one.choice.operation for one in report.written)
    return wire.Remembered(
        change_id=None if report.change is None else str(report.change.id),
        position=0 if report.change is None else report.change.position,
        session=report.session,
        written=[
            wire.WrittenItem(
                operation=one.choice.operation,  # type: ignore[arg-type]
                kind=one.candidate.kind.value,
                item=one.choice.item,
                version=one.choice.version,
                target=one.choice.target,
                decision=one.decision,
                reason=one.choice.reason,
                by=one.choice.by,  # type: ignore[arg-type]
                message=one.candidate.message,
            )
            for one in report.written
        ],
        added=counts["ADD"],
        updated=counts["UPDATE"],
        deleted=counts["DELETE"],
        unchanged=counts["NOOP"],
    )
