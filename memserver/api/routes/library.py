"""The library of skills as a whole: what its parts are worth, and how it evolves."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import Field

from memserver.api import library_shapes as shapes
from memserver.api import shaping
from memserver.api.call import CallDep, WriteCallDep
from memserver.api.queries import Query as ClosedQuery
from memserver.wire.base import NamespacePath
from memserver.wire.library import (
    Convergence,
    Evolve,
    Portfolio,
    PortfolioRequest,
    Route,
    RouteRequest,
    RunCredit,
    Worth,
)
from memserver.wire.operations import Operation

router = APIRouter(tags=["library"])


class ConvergenceQuery(ClosedQuery):
    namespace: NamespacePath
    window: Annotated[int, Field(ge=1, le=100_000)] = 20


@router.get("/memories/{item_id}/worth")
async def get_worth(item_id: UUID, call: CallDep) -> Worth:
    """What an item is worth by what came of it, by context."""
    return await call.read(lambda: shapes.worth(call.services.valuing.worth(call.scope, item_id)))


@router.get("/trajectories/{trajectory_id}/credit")
async def get_credit(trajectory_id: UUID, call: CallDep) -> RunCredit:
    """What a run's outcome says of what it was offered, and of what is distilled from it."""
    return await call.read(
        lambda: shapes.run_credit(
            trajectory_id, call.services.valuing.credit(call.scope, trajectory_id)
        )
    )


@router.post("/route")
async def route(sent: RouteRequest, call: CallDep) -> Route:
    """Which agent is to have a task, by what agents did with the skills that it needs."""

    def read() -> Route:
        namespace = call.services.access.readable_one(call.scope, sent.namespace)
        return shapes.route(
            call.services.routing(
                call.scope,
                namespace,
                goal=sent.goal,
                skills=sent.skills,
                agents=sent.agents,
                cost_weight=sent.cost_weight,
                task_type=sent.task_type,
            )
        )

    return await call.read(read)


@router.post("/skills/evolve", status_code=202, response_model=Operation)
async def evolve(sent: Evolve, call: WriteCallDep) -> Response:
    """Change the library of a namespace by what came of it: without `apply` a plan to read, with
    it one change an act, each with its reason, that `undo` takes back."""
    namespace = await call.writable(sent.namespace)
    return await call.write(
        lambda tx: shaping.operation(
            call.services.evolving.request(
                tx, call.scope, namespace, apply=sent.apply, cap=sent.cap
            )
        ),
        status=202,
    )


@router.get("/skills/convergence")
async def get_convergence(
    query: Annotated[ConvergenceQuery, Query()], call: CallDep
) -> Convergence:
    """How fast the library of a namespace changes: the share of it that changed with each run."""

    def read() -> Convergence:
        namespace = call.services.access.readable_one(call.scope, query.namespace)
        windows = call.services.evolving.convergence(namespace, window=query.window)
        return shapes.convergence(namespace.path, windows)

    return await call.read(read)


@router.post("/skills/portfolio")
async def portfolio(sent: PortfolioRequest, call: CallDep) -> Portfolio:
    """A few skills that together solved most tasks of a namespace, and which of them a goal is
    for."""

    def read() -> Portfolio:
        namespace = call.services.access.readable_one(call.scope, sent.namespace)
        return shapes.portfolio(
            call.services.portfolios(
                call.scope, namespace, k=sent.k, goal=sent.goal, cost_weight=sent.cost_weight
            )
        )

    return await call.read(read)
