"""Content values to rows and back, one pair of functions a table.

A row is a mapping of column names; `position` and `seq` are the log's to give and are not set
here. Reading goes by column order, which spares an object a row: hot paths read hundreds.
"""

import hashlib
import json
from typing import Any
from uuid import UUID

from sqlalchemy import Column, Table

from memserver.domain.changes import Row
from memserver.domain.changes import Table as Content
from memserver.domain.evidence import Event, Evidence
from memserver.domain.items import (
    FactBody,
    Item,
    Kind,
    Source,
    Status,
    Turn,
    Version,
    normal_name,
)
from memserver.domain.namespace_settings import NamespaceSettings
from memserver.domain.policies import Exploration, Policy
from memserver.domain.trajectories import (
    Outcome,
    OutcomeSource,
    Step,
    Task,
    Trajectory,
    normal_goal,
)
from memserver.storage.sql import bodies, policy_rows, settings_rows
from memserver.storage.sql.tables import (
    BELIEF,
    EVIDENCE,
    EXPLORATION,
    ITEM,
    NAMESPACE_SETTINGS,
    POLICY,
    TRAJECTORY,
    VERSION,
)
from memserver.storage.sql.types import to_json
from memserver.storage.sql.view import Cells, Names

TABLES: dict[Content, Table] = {
    Content.TRAJECTORY: TRAJECTORY,
    Content.ITEM: ITEM,
    Content.VERSION: VERSION,
    Content.EVIDENCE: EVIDENCE,
    Content.POLICY: POLICY,
    Content.EXPLORATION: EXPLORATION,
    Content.NAMESPACE_SETTINGS: NAMESPACE_SETTINGS,
}
_TABLE_OF: dict[type[Row], Content] = {
    Trajectory: Content.TRAJECTORY,
    Item: Content.ITEM,
    Version: Content.VERSION,
    Evidence: Content.EVIDENCE,
    Policy: Content.POLICY,
    Exploration: Content.EXPLORATION,
    NamespaceSettings: Content.NAMESPACE_SETTINGS,
}


def table_of(value: Row) -> Content:
    return _TABLE_OF[type(value)]


def to_row(value: Row) -> dict[str, Any]:
    """The value's columns, but `position` and `seq`."""
    shared = {
        "id": value.id,
        "tenant_id": value.namespace.tenant,
        "namespace_id": value.namespace.id,
    }
    match value:
        case Trajectory():
            return shared | _trajectory_row(value)
        case Item():
            return shared | _item_row(value)
        case Version():
            return shared | _version_row(value)
        case Evidence():
            return shared | _evidence_row(value)
        case Policy():
            return shared | policy_rows.policy_row(value, manifest=_as_read_back(value.manifest))
        case Exploration():
            return shared | policy_rows.exploration_row(value)
        case NamespaceSettings():
            return shared | settings_rows.settings_row(value)


def text_hash(text: str) -> str:
    """Stands for a text of any length in an index."""
    return hashlib.sha256(text.encode()).hexdigest()


def _as_read_back(value: dict[str, Any]) -> dict[str, Any]:
    """Free-form JSON as the database will give it back, so that both hash alike."""
    return json.loads(to_json(value)) if value else {}


# --- trajectories ------------------------------------------------------------------------


def _trajectory_row(value: Trajectory) -> dict[str, Any]:
    task, outcome = value.task, value.outcome
    return {
        "goal": task.goal,
        "goal_hash": text_hash(normal_goal(task.goal)),
        "task_type": task.type,
        "environment": task.environment,
        "template_id": task.template_id,
        "template_hash": None if task.template_id is None else text_hash(task.template_id),
        "agent": value.agent,
        "steps": [_step_json(step) for step in value.steps],
        "outcome": None if outcome is None else _outcome_json(outcome),
        "success": None if outcome is None else outcome.success,
        "used": None if value.used is None else [str(version) for version in value.used],
        "mistakes": list(value.mistakes),
        "metadata": _as_read_back(value.metadata),
        "sent_hash": value.sent_hash,
        "sender": value.sender,
        "created_at": value.created_at,
        "subject": value.subject,
    }


def _step_json(step: Step) -> dict[str, Any]:
    """Only what is set: most steps have an observation and an action and no more."""
    entry: dict[str, Any] = {}
    if step.observation:
        entry["observation"] = step.observation
    if step.action:
        entry["action"] = step.action
    if step.reward is not None:
        entry["reward"] = step.reward
    if step.metadata:
        entry["metadata"] = _as_read_back(step.metadata)
    return entry


def _outcome_json(outcome: Outcome) -> dict[str, Any]:
    return {
        "score": outcome.score,
        "success": outcome.success,
        "source": outcome.source.value,
        "cost": outcome.cost,
    }


TRAJECTORY_COLUMNS: tuple[Column[Any], ...] = tuple(
    TRAJECTORY.c[name]
    for name in (
        "id",
        "namespace_id",
        "goal",
        "task_type",
        "environment",
        "template_id",
        "agent",
        "steps",
        "outcome",
        "used",
        "mistakes",
        "metadata",
        "created_at",
        "sent_hash",
        "sender",
        "subject",
    )
)


def to_trajectory(cells: Cells, names: Names) -> Trajectory:
    """From cells in the order of `TRAJECTORY_COLUMNS`."""
    (
        row_id,
        namespace_id,
        goal,
        task_type,
        environment,
        template_id,
        agent,
        steps,
        outcome,
        used,
        mistakes,
        metadata,
        created_at,
        sent_hash,
        sender,
        subject,
    ) = cells
    return Trajectory(
        id=row_id,
        namespace=names[namespace_id],
        task=Task(goal, task_type, environment, template_id),
        agent=agent,
        steps=tuple(Step(**step) for step in steps),
        outcome=None
        if outcome is None
        else Outcome(
            outcome["score"],
            outcome["success"],
            OutcomeSource(outcome["source"]),
            outcome["cost"],
        ),
        used=None if used is None else tuple(UUID(version) for version in used),
        created_at=created_at,
        mistakes=tuple(mistakes),
        metadata=metadata,
        sent_hash=sent_hash,
        sender=sender,
        subject=subject,
    )


