"""Policies and exploration to rows and back."""

from typing import Any

from sqlalchemy import Column

from memserver.domain.policies import (
    Exploration,
    Mode,
    Policy,
    PolicyRole,
    PolicyState,
)
from memserver.storage.sql.tables import EXPLORATION, POLICY
from memserver.storage.sql.view import Cells, Names


def policy_row(value: Policy, *, manifest: dict[str, Any]) -> dict[str, Any]:
    return {
        "role": value.role.value,
        "kind": value.kind,
        "state": value.state.value,
        "share": float(value.share),
        "manifest": manifest,
        "weights_hash": value.weights_hash,
        "created_at": value.created_at,
        "since": value.since,
        "reason": value.reason,
        "previous": value.previous,
        "baseline": list(value.baseline),
    }


POLICY_COLUMNS: tuple[Column[Any], ...] = tuple(
    POLICY.c[name]
    for name in (
        "id",
        "namespace_id",
        "role",
        "kind",
        "state",
        "share",
        "manifest",
        "weights_hash",
        "created_at",
        "since",
        "reason",
        "previous",
        "baseline",
    )
)


def to_policy(cells: Cells, names: Names) -> Policy:
    """From cells in the order of `POLICY_COLUMNS`."""
    (
        row_id,
        namespace_id,
        role,
        kind,
        state,
        share,
        manifest,
        weights_hash,
        created_at,
        since,
        reason,
        previous,
        baseline,
    ) = cells
    return Policy(
        id=row_id,
        namespace=names[namespace_id],
        role=PolicyRole(role),
        kind=kind,
        state=PolicyState(state),
        manifest=manifest,
        weights_hash=weights_hash,
        created_at=created_at,
        since=since,
        reason=reason,
        share=share,
        previous=previous,
        baseline=tuple(baseline),
    )


def exploration_row(value: Exploration) -> dict[str, Any]:
    return {
        "role": value.role.value,
        "mode": value.mode.value,
        "temperature": float(value.temperature),
        "share": float(value.share),
        "exposure_slots": value.exposure_slots,
    }


EXPLORATION_COLUMNS: tuple[Column[Any], ...] = tuple(
    EXPLORATION.c[name]
    for name in ("id", "namespace_id", "role", "mode", "temperature", "share", "exposure_slots")
)


def to_exploration(cells: Cells, names: Names) -> Exploration:
    """From cells in the order of `EXPLORATION_COLUMNS`."""
    row_id, namespace_id, role, mode, temperature, share, exposure_slots = cells
    return Exploration(
        id=row_id,
        namespace=names[namespace_id],
        role=PolicyRole(role),
        mode=Mode(mode),
        temperature=temperature,
        share=share,
        exposure_slots=exposure_slots,
    )
