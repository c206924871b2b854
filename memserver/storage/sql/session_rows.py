"""Sessions and their events to rows and back. What an event says is JSON by the names of its
fields, which are part of the data: rename none."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any
from uuid import UUID

from sqlalchemy import Column

from memserver.domain.sessions.events import (
    PAYLOAD_OF,
    EventKind,
    Link,
    Payload,
    Session,
    SessionEvent,
    Verdict,
)
from memserver.domain.sessions.rules import Rule
from memserver.storage.sql.tables import SESSION, SESSION_EVENT
from memserver.storage.sql.view import Cells, Names

SESSION_COLUMNS: tuple[Column[Any], ...] = tuple(
    SESSION.c[name]
    for name in (
        "id",
        "namespace_id",
        "agent",
        "subject",
        "created_at",
        "updated_at",
        "ended_at",
        "events",
        "summary",
    )
)
EVENT_COLUMNS: tuple[Column[Any], ...] = tuple(
    SESSION_EVENT.c[name] for name in ("seq", "kind", "payload", "at")
)


def session_row(session: Session) -> dict[str, Any]:
    return {
        "id": session.id,
        "tenant_id": session.namespace.tenant,
        "namespace_id": session.namespace.id,
        "agent": session.agent,
        "subject": session.subject,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "ended_at": session.ended_at,
        "events": session.events,
        "summary": session.summary,
    }


def to_session(cells: Cells, names: Names) -> Session:
    """From cells in the order of `SESSION_COLUMNS`."""
    row_id, namespace_id, *rest = cells
    return Session(row_id, names[namespace_id], *rest)


def event_row(session: Session, event: SessionEvent) -> dict[str, Any]:
    return {
        "session_id": session.id,
        "tenant_id": session.namespace.tenant,
        "namespace_id": session.namespace.id,
        "seq": event.seq,
        "kind": event.kind.value,
        "payload": {
            "id": None if event.id is None else str(event.id),
            "said": payload_json(event.payload),
        },
        "at": event.at,
    }


def to_event(cells: Cells) -> SessionEvent:
    """From cells in the order of `EVENT_COLUMNS`."""
    seq, kind, stored, at = cells
    given = stored["id"]
    return SessionEvent(
        seq=seq,
        payload=_payload(EventKind(kind), stored["said"]),
        at=at,
        id=None if given is None else UUID(given),
    )


def payload_json(payload: Payload) -> dict[str, Any]:
    return {field.name: _plain(getattr(payload, field.name)) for field in fields(payload)}


def _plain(value: Any) -> Any:
    match value:
        case Link() | Rule():
            return {name: _plain(part) for name, part in asdict(value).items()}
        case tuple() | list():
            return [_plain(one) for one in value]
        case Mapping():
            return {name: _plain(one) for name, one in value.items()}
        case Verdict():
            return value.value
        case _:
            return value


def _payload(kind: EventKind, said: Mapping[str, Any]) -> Payload:
    return PAYLOAD_OF[kind](**{name: _read(kind, name, part) for name, part in said.items()})


def _read(kind: EventKind, name: str, value: Any) -> Any:
    match kind, name, value:
        case _, "links", list():
            return tuple(Link(**link) for link in value)
        case EventKind.RULE, "rule", dict():
            return Rule(**{**value, "calls": tuple(value["calls"])})
        case EventKind.VERIFICATION, "verdict", str():
            return Verdict(value)
        case EventKind.LEDGER, "set", dict():
            return {key: tuple(one) if isinstance(one, list) else one for key, one in value.items()}
        case (_, "overrode" | "unset" | "hides" | "drops", list()):
            return tuple(value)
        case _:
            return value
