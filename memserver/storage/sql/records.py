"""Decisions and operations to rows and back: plain records that no undo puts back."""

import zlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import Column

from memserver.domain.decisions import Choice, Considered, Decision, Shadowed
from memserver.domain.operations import Operation, Progress, State
from memserver.storage.sql.tables import DECISION, OPERATION
from memserver.storage.sql.view import Cells, Names

# Most features of most candidates are 0: the fastest level already saves nine tenths.
_COMPRESSION = 1


def decision_row(decision: Decision) -> dict[str, Any]:
    flat = [number for candidate in decision.candidates for number in candidate.features]
    return {
        "id": decision.id,
        "tenant_id": decision.tenant,
        "namespace_id": decision.namespaces[0].id if decision.namespaces else 0,
        "namespaces": [namespace.id for namespace in decision.namespaces],
        "verb": decision.verb,
        "query": decision.query,
        "task_type": decision.task_type,
        "trajectory_id": decision.trajectory_id,
        "schema": decision.schema,
        "policy": decision.policy,
        "candidates": [
            [
                str(candidate.id),
                len(candidate.features),
                candidate.rank,
                candidate.packed,
                candidate.propensity,
                candidate.gated,
                candidate.score,
                candidate.slot,
            ]
            for candidate in decision.candidates
        ],
        "features": zlib.compress(np.array(flat, "<f8").tobytes(), _COMPRESSION),
        "created_at": decision.created_at,
        "asked_by": decision.asked_by,
        "k": decision.k,
        "explored": decision.explored,
        "temperature": decision.temperature,
        "exposure_slots": decision.exposure_slots,
        "encoder": decision.encoder,
        "query_vector": decision.query_vector,
        "shadows": [
            [
                shadow.policy,
                [str(document) for document in shadow.order],
                shadow.failed,
                shadow.operation,
            ]
            for shadow in decision.shadows
        ]
        or None,
        "choice": None if decision.choice is None else _choice_json(decision.choice),
    }


DECISION_COLUMNS: tuple[Column[Any], ...] = tuple(
    DECISION.c[name]
    for name in (
        "id",
        "tenant_id",
        "namespaces",
        "verb",
        "query",
        "task_type",
        "trajectory_id",
        "schema",
        "policy",
        "candidates",
        "features",
        "created_at",
        "asked_by",
        "k",
        "explored",
        "temperature",
        "exposure_slots",
        "encoder",
        "query_vector",
        "shadows",
        "choice",
    )
)


def namespaces_of(decision: Cells) -> Sequence[int]:
    """The namespace ids in a row of `DECISION_COLUMNS`."""
    ids: list[int] = decision[2]
    return ids


def to_decision(cells: Cells, names: Names) -> Decision:
    """From cells in the order of `DECISION_COLUMNS`."""
    (
        row_id,
        tenant,
        namespaces,
        verb,
        query,
        task_type,
        trajectory_id,
        schema,
        policy,
        candidates,
        features,
        created_at,
        asked_by,
        k,
        explored,
        temperature,
        exposure_slots,
        encoder,
        query_vector,
        shadows,
        choice,
    ) = cells
    return Decision(
        id=row_id,
        tenant=tenant,
        namespaces=tuple(names[number] for number in namespaces if number in names),
        verb=verb,
        query=query,
        task_type=task_type,
        trajectory_id=trajectory_id,
        schema=schema,
        policy=policy,
        candidates=_candidates(candidates, features),
        created_at=created_at,
        asked_by=asked_by,
        k=k,
        explored=explored,
        temperature=temperature,
        exposure_slots=exposure_slots,
        encoder=encoder,
        query_vector=None if query_vector is None else bytes(query_vector),
        shadows=tuple(
            # Those of before there were writes say no operation.
            Shadowed(policy, tuple(UUID(document) for document in order), failed, *operation)
            for policy, order, failed, *operation in shadows or ()
        ),
        choice=None if choice is None else _choice(choice),
    )


def _choice_json(choice: Choice) -> dict[str, Any]:
    return {
        name: str(value) if isinstance(value, UUID) else value
        for name, value in asdict(choice).items()
    }


def _choice(stored: dict[str, Any]) -> Choice:
    ids = {
        name: None if stored[name] is None else UUID(stored[name])
        for name in ("target", "item", "version")
    }
    return Choice(**{**stored, **ids})


def _candidates(entries: list[list[Any]], packed_features: bytes) -> tuple[Considered, ...]:
    numbers = np.frombuffer(zlib.decompress(packed_features), "<f8").tolist()
    candidates, start = [], 0
    for candidate_id, width, rank, packed, propensity, gated, *later in entries:
        features = tuple(numbers[start : start + width])
        start += width
        score, slot = later or (0.0, None)  # not known of decisions made before there were any
        candidates.append(
            Considered(UUID(candidate_id), features, rank, packed, propensity, gated, score, slot)
        )
    return tuple(candidates)


def operation_row(operation: Operation) -> dict[str, Any]:
    return {
        "id": operation.id,
        "tenant_id": operation.tenant,
        "namespace_id": operation.namespace.id,
        "verb": operation.verb,
        "params": operation.params,
        "state": operation.state.value,
        "requested_by": operation.requested_by,
        "created_at": operation.created_at,
        "updated_at": operation.updated_at,
        "progress": {
            "done": operation.progress.done,
            "total": operation.progress.total,
            "doing": operation.progress.doing,
        },
        "steps_done": list(operation.steps_done),
        "report": operation.report,
        "error": operation.error,
        "change_id": operation.change_id,
        "attempt": operation.attempt,
    }


OPERATION_COLUMNS: tuple[Column[Any], ...] = tuple(
    OPERATION.c[name]
    for name in (
        "id",
        "tenant_id",
        "namespace_id",
        "verb",
        "params",
        "state",
        "requested_by",
        "created_at",
        "updated_at",
        "progress",
        "steps_done",
        "report",
        "error",
        "change_id",
        "attempt",
    )
)


def to_operation(cells: Cells, names: Names) -> Operation:
    """From cells in the order of `OPERATION_COLUMNS`."""
    (
        row_id,
        tenant,
        namespace_id,
        verb,
        params,
        state,
        requested_by,
        created_at,
        updated_at,
        progress,
        steps_done,
        report,
        error,
        change_id,
        attempt,
    ) = cells
    return Operation(
        id=row_id,
        tenant=tenant,
        namespace=names[namespace_id],
        verb=verb,
        params=params,
        state=State(state),
        requested_by=requested_by,
        created_at=created_at,
        updated_at=updated_at,
        progress=Progress(**progress),
        steps_done=tuple(steps_done),
        report=report,
        error=error,
        change_id=change_id,
        attempt=attempt,
    )
