"""From domain values to response models."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, TypeVar
from uuid import UUID

from pydantic import BaseModel

from memserver.domain.changes import Change
from memserver.domain.evidence import Belief
from memserver.domain.items import Source
from memserver.domain.operations import Operation
from memserver.domain.ports import Page
from memserver.domain.scope import Key
from memserver.domain.trajectories import Trajectory
from memserver.services.access import IssuedKey
from memserver.services.changing import ChangeDetail
from memserver.services.remembering import ItemHistory, Known, Remembered
from memserver.services.retrieval import describing
from memserver.services.retrieval.query import Candidate, Neighbour, Packed, Retrieved
from memserver.services.trajectories import FeedbackStored, RunsStored
from memserver.wire import access, base, items, operations, retrieval, trajectories

R = TypeVar("R")
S = TypeVar("S", bound=BaseModel)


def receipt(change: Change | None) -> base.Receipt:
    return base.Receipt(**_receipt(change))


def run_stored(stored: RunsStored) -> trajectories.TrajectoryStored:
    return trajectories.TrajectoryStored(
        id=stored.ids[0],
        existing=bool(stored.existing),
        credited=stored.credited,
        **_receipt(stored.change),
    )


def runs_stored(stored: RunsStored) -> trajectories.TrajectoriesStored:
    return trajectories.TrajectoriesStored(
        ids=list(stored.ids),
        stored=len(stored.ids) - len(stored.existing),
        existing=len(stored.existing),
        credited=stored.credited,
        **_receipt(stored.change),
    )


def feedback_stored(stored: FeedbackStored) -> trajectories.FeedbackStored:
    return trajectories.FeedbackStored(
        credited=stored.credited, replaced=stored.replaced, **_receipt(stored.change)
    )


def trajectory(run: Trajectory) -> trajectories.Trajectory:
    return trajectories.Trajectory(
        id=run.id,
        namespace=run.namespace.path,
        task=trajectories.Task.model_validate(run.task),
        agent=run.agent,
        steps=[trajectories.Step.model_validate(step) for step in run.steps],
        outcome=None if run.outcome is None else trajectories.Outcome.model_validate(run.outcome),
        used=None if run.used is None else list(run.used),
        mistakes=list(run.mistakes),
        metadata=run.metadata,
        created_at=run.created_at,
        subject=run.subject,
    )


def item_stored(remembered: Remembered) -> items.ItemStored:
    return items.ItemStored(
        id=remembered.entry.item.id,
        version_id=remembered.entry.version.id,
        existing=remembered.change is None,
        **_receipt(remembered.change),
    )


def item(known: Known) -> items.Item:
    of = known.entry.item
    return items.Item(
        id=of.id,
        namespace=of.namespace.path,
        kind=of.kind,
        title=of.title,
        status=of.status,
        created_at=of.created_at,
        merged_into=of.merged_into,
        version=version(known),
        subject=of.subject,
    )


def version(known: Known) -> items.Version:
    of = known.entry.version
    return items.Version(
        id=of.id,
        item_id=of.item_id,
        number=of.number,
        title=of.title,
        body=asdict(of.body),
        text=of.text,
        method=of.method,
        sources=_sources(of.sources),
        task_type=of.task_type,
        metadata=of.metadata,
        parent=of.parent,
        valid_from=of.valid_from,
        valid_to=of.valid_to,
        recorded_at=of.recorded_at,
        belief=belief(known.belief),
    )


def history(of: ItemHistory) -> items.History:
    return items.History(item=item(of.current), versions=[version(known) for known in of.versions])


def belief(of: Belief) -> items.Belief:
    return items.Belief(mean=of.mean, lower_bound=of.lower_bound, outcomes=of.outcomes)


def retrieved(of: Retrieved) -> retrieval.Retrieved:
    return retrieval.Retrieved(
        retrieval_id=of.retrieval_id,
        items=[_packed(one) for one in of.packed],
        text=of.text,
        tokens=of.tokens,
        token_counter=of.token_counter,
        budget_tokens=of.budget_tokens,
        policy=of.policy,
        explored=of.explored,
        preset=of.preset,
        left_out=of.left_out,
    )


def _packed(of: Packed) -> retrieval.RetrievedItem:
    found = of.candidate
    return retrieval.RetrievedItem(
        id=found.id,
        version_id=found.document,
        namespace=found.namespace.path,
        kind=found.kind,
        memory=found.memory,
        title=found.title,
        text=of.text,
        score=of.score,
        why=describing.why(found),
        arms={
            arm: retrieval.ArmHit(rank=standing.rank, score=standing.score)
            for arm, standing in found.arms.items()
        },
        belief=belief(found.belief),
        sources=_sources(found.sources),
        valid_from=found.valid_from,
        valid_to=found.valid_to,
        recorded_at=found.recorded_at,
        tokens=of.tokens,
        grounded=found.grounded,
        truncated=of.truncated,
        turn=_place(found),
        neighbours=[_neighbour(one) for one in of.neighbours],
    )


def _neighbour(of: Neighbour) -> retrieval.Neighbour:
    found, place = of.candidate, _place(of.candidate)
    assert place is not None
    return retrieval.Neighbour(
        id=found.id,
        version_id=found.document,
        offset=of.offset,
        title=found.title,
        text=found.text,
        turn=place,
    )


def _place(of: Candidate) -> retrieval.TurnPlace | None:
    return None if of.turn is None else retrieval.TurnPlace.model_validate(of.turn)


def operation(of: Operation) -> operations.Operation:
    return operations.Operation(
        id=of.id,
        namespace=of.namespace.path,
        verb=of.verb,
        state=of.state.value,
        progress=operations.Progress.model_validate(of.progress),
        params=of.params,
        report=of.report,
        error=of.error,
        change_id=of.change_id,
        created_at=of.created_at,
        updated_at=of.updated_at,
        attempt=of.attempt,
    )


def change(of: Change) -> operations.Change:
    return operations.Change.model_validate(of)


def change_detail(of: ChangeDetail) -> operations.ChangeDetail:
    return operations.ChangeDetail(
        change=change(of.change),
        row_changes=[
            operations.RowChange(table=row.ref.table, id=row.ref.id, action=row.action)
            for row in of.rows.rows
        ],
        next_cursor=of.rows.next_cursor,
    )


def undone(of: Change, undoes: UUID) -> operations.Undone:
    return operations.Undone(undoes=undoes, rows=of.rows, **_receipt(of))


def key(of: Key) -> access.Key:
    return access.Key(
        id=of.id,
        role=of.role,
        grants=list(of.grants),
        label=of.label,
        created_at=of.created_at,
        revoked_at=of.revoked_at,
        unseals=of.unseals,
    )


def issued(of: IssuedKey) -> access.KeyCreated:
    return access.KeyCreated(
        id=of.key.id,
        key=of.secret,
        role=of.key.role,
        grants=list(of.key.grants),
        tenant=of.tenant,
        label=of.key.label,
        unseals=of.key.unseals,
    )


def page(of: Page[R], shape: Callable[[R], S]) -> base.Page[S]:
    return base.Page(rows=[shape(row) for row in of.rows], next_cursor=of.next_cursor)


def _sources(of: Sequence[Source]) -> list[items.Source]:
    return [items.Source(trajectory_id=s.trajectory_id, steps=list(s.steps)) for s in of]


def _receipt(change: Change | None) -> dict[str, Any]:
    if change is None:
        return {}
    return {"change_id": str(change.id), "position": change.position}
