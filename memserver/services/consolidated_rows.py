"""The rows that carry a plan out: what is merged or archived, what stands for it from now on, and
the past that a fact takes over."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memserver.domain.changes import Row
from memserver.domain.errors import PlanOutdated
from memserver.domain.items import Entry, FactBody, Item, Source, Status, Version
from memserver.domain.ports import Writer
from memserver.domain.scope import Scope
from memserver.services.retrieval.candidates import SOURCE_SUCCESS_RATE
from memserver_skills.facts import history
from memserver_skills.pieces import VALUES
from memserver_skills.plans import ActionKind, Plan, Replacement

METHOD = "consolidate"
REPLACES = "replaces"
"""Under this key a replacement's metadata names the items that it stands for."""


def consolidated(
    tx: Writer,
    scope: Scope,
    plan: Plan,
    heads: Mapping[UUID, UUID],
    *,
    plan_id: UUID,
    now: datetime,
) -> list[Row]:
    """Raises `PlanOutdated` where an item that the plan touches, or merges into, has changed since
    it stood at `heads`."""
    found = tx.items_by_id(scope, list(heads))
    for item_id, head in heads.items():
        entry = found.get(item_id)
        if entry is None or entry.item.status is not Status.ACTIVE or entry.item.head != head:
            raise PlanOutdated(plan_id)
    rows: list[Row] = []
    for made in plan.replacements:
        rows += _replacement(made, [found[item] for item in made.replaces], now=now)
    rows += _pasts(tx, scope, plan, found, now=now)
    rows += [
        replace(
            found[action.item].item,
            status=Status.MERGED if action.kind is ActionKind.MERGE else Status.ARCHIVED,
            merged_into=action.into,
        )
        for action in plan.actions
    ]
    return rows


def _replacement(made: Replacement, members: Sequence[Entry], *, now: datetime) -> tuple[Row, ...]:
    namespace = members[0].item.namespace
    version = Version(
        id=made.version,
        item_id=made.item,
        namespace=namespace,
        number=1,
        title=made.title,
        body=made.body,
        valid_from=made.valid_from,
        recorded_at=now,
        method=f"{METHOD}/{made.rule}",
        sources=_sources(members),
        task_type=made.task_type,
        metadata=_metadata(made, members),
    )
    item = Item(
        id=made.item,
        namespace=namespace,
        kind=made.kind,
        title=made.title,
        status=Status.ACTIVE,
        head=made.version,
        created_at=min(entry.item.created_at for entry in members),
        subject=made.subject,
        expires_at=made.expires_at,
    )
    return (version, item)


def _sources(members: Sequence[Entry]) -> tuple[Source, ...]:
    """All that the members were drawn from. A run of which one member took all is taken whole."""
    steps: dict[UUID, set[int]] = {}
    whole: set[UUID] = set()
    for entry in members:
        for source in entry.version.sources:
            steps.setdefault(source.trajectory_id, set()).update(source.steps)
            if not source.steps:
                whole.add(source.trajectory_id)
    return tuple(
        Source(run, () if run in whole else tuple(sorted(held))) for run, held in steps.items()
    )


def _metadata(made: Replacement, members: Sequence[Entry]) -> dict[str, Any]:
    """What was written on the members stays on what stands for them; the first one's counts where
    they differ."""
    merged: dict[str, Any] = {}
    for entry in reversed(members):
        merged |= entry.version.metadata
    rates = [
        rate
        for entry in members
        if isinstance(rate := entry.version.metadata.get(SOURCE_SUCCESS_RATE), int | float)
    ]
    if rates:
        merged[SOURCE_SUCCESS_RATE] = sum(rates) / len(rates)
    if made.values:
        merged[VALUES] = {name: list(values) for name, values in made.values.items()}
    merged[REPLACES] = [str(item) for item in made.replaces]
    return merged


def _pasts(
    tx: Writer, scope: Scope, plan: Plan, found: Mapping[UUID, Entry], *, now: datetime
) -> list[Row]:
    """For each fact that others are merged into, their values as closed versions of its own."""
    by_head = {entry.version.id: entry for entry in found.values()}
    taken: dict[UUID, list[UUID]] = defaultdict(list)
    for action in plan.actions:
        into = None if action.into is None else by_head.get(action.into)
        if into is not None and isinstance(into.version.body, FactBody):
            taken[into.item.id].append(action.item)
    rows: list[Row] = []
    for item, others in taken.items():
        own = tx.versions(scope, item)
        past = [version for other in others for version in tx.versions(scope, other)]
        woven = history(own, past, now=now)
        rows += woven.changed
        number = max(version.number for version in own)
        for place, version in enumerate(woven.added, 1):
            rows.append(_taken_over(version, found[item], number + place, now=now))
    return rows


def _taken_over(version: Version, by: Entry, number: int, *, now: datetime) -> Version:
    return replace(
        version,
        id=uuid.uuid5(by.item.id, f"{METHOD}\x1f{version.id}"),
        item_id=by.item.id,
        number=number,
        recorded_at=version.recorded_at,
        closed_at=version.closed_at or now,
        parent=None,
        method=f"{METHOD}/later_value",
    )
