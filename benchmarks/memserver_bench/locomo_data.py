"""LoCoMo's conversations as they are told to a memory, and its questions with the turns that answer
them. Nothing of it is part of the project: the file is read where it lies."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

SPACE = UUID("6f1c2f0a-6d4e-4c53-8a3e-5d1f1c0a77aa")
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message; `id` is what evidence names it by (`D8:6`)."""

    id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    id: UUID
    at: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """`evidence` are the ids of turns of its conversation, at least one."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


def read(file: Path) -> list[Conversation]:
    """Every question that at least one existing turn answers, category 5 too."""
    return [_conversation(raw) for raw in json.loads(file.read_text())]


def said(turn: Mapping[str, Any]) -> str:
    """What a turn says, a picture that came with it by its caption and what it was searched by."""
    shown = "; ".join(filter(None, [turn.get("blip_caption"), turn.get("query")]))
    text = str(turn.get("text") or "")
    return f"{text} (shares a picture: {shown})" if shown else text


def evidence_ids(named: Sequence[Any]) -> frozenset[str]:
    """Ids as turns have them. Some are written together or with zeros (`D8:6; D9:017`)."""
    found = (pair for one in named for pair in _EVIDENCE.findall(str(one)))
    return frozenset(f"D{int(session)}:{int(turn)}" for session, turn in found)


def moment(text: str) -> datetime:
    """`1:56 pm on 8 May, 2023`, which has no zone, in UTC."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _conversation(raw: Mapping[str, Any]) -> Conversation:
    name, talk = raw["sample_id"], raw["conversation"]
    numbers = sorted(int(found[1]) for key in talk if (found := _SESSION.fullmatch(key)))
    sessions = tuple(
        Session(
            id=uuid5(SPACE, f"{name}/{number}"),
            at=moment(talk[f"session_{number}_date_time"]),
            turns=tuple(
                Turn(turn["dia_id"], turn["speaker"], said(turn))
                for turn in talk[f"session_{number}"]
            ),
        )
        for number in numbers
        if talk[f"session_{number}"]
    )
    there = {turn.id for session in sessions for turn in session.turns}
    questions = tuple(
        Question(one["question"], one["category"], evidence)
        for one in raw["qa"]
        if (evidence := evidence_ids(one.get("evidence") or ()) & there)
    )
    return Conversation(name, sessions, questions)
