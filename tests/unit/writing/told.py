"""Candidates and neighbours made by hand."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from memserver.domain.items import (
    Body,
    Entry,
    FactBody,
    Item,
    Kind,
    Status,
    TextBody,
    Turn,
    Version,
)
from memserver.domain.scope import Namespace
from memserver.services.writing.candidates import Candidate, Neighbour, Sort

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
HERE = Namespace(1, uuid4(), "here")


def a_fact(
    entity: str, key: str, value: str, *, at: datetime = NOW, retracts: bool = False
) -> Candidate:
    return Candidate(
        sort=Sort.RETRACTION if retracts else Sort.FACT,
        kind=Kind.FACT,
        text=f"{entity}'s {key} is {value}.",
        body=FactBody(entity, key, value),
        title=f"{entity} · {key}",
        at=at,
        method="remember/text",
    )


def a_text(text: str, *, refused: str | None = None) -> Candidate:
    return Candidate(
        sort=Sort.TEXT,
        kind=Kind.NOTE,
        text=text,
        body=TextBody(text),
        title=text[:120],
        at=NOW,
        method="remember/text",
        refused=refused,
    )


def neighbour_of(
    candidate: Candidate,
    *,
    live: bool = True,
    cosine: float = 0.0,
    turn: Turn | None = None,
    status: Status = Status.ACTIVE,
) -> Neighbour:
    """An item that says what the candidate says, since an hour before."""
    return Neighbour(
        an_entry(candidate.kind, candidate.title, candidate.body, turn=turn, status=status),
        live=live and status is Status.ACTIVE,
        cosine=cosine,
    )


def an_entry(
    kind: Kind,
    title: str,
    body: Body,
    *,
    turn: Turn | None = None,
    status: Status = Status.ACTIVE,
) -> Entry:
    since = NOW - timedelta(hours=1)
    item_id, version_id = uuid4(), uuid4()
    item = Item(item_id, HERE, kind, title, status, version_id, since)
    version = Version(version_id, item_id, HERE, 1, title, body, since, since, turn=turn)
    return Entry(item, version)
