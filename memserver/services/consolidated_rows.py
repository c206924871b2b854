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
from memserver_skills.plans import ActionKind, Plan, Rated, Replacement

METHOD = "consolidate"
REPLACES = "replaces"
"""Under this key a replacement's metadata names the items that it stands for."""


def heads(entries: Sequence[Rated], plan: Plan) -> dict[UUID, UUID]:
    """What the plan bears on as it stood then, so that it is never applied to something else."""
    touched = {action.item for action in plan.actions}
    targets = {action.into for action in plan.actions}
    return {
        rated.item: rated.version
        for rated in entries
        if rated.item in touched or rated.version in targets
    }


def still_fitting(
    tx: Writer,
    scope: Scope,
    plan: Plan,
    stood: Mapping[UUID, UUID],
    *,
    read_before: UUID | None,
) -> Plan:
    """The plan without the transitions that touch, or merge into, an item which has changed since
    it `stood`. Where the plan was read before, which `read_before` names, that raises
    `PlanOutdated`."""
    found = tx.items_by_id(scope, list(stood))
    changed = {
        item
        for item, head in stood.items()
        if (entry := found.get(item)) is None
        or entry.item.status is not Status.ACTIVE
        or entry.item.head != head
    }
    if not changed:
        return plan
    if read_before is not None:
        raise PlanOutdated(read_before)
    lost = {stood[item] for item in changed}
    lost |= {made.version for made in plan.replacements if changed & set(made.replaces)}
    actions = tuple(
        action for action in plan.actions if action.item not in changed and action.into not in lost
    )
    gone = {action.item for action in plan.actions} - {action.item for action in actions}
    return replace(
        plan,
        actions=actions,
        kept=tuple(sorted({*plan.kept, *gone})),
        replacements=tuple(made for made in plan.replacements if made.version not in lost),
    )


def consolidated(tx: Writer, scope: Scope, plan: Plan, *, now: datetime) -> list[Row]:
    """What a plan that fits comes to."""
    touched = [action.item for action in plan.actions]
    targets = [action.into for action in plan.actions if action.into is not None]
    found = tx.items_by_id(scope, touched)
    by_head = tx.entries_by_version(scope, targets)
    rows: list[Row] = []
    for made in plan.replacements:
        rows += _replacement(made, [found[item] for item in made.replaces], now=now)
    rows += _pasts(tx, scope, plan, by_head, now=now)
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
    tx: Writer, scope: Scope, plan: Plan, by_head: Mapping[UUID, Entry], *, now: datetime
) -> list[Row]:
    """For each fact that others are merged into, their values as closed versions of its own."""
    taken: dict[UUID, list[UUID]] = defaultdict(list)
    for action in plan.actions:
        into = None if action.into is None else by_head.get(action.into)
        if action.into is not None and into is not None and isinstance(into.version.body, FactBody):
            taken[action.into].append(action.item)
    rows: list[Row] = []
    for head, others in taken.items():
        by = by_head[head]
        own = tx.versions(scope, by.item.id)
        past = [version for other in others for version in tx.versions(scope, other)]
        woven = history(own, past, now=now)
        rows += woven.changed
        number = max(version.number for version in own)
        rows += [
            _taken_over(version, by, number + place, now=now)
            for place, version in enumerate(woven.added, 1)
        ]
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
