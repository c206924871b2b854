"""Candidates made from a few words."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memserver.domain.evidence import Belief
from memserver.domain.items import Status, Turn
from memserver.domain.scope import Namespace
from memserver.services.retrieval.fusion import reciprocal_rank
from memserver.services.retrieval.query import Candidate, Standing

NOW = datetime(2026, 6, 9, tzinfo=UTC)
HERE = Namespace(id=1, tenant=UUID(int=0xA), path="team")
TALK, OTHER_TALK = UUID(int=71), UUID(int=72)


def candidate(number: int, text: str = "", **fields: Any) -> Candidate:
    """A note; `arms` by name as (rank, score)."""
    arms = {arm: Standing(*place) for arm, place in fields.pop("arms", {}).items()}
    text = text or f"text {number}"
    known: dict[str, Any] = {
        "document": UUID(int=number),
        "id": UUID(int=1_000 + number),
        "namespace": HERE,
        "kind": "note",
        "status": Status.ACTIVE,
        "title": text,
        "text": text,
        "indexed": text,
        "task_type": None,
        "sources": (),
        "created_at": NOW,
        "valid_from": NOW,
        "valid_to": None,
        "recorded_at": NOW,
        "belief": Belief(UUID(int=number)),
        "arms": arms,
        "fused": reciprocal_rank(arms),
    }
    return Candidate(**{**known, **fields})


def turn(
    number: int,
    text: str,
    *,
    speaker: str = "Ana",
    session: UUID = TALK,
    **fields: Any,
) -> Candidate:
    title = f"{speaker}, 9 June 2026"
    return candidate(
        number,
        f"{title}\n{text}",
        title=title,
        turn=Turn(session, number, speaker),
        **fields,
    )


def numbers(candidates: list[Candidate]) -> list[int]:
    return [one.document.int for one in candidates]