# --- items -------------------------------------------------------------------------------


def _item_row(value: Item) -> dict[str, Any]:
    return {
        "kind": value.kind.value,
        "title": value.title,
        "status": value.status.value,
        "head": value.head,
        "merged_into": value.merged_into,
        "created_at": value.created_at,
        "subject": value.subject,
        "expires_at": value.expires_at,
    }


ITEM_COLUMNS: tuple[Column[Any], ...] = tuple(
    ITEM.c[name]
    for name in (
        "id",
        "namespace_id",
        "kind",
        "title",
        "status",
        "head",
        "created_at",
        "merged_into",
        "subject",
        "expires_at",
    )
)


def to_item(cells: Cells, names: Names) -> Item:
    """From cells in the order of `ITEM_COLUMNS`."""
    row_id, namespace_id, kind, title, status, head, created_at, merged_into, *later = cells
    subject, expires_at = later
    return Item(
        row_id,
        names[namespace_id],
        Kind(kind),
        title,
        Status(status),
        head,
        created_at,
        merged_into,
        subject,
        expires_at,
    )


# --- versions ----------------------------------------------------------------------------


def _version_row(value: Version) -> dict[str, Any]:
    return {
        "item_id": value.item_id,
        "number": value.number,
        "title": value.title,
        "body_type": bodies.tag_of(value.body),
        "body": bodies.to_json(value.body),
        "content_hash": value.content_hash,
        "valid_from": value.valid_from,
        "valid_to": value.valid_to,
        "recorded_at": value.recorded_at,
        "parent": value.parent,
        "method": value.method,
        "sources": [
            {"trajectory": str(source.trajectory_id), "steps": list(source.steps)}
            for source in value.sources
        ],
        "task_type": value.task_type,
        "metadata": _as_read_back(value.metadata),
        "entity": normal_name(value.body.entity) if isinstance(value.body, FactBody) else None,
        "session": value.turn and value.turn.session,
        "ordinal": None if value.turn is None else value.turn.ordinal,
        "speaker": value.turn and value.turn.speaker,
        "context": value.context or None,
        "closed_at": value.closed_at,
    }


VERSION_COLUMNS: tuple[Column[Any], ...] = tuple(
    VERSION.c[name]
    for name in (
        "id",
        "item_id",
        "namespace_id",
        "number",
        "title",
        "body_type",
        "body",
        "valid_from",
        "recorded_at",
        "valid_to",
        "parent",
        "method",
        "sources",
        "task_type",
        "metadata",
        "session",
        "ordinal",
        "speaker",
        "context",
        "closed_at",
    )
)


def to_version(cells: Cells, names: Names) -> Version:
    """From cells in the order of `VERSION_COLUMNS`."""
    (
        row_id,
        item_id,
        namespace_id,
        number,
        title,
        body_type,
        body,
        valid_from,
        recorded_at,
        valid_to,
        parent,
        method,
        sources,
        task_type,
        metadata,
        session,
        ordinal,
        speaker,
        context,
        closed_at,
    ) = cells
    return Version(
        id=row_id,
        item_id=item_id,
        namespace=names[namespace_id],
        number=number,
        title=title,
        body=bodies.from_json(body_type, body),
        valid_from=valid_from,
        recorded_at=recorded_at,
        valid_to=valid_to,
        parent=parent,
        method=method,
        sources=tuple(
            Source(UUID(source["trajectory"]), tuple(source["steps"])) for source in sources
        ),
        task_type=task_type,
        metadata=metadata,
        turn=None if session is None else Turn(session, ordinal, speaker),
        context=context or "",
        closed_at=closed_at,
    )


# --- evidence ----------------------------------------------------------------------------


def _evidence_row(value: Evidence) -> dict[str, Any]:
    return {
        "subject": value.subject,
        "context": value.context,
        "event": value.event.value,
        "value": float(value.value),
        "weight": float(value.weight),
        "recorded_at": value.recorded_at,
        "source": value.source,
        "cause": value.cause,
        "retracts": value.retracts,
    }


EVIDENCE_COLUMNS: tuple[Column[Any], ...] = tuple(
    EVIDENCE.c[name]
    for name in (
        "id",
        "namespace_id",
        "subject",
        "event",
        "value",
        "weight",
        "recorded_at",
        "context",
        "source",
        "cause",
        "retracts",
        "seq",
    )
)


# The fields of a `Belief`, in its order.
BELIEF_COLUMNS: tuple[Column[Any], ...] = (
    BELIEF.c.subject,
    BELIEF.c.context,
    BELIEF.c.successes,
    BELIEF.c.failures,
    BELIEF.c.outcomes,
    BELIEF.c.last,
    BELIEF.c.mentions,
)


def to_evidence(cells: Cells, names: Names) -> Evidence:
    """From cells in the order of `EVIDENCE_COLUMNS`."""
    (
        row_id,
        namespace_id,
        subject,
        event,
        value,
        weight,
        recorded_at,
        context,
        source,
        cause,
        retracts,
        seq,
    ) = cells
    return Evidence(
        row_id,
        names[namespace_id],
        subject,
        Event(event),
        value,
        weight,
        recorded_at,
        context,
        source,
        cause,
        retracts,
        seq,
    )
