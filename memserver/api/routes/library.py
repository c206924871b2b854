"""The library of skills as a whole: what its parts are worth, and how it evolves."""

from uuid import UUID

from fastapi import APIRouter

from memserver.api import library_shapes as shapes
from memserver.api.call import CallDep
from memserver.wire.library import Route, RouteRequest, RunCredit, Worth

router = APIRouter(tags=["library"])


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
