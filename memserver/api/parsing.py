"""From request models to domain values."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from pydantic import TypeAdapter

from memserver.domain import items as domain_items
from memserver.domain.errors import InvalidBody
from memserver.domain.items import BODY_OF, Body, Kind
from memserver.domain.scope import Namespace
from memserver.domain.times import TimeFrame
from memserver.domain.trajectories import (
    Outcome,
    OutcomeSource,
    Step,
    Task,
    Trajectory,
    as_sent,
)
from memserver.ids import uuid7
from memserver.services.remembering import Content
from memserver.services.retrieval.presets import preset_named
from memserver.services.retrieval.query import ITEM_KINDS, Query
from memserver.wire import items, retrieval, trajectories

_BODY: dict[Kind, TypeAdapter[Body]] = {kind: TypeAdapter(body) for kind, body in BODY_OF.items()}


def run(sent: trajectories.Run, namespace: Namespace, now: datetime) -> Trajectory:
    """A run as it is stored; what the sender left open (id, time) is filled in."""
    stored = Trajectory(
        id=sent.id or uuid7(),
        namespace=namespace,
        task=Task(**sent.task.model_dump()),
        agent=sent.agent,
        steps=tuple(
            Step(step.observation, step.action, step.reward, step.metadata) for step in sent.steps
        ),
        outcome=None if sent.outcome is None else outcome(sent.outcome),
        used=None if sent.used is None else tuple(sent.used),
        created_at=sent.created_at or now,
        mistakes=tuple(sent.mistakes),
        metadata=sent.metadata,
        subject=sent.subject,
    )
    return as_sent(stored)


def runs(sent: Sequence[trajectories.Run], namespace: Namespace, now: datetime) -> list[Trajectory]:
    return [run(one, namespace, now) for one in sent]


def outcome(sent: trajectories.Outcome) -> Outcome:
    return Outcome(sent.score, sent.success, OutcomeSource(sent.source), sent.cost)


def feedback(sent: trajectories.Feedback) -> Outcome:
    """Success defaults to a score of at least one half."""
    success = sent.score >= 0.5 if sent.success is None else sent.success
    return Outcome(sent.score, success, OutcomeSource(sent.source))


def content(sent: items.NewMemory | items.NewSkill | items.NewVersion, kind: Kind) -> Content:
    """Raises `InvalidBody` where the body has not the shape of its kind."""
    body = sent.body
    if isinstance(body, dict):
        try:
            body = items.typed_body(kind, body)
        except ValueError as error:
            raise InvalidBody(str(error)) from error
    return Content(
        title=sent.title or _first_line(body),
        body=_BODY[kind].validate_python(body.model_dump()),
        task_type=sent.task_type,
        sources=tuple(
            domain_items.Source(source.trajectory_id, tuple(source.steps))
            for source in sent.sources
        ),
        metadata=sent.metadata if "metadata" in sent.model_fields_set else None,
        valid_from=sent.valid_from,
        subject=sent.subject,
    )


def query(sent: retrieval.RetrieveRequest) -> Query:
    named = [*([sent.namespace] if sent.namespace else []), *(sent.namespaces or [])]
    filters = sent.filters or retrieval.Filters()
    kinds: tuple[str, ...] = tuple(sent.kinds or ITEM_KINDS)
    if filters.kind is not None:
        wanted = _wanted(filters.kind)
        kinds = tuple(kind for kind in wanted if sent.kinds is None or kind in kinds)
    created = filters.created_at
    preset = preset_named(sent.preset)
    return Query(
        text=sent.query,
        namespaces=tuple(dict.fromkeys(named)),
        k=sent.k or preset.k,
        budget_tokens=sent.budget_tokens,
        kinds=kinds,
        task_type=sent.task_type,
        only_task_types=None if filters.task_type is None else _wanted(filters.task_type),
        created_from=None if created is None else created.gte,
        created_to=None if created is None else created.lt,
        trajectory_id=sent.trajectory_id,
        exclude_task=sent.exclude_task,
        vector=None if sent.vector is None else np.asarray(sent.vector, np.float64),
        frame=_frame(sent),
        preset=preset,
        quotas={str(kind): most for kind, most in (sent.quotas or {}).items()},
        neighbours=sent.neighbours,
    )


def _frame(sent: retrieval.RetrieveRequest) -> TimeFrame | None:
    if sent.between is not None:
        return TimeFrame(sent.between.from_, sent.between.to, known_at=sent.known_at)
    return frame(sent.as_of, sent.known_at)


def frame(as_of: datetime | None, known_at: datetime | None) -> TimeFrame | None:
    """None where the question is about the present."""
    moment = as_of or known_at
    return None if moment is None else TimeFrame(moment, known_at=known_at)


def _wanted(condition: retrieval.KindCondition | retrieval.TextCondition) -> tuple[str, ...]:
    return tuple(condition.in_ or ()) if condition.eq is None else (condition.eq,)


def _first_line(body: items.Body) -> str:
    """A title for content that has none: the first line of its first words."""
    match body:
        case items.FactBody():
            return domain_items.FactBody(body.entity, body.key, body.value).about
        case items.CaseBody():
            words = body.goal
        case items.HintBody():
            words = body.do
        case items.SkillBody():
            words = body.goal or body.when
        case items.RuleBody() | items.TextBody():
            words = body.text
    return domain_items.first_line(words)
