"""Trajectories: what agents send, and what comes of it."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from memserver.api import parsing, shaping
from memserver.api.call import CallDep, WriteCallDep
from memserver.api.queries import ImportQuery, TrajectoryQuery, UnsealQuery, WriteQuery
from memserver.domain.ports import TrajectoryFilter
from memserver.services.importers import IMPORTERS
from memserver.wire.base import Page, Receipt
from memserver.wire.trajectories import (
    Feedback,
    FeedbackStored,
    NewTrajectories,
    NewTrajectory,
    TrajectoriesStored,
    Trajectory,
    TrajectoryStored,
)

router = APIRouter(tags=["trajectories"])


@router.post("/trajectories", status_code=201, response_model=TrajectoryStored)
async def add_trajectory(
    sent: NewTrajectory, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """Store one run, and credit its outcome to the item versions that it used."""
    namespace = await call.writable(sent.namespace)
    run = await call.read(lambda: parsing.run(sent, namespace, _now()))
    return await call.write(
        lambda tx: shaping.run_stored(call.services.trajectories.add(tx, call.scope, [run])),
        status=201,
        wait=query.wait,
    )


@router.post("/trajectories/batch", status_code=201, response_model=TrajectoriesStored)
async def add_trajectories(
    sent: NewTrajectories, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """Store many runs in one change: all of them, or none."""
    namespace = await call.writable(sent.namespace)
    runs = await call.read(lambda: parsing.runs(sent.trajectories, namespace, _now()))
    return await call.write(
        lambda tx: shaping.runs_stored(call.services.trajectories.add(tx, call.scope, runs)),
        status=201,
        wait=query.wait,
    )


@router.post(
    "/trajectories/import",
    status_code=201,
    response_model=TrajectoriesStored,
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {}}}},
)
async def import_trajectories(
    request: Request, query: Annotated[ImportQuery, Query()], call: WriteCallDep
) -> Response:
    """Store a file of runs: JSON lines of ours, or a format that an importer knows. One bad
    line is named, and nothing is stored."""
    body = await request.body()
    namespace = await call.writable(query.namespace)
    runs = await call.read(lambda: list(IMPORTERS[query.format](body, namespace, _now)))
    return await call.write(
        lambda tx: shaping.runs_stored(
            call.services.trajectories.add(tx, call.scope, runs, imported=True)
        ),
        status=201,
        wait=query.wait,
    )


@router.get("/trajectories")
async def list_trajectories(
    query: Annotated[TrajectoryQuery, Query()], call: CallDep
) -> Page[Trajectory]:
    """The runs of a namespace, oldest first."""

    def read() -> Page[Trajectory]:
        namespaces = call.services.access.readable(call.scope, [query.namespace])
        where = TrajectoryFilter(
            namespaces=tuple(namespace.id for namespace in namespaces),
            task_type=query.task_type,
            environment=query.environment,
            agent=query.agent,
            success=query.success,
        )
        page = call.page(query.limit, query.cursor)
        found = call.services.trajectories.list(call.scope, where, page)
        return shaping.page(found, shaping.trajectory)

    return await call.show(query.unseal, read)


@router.get("/trajectories/{trajectory_id}")
async def get_trajectory(
    trajectory_id: UUID, query: Annotated[UnsealQuery, Query()], call: CallDep
) -> Trajectory:
    """One run, whole."""
    return await call.show(
        query.unseal,
        lambda: shaping.trajectory(call.services.trajectories.get(call.scope, trajectory_id)),
    )


@router.delete("/trajectories/{trajectory_id}", response_model=Receipt)
async def delete_trajectory(
    trajectory_id: UUID, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """Remove a run. What was learnt from it stays."""
    return await call.write(
        lambda tx: shaping.receipt(
            call.services.trajectories.delete(tx, call.scope, trajectory_id)
        ),
        wait=query.wait,
    )


@router.post("/feedback", response_model=FeedbackStored)
async def feedback(
    sent: Feedback, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """Say how a task went, of a run or of one retrieve."""
    outcome = parsing.feedback(sent)
    used = None if sent.used is None else tuple(sent.used)
    return await call.write(
        lambda tx: shaping.feedback_stored(
            call.services.trajectories.feedback(
                tx,
                call.scope,
                outcome,
                trajectory_id=sent.trajectory_id,
                retrieval_id=sent.retrieval_id,
                used=used,
            )
        ),
        wait=query.wait,
    )


def _now() -> datetime:
    return datetime.now(UTC)
